package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Attempt is a sign-in that has begun and whose person is at the provider.
type Attempt struct {
	State      string // what the provider sends back
	Cookie     string // what only the browser holds that began it
	Provider   string
	Nonce      string
	Verifier   string // of PKCE
	ReturnPath string
	MaxAge     time.Duration // the person must have proved who they are at most so long ago; 0 = whenever
}

// AttemptLife is how long a person may take at the provider.
const AttemptLife = 10 * time.Minute

// NewAttempt makes the secrets of an attempt and remembers it; PKCE's verifier is one of them.
func (i *Identity) NewAttempt(ctx context.Context, provider, returnPath string, maxAge time.Duration) (Attempt, error) {
	a := Attempt{State: newSecret(""), Cookie: newSecret(""), Nonce: newSecret(""), Verifier: newSecret(""),
		Provider: provider, ReturnPath: cleanText(returnPath), MaxAge: maxAge}
	err := i.q.CreateAttempt(ctx, queries.CreateAttemptParams{StateHash: digest(a.State), CookieHash: digest(a.Cookie),
		Provider: provider, Nonce: a.Nonce, Verifier: a.Verifier, ReturnPath: a.ReturnPath, MaxAge: int32(maxAge.Seconds())})
	if err != nil {
		return Attempt{}, fmt.Errorf("store the sign-in: %w", err)
	}
	return a, nil
}

// TakeAttempt uses an attempt up. ErrUnknownCredential: there is none for this state, provider and browser
// (any more).
func (i *Identity) TakeAttempt(ctx context.Context, provider, state, cookie string) (Attempt, error) {
	row, err := i.q.TakeAttempt(ctx, digest(state), digest(cookie), provider, int32(AttemptLife.Seconds()))
	if errors.Is(err, pgx.ErrNoRows) {
		return Attempt{}, ErrUnknownCredential
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("look up the sign-in: %w", err)
	}
	return Attempt{State: state, Cookie: cookie, Provider: provider, Nonce: row.Nonce, Verifier: row.Verifier, ReturnPath: row.ReturnPath,
		MaxAge: time.Duration(row.MaxAge) * time.Second}, nil
}
