package engine

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// sealKey encrypts with AES-256-GCM. Its id is derived from the key and does not reveal it.
type sealKey struct {
	id   string
	aead cipher.AEAD
}

const sealKeySize = 32 // bytes

func newSealKey(key []byte) (sealKey, error) {
	if len(key) != sealKeySize {
		return sealKey{}, fmt.Errorf("a key for secrets has %d bytes, not %d", sealKeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealKey{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return sealKey{}, err
	}
	sum := sha256.Sum256(append([]byte("weftline key id "), key...))
	return sealKey{id: hex.EncodeToString(sum[:4]), aead: aead}, nil
}

// seal answers a random nonce followed by the encrypted value, bound to place.
func (k sealKey) seal(place, value string) []byte {
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(nonce, nonce, []byte(value), []byte(place))
}

func (k sealKey) open(place string, sealed []byte) (string, error) {
	size := k.aead.NonceSize()
	if len(sealed) < size {
		return "", fmt.Errorf("the sealed value of %s is cut off", place)
	}
	value, err := k.aead.Open(nil, sealed[:size], sealed[size:], []byte(place))
	if err != nil {
		return "", fmt.Errorf("the sealed value of %s does not open: it was changed or moved", place)
	}
	return string(value), nil
}
