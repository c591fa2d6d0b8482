package engine_test

import (
	"strings"
	"testing"

	"weftline/engine"
)

// A token has a name that lists and the audit can show.
func TestTheNameOfATokenIsBounded(t *testing.T) {
	w := newWorld(t)
	request := func(length int) engine.TokenRequest {
		return engine.TokenRequest{Name: strings.Repeat("x", length), Scopes: []string{engine.ScopeRead},
			ServiceAccount: &engine.ServiceAccount{Name: "robot"}}
	}
	if _, _, err := w.Identity().CreateToken(t.Context(), w.who, request(255)); err != nil {
		t.Errorf("255 bytes: %v", err)
	}
	if _, _, err := w.Identity().CreateToken(t.Context(), w.who, request(256)); code(err) != "invalid_input" {
		t.Errorf("256 bytes: %v", err)
	}
}
