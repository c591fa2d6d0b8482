// Package seal owns encryption at rest: a ring of keys of which the first seals and all open. What is sealed
// is bound to its place and does not open elsewhere. It must not know what is sealed, or where keys come from.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// KeySize of a key in bytes.
const KeySize = 32

// ErrNoKey says that nothing can be sealed.
var ErrNoKey = fmt.Errorf("this server has no key to encrypt secrets and sensitive values with; start it with WEFTLINE_SECRET_KEY")

// Ring is a set of keys. A nil or empty one seals nothing.
type Ring struct{ keys []key }

// key encrypts with AES-256-GCM. Its id is derived from the key and does not reveal it.
type key struct {
	id   [idSize]byte
	aead cipher.AEAD
}

const idSize = 4 // bytes

// NewRing makes a ring of keys of KeySize bytes: the first seals, all open.
func NewRing(keys ...[]byte) (*Ring, error) {
	r := &Ring{}
	for _, k := range keys {
		made, err := newKey(k)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, made)
	}
	return r, nil
}

func newKey(bits []byte) (key, error) {
	if len(bits) != KeySize {
		return key{}, fmt.Errorf("a key for secrets has %d bytes, not %d", KeySize, len(bits))
	}
	block, err := aes.NewCipher(bits)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return key{}, err
	}
	sum := sha256.Sum256(append([]byte("weftline key id "), bits...))
	return key{id: [idSize]byte(sum[:idSize]), aead: aead}, nil
}

// Empty reports that there is no key.
func (r *Ring) Empty() bool { return r == nil || len(r.keys) == 0 }

// Current is the id of the key that seals, "" without one.
func (r *Ring) Current() string {
	if r.Empty() {
		return ""
	}
	return hex.EncodeToString(r.keys[0].id[:])
}

// Put seals a value: a random nonce followed by the encrypted value, bound to place. keyID names the key.
func (r *Ring) Put(place string, value []byte) (keyID string, sealed []byte, err error) {
	if r.Empty() {
		return "", nil, ErrNoKey
	}
	return r.Current(), r.keys[0].seal(nil, place, value), nil
}

// Get opens what Put sealed.
func (r *Ring) Get(keyID, place string, sealed []byte) ([]byte, error) {
	if r != nil {
		for _, k := range r.keys {
			if hex.EncodeToString(k.id[:]) == keyID {
				return k.open(place, sealed)
			}
		}
	}
	return nil, fmt.Errorf("%s was encrypted with the key %s, which this server does not have; add it to WEFTLINE_SECRET_KEY", place, keyID)
}

// A box is a sealed value that says so itself: Mark, the id of its key, nonce, encrypted value. Mark begins no JSON, text
// or compressed value that is stored beside boxes.
var mark = []byte("\xf5wf1")

// Mark begins every box.
func Mark() []byte { return bytes.Clone(mark) }

// Box seals a value into a box.
func (r *Ring) Box(place string, value []byte) ([]byte, error) {
	if r.Empty() {
		return nil, ErrNoKey
	}
	box := make([]byte, 0, len(mark)+idSize+r.keys[0].aead.NonceSize()+len(value)+r.keys[0].aead.Overhead())
	box = append(append(box, mark...), r.keys[0].id[:]...)
	return r.keys[0].seal(box, place, value), nil
}

// IsBox reports whether a stored value is sealed.
func IsBox(stored []byte) bool { return bytes.HasPrefix(stored, mark) }

// IsCurrent reports whether a box was sealed with the key that seals now.
func (r *Ring) IsCurrent(box []byte) bool {
	return !r.Empty() && len(box) >= len(mark)+idSize && IsBox(box) && [idSize]byte(box[len(mark):len(mark)+idSize]) == r.keys[0].id
}

// Unbox opens a box; what is none is answered as it is.
func (r *Ring) Unbox(place string, stored []byte) ([]byte, error) {
	if !IsBox(stored) {
		return stored, nil
	}
	if len(stored) < len(mark)+idSize {
		return nil, cutOff(place)
	}
	rest := stored[len(mark):]
	return r.Get(hex.EncodeToString(rest[:idSize]), place, rest[idSize:])
}

func (k key) seal(into []byte, place string, value []byte) []byte {
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(append(into, nonce...), nonce, value, []byte(place))
}

func (k key) open(place string, sealed []byte) ([]byte, error) {
	size := k.aead.NonceSize()
	if len(sealed) < size {
		return nil, cutOff(place)
	}
	value, err := k.aead.Open(nil, sealed[:size], sealed[size:], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("the sealed value of %s does not open: it was changed or moved", place)
	}
	return value, nil
}

func cutOff(place string) error { return fmt.Errorf("the sealed value of %s is cut off", place) }
