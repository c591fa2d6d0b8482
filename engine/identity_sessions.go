package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Session is a browser that is signed in.
type Session struct {
	Who       Who
	CSRF      string // what writes of this session must send along
	ExpiresAt time.Time
}

// SessionLimits bound a session: Idle without a request, Absolute since sign-in.
type SessionLimits struct{ Idle, Absolute time.Duration }

// DefaultSessionLimits suit a working day.
var DefaultSessionLimits = SessionLimits{Idle: 8 * time.Hour, Absolute: 24 * time.Hour}

// StartSession signs a person in and answers the id for the cookie.
func (i *Identity) StartSession(ctx context.Context, person Person, limits SessionLimits, address, agent string) (string, error) {
	const longestAgent = 200
	id := newSecret("")
	err := i.q.CreateSession(ctx, queries.CreateSessionParams{
		Hash: digest(id), TeamID: person.Team, UserID: person.User, Address: address,
		Agent: clip(agent, longestAgent), ExpiresAt: time.Now().Add(limits.Absolute)})
	if err != nil {
		return "", fmt.Errorf("store the session: %w", err)
	}
	return id, nil
}

// Session finds a session by the id of its cookie; ErrUnknownCredential when it is over. Roles and groups
// are those that the person has now.
func (i *Identity) Session(ctx context.Context, id string, limits SessionLimits) (Session, error) {
	hash := digest(id)
	row, err := i.q.SessionByHash(ctx, hash, int32(limits.Idle.Seconds()))
	if errors.Is(err, pgx.ErrNoRows) {
		return Session{}, ErrUnknownCredential
	}
	if err != nil {
		return Session{}, fmt.Errorf("look up the session: %w", err)
	}
	if err := i.q.TouchSession(ctx, hash); err != nil {
		return Session{}, fmt.Errorf("note the use of the session: %w", err)
	}
	return Session{
		Who:       Who{Team: row.TeamID, TeamName: row.TeamName, User: row.UserName, Roles: atLeastViewer(row.Roles), Groups: row.Groups},
		CSRF:      csrfToken(id),
		ExpiresAt: row.ExpiresAt,
	}, nil
}

// EndSession signs out.
func (i *Identity) EndSession(ctx context.Context, id string) error {
	return i.q.DeleteSession(ctx, digest(id))
}

// csrfToken is derived from the session's id, which only its browser knows, and does not reveal it.
func csrfToken(id string) string {
	return base64.RawURLEncoding.EncodeToString(digest("csrf:" + id))
}

// clip keeps the first n bytes that are valid text.
func clip(text string, n int) string { return cleanText(text[:min(len(text), n)]) }
