package logintest

import (
	"crypto/sha256"
	"encoding/base64"
)

// challenged reports whether a verifier belongs to a challenge of PKCE's method S256.
func challenged(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return challenge == base64.RawURLEncoding.EncodeToString(sum[:])
}
