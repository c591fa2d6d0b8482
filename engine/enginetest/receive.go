package enginetest

import (
	"testing"
	"time"
)

// patience bounds a wait for what happens at once unless something is broken.
const patience = 30 * time.Second

// Receive answers the next value of a channel. The test fails if none comes, so that what was expected in
// vain is named, and the other tests go on.
func Receive[T any](t testing.TB, values <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-values:
		return value
	case <-time.After(patience):
		t.Fatalf("in vain: %s", what)
		panic("not reached")
	}
}
