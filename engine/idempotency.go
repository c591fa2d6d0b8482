package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Once runs act for the first request with a key and answers the same to every other one with the same
// operation, key and body for 24 hours. Another body is refused with idempotency_mismatch, a request whose
// first one is still at work with conflict. When act fails the key is free again.
func (i *Identity) Once(ctx context.Context, who Who, operation, key string, body []byte, act func() (json.RawMessage, error)) (json.RawMessage, error) {
	const longestKey = 255
	if len(key) > longestKey || key != cleanText(key) {
		return nil, Refuse("bad_request", fmt.Sprintf("an Idempotency-Key is at most %d characters of text", longestKey))
	}
	hash := digest(string(body))
	reserved, err := i.q.ReserveIdempotencyKey(ctx, who.Team, operation, key, hash)
	if err != nil {
		return nil, fmt.Errorf("reserve the idempotency key: %w", err)
	}
	if reserved == 0 {
		return i.firstAnswer(ctx, who, operation, key, hash)
	}
	ctx = context.WithoutCancel(ctx) // what act did must be noted, also for a client that has gone
	answer, err := act()
	if err != nil {
		if failed := i.q.ReleaseIdempotencyKey(ctx, who.Team, operation, key); failed != nil {
			return nil, fmt.Errorf("free the idempotency key: %w, after %w", failed, err)
		}
		return nil, err
	}
	if err := i.q.AnswerIdempotencyKey(ctx, answer, who.Team, operation, key); err != nil {
		return nil, fmt.Errorf("keep the answer of the idempotency key: %w", err)
	}
	return answer, nil
}

func (i *Identity) firstAnswer(ctx context.Context, who Who, operation, key string, hash []byte) (json.RawMessage, error) {
	first, err := i.q.IdempotencyKey(ctx, who.Team, operation, key)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, Refuse("conflict", "the first request with this Idempotency-Key has just failed; send it again")
	case err != nil:
		return nil, fmt.Errorf("read the idempotency key: %w", err)
	case !bytes.Equal(first.BodyHash, hash):
		return nil, Refuse("idempotency_mismatch", "this Idempotency-Key was used with another body; use a new key")
	case first.Answer == nil:
		return nil, Refuse("conflict", "the first request with this Idempotency-Key is still at work; ask again in a moment")
	}
	return first.Answer, nil
}
