package secretkey_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"weftline/app/secretkey"
)

func TestParse(t *testing.T) {
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	text := base64.StdEncoding.EncodeToString(one) + ", " + base64.StdEncoding.EncodeToString(two) + "\n"
	keys, err := secretkey.Parse(text)
	if err != nil || len(keys) != 2 || !bytes.Equal(keys[0], one) || !bytes.Equal(keys[1], two) {
		t.Errorf("keys %v, %v", keys, err)
	}
	if keys, err := secretkey.Parse(""); err != nil || keys != nil {
		t.Errorf("no setting: %v, %v", keys, err)
	}
	for _, wrong := range []string{"short", base64.StdEncoding.EncodeToString(one[:16])} {
		if _, err := secretkey.Parse(wrong); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestFolderKeepsItsKey(t *testing.T) {
	folder := t.TempDir()
	first, err := secretkey.InFolder(folder)
	if err != nil || len(first) != 1 {
		t.Fatalf("%v, %v", first, err)
	}
	again, err := secretkey.InFolder(folder)
	if err != nil || !bytes.Equal(first[0], again[0]) {
		t.Errorf("another key the second time: %v", err)
	}
	info, err := os.Stat(filepath.Join(folder, "secret.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is open to others: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(folder, "secret.key"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secretkey.InFolder(folder); err == nil {
		t.Error("a broken file was taken")
	}
}
