// Package secretkey owns where the keys that encrypt secrets come from: a setting, or a file beside the
// private database. It must not know what is encrypted with them.
package secretkey

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	size     = 32 // bytes of a key
	fileName = "secret.key"
)

// Parse reads keys in base64, separated by commas: the first one encrypts, the others still decrypt.
func Parse(setting string) ([][]byte, error) {
	var keys [][]byte
	for part := range strings.SplitSeq(setting, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(part)
		if err != nil || len(key) != size {
			return nil, fmt.Errorf("a key for secrets is %d bytes in base64, as `openssl rand -base64 %d` prints them", size, size)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// InFolder reads the key of a data folder and makes it the first time, for this user's eyes only. Whoever
// copies the folder copies the key with it: the file keeps backups of the database alone from telling.
func InFolder(folder string) ([][]byte, error) {
	path := filepath.Join(folder, fileName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the key for secrets: %w", err)
	}
	keys, err := Parse(string(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

func create(path string) ([]byte, error) {
	var key [size]byte
	_, _ = rand.Read(key[:]) // never fails
	content := []byte(base64.StdEncoding.EncodeToString(key[:]))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(content); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return content, errors.Join(file.Sync(), file.Close())
}

// Rotate puts a new key into the file of a data folder, before the ones that are there, lets use seal
// everything with it, and then keeps the new one alone. When use fails all keys stay. A server that runs on
// the folder has to be started again to know the new key.
func Rotate(folder string, use func(keys [][]byte) error) error {
	old, err := InFolder(folder)
	if err != nil {
		return err
	}
	var fresh [size]byte
	_, _ = rand.Read(fresh[:]) // never fails
	keys := append([][]byte{fresh[:]}, old...)
	if err := write(folder, keys); err != nil {
		return err
	}
	if err := use(keys); err != nil {
		return err
	}
	return write(folder, keys[:1])
}

// write replaces the file as a whole, so that a crash leaves one of the two.
func write(folder string, keys [][]byte) error {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = base64.StdEncoding.EncodeToString(key)
	}
	file, err := os.CreateTemp(folder, fileName+".*") // 0600
	if err != nil {
		return fmt.Errorf("the key for secrets: %w", err)
	}
	defer os.Remove(file.Name()) // gone already when it was renamed
	_, err = file.WriteString(strings.Join(texts, ","))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("the key for secrets: %w", err)
	}
	return os.Rename(file.Name(), filepath.Join(folder, fileName))
}

// InFile reads the keys of a file that an operator keeps, in the form of the setting.
func InFile(path string) ([][]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the key for secrets: %w", err)
	}
	keys, err := Parse(strings.Join(strings.Fields(string(content)), ","))
	if err == nil && len(keys) == 0 {
		err = errors.New("there is no key in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}
