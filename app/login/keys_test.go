package login

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A provider that restarts with other keys twice in a row is followed; strange tokens do not make us read for ever.
func TestKeysAreReadAgainAFewTimesInARowAndThenNowAndThen(t *testing.T) {
	now, broken := time.Now(), false
	p := newPace(transport(func(*http.Request) (*http.Response, error) {
		if broken {
			return nil, errors.New("down")
		}
		return &http.Response{}, nil
	}), func() time.Time { return now })
	reads := func(want bool) {
		t.Helper()
		_, err := p.RoundTrip(nil)
		if got := !errors.Is(err, errTooSoon); got != want {
			t.Fatalf("read: %v, %v; want %v", got, err, want)
		}
	}
	p.renew()
	for range 1 + rereadsInRow {
		reads(true)
	}
	reads(false)
	now = now.Add(rereadPause)
	broken = true
	reads(true)
	reads(true) // what failed does not count
	broken = false
	reads(true)
	reads(false)
}
