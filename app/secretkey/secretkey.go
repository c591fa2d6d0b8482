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
