package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/human"
	"weftline/engine/seal"
	"weftline/queries"
)

// Identity knows who may come in: teams, people, tokens and sessions. Secrets are 256 random bits; only
// their SHA-256 is stored.
type Identity struct {
	db      queries.Pool
	q       *queries.Queries
	known   *tokenCache
	keys    *seal.Ring           // seal what a provider's sessions hold; empty = such sessions cannot be kept
	changed func(team uuid.UUID) // who may do what changed in a team
}

// NewIdentity makes it over a migrated database.
func NewIdentity(db queries.Pool) *Identity {
	return &Identity{db: db, q: queries.New(db), known: newTokenCache(), changed: func(uuid.UUID) {}}
}

// DefaultTeam is the team of a fresh database.
const DefaultTeam = "default"

// Person is a member of a team.
type Person struct {
	Team uuid.UUID
	User uuid.UUID
	Name string
}

// EnsureLocalUser makes the one person of local mode: an admin who stands in for everybody, so that every
// task can be decided.
func (i *Identity) EnsureLocalUser(ctx context.Context, name string) (Person, error) {
	return i.ensureAdmin(ctx, name, []string{human.Everybody})
}

// EnsureBootstrapToken makes an admin token of a value chosen by the operator, once.
func (i *Identity) EnsureBootstrapToken(ctx context.Context, value string) error {
	admin, err := i.ensureAdmin(ctx, "admin", nil)
	if err != nil {
		return err
	}
	return i.q.EnsureToken(ctx, queries.EnsureTokenParams{
		TeamID: admin.Team, Name: "bootstrap", Hash: digest(value), Scopes: []string{ScopeAdmin}, UserID: &admin.User, CreatedBy: "server"})
}

func (i *Identity) ensureAdmin(ctx context.Context, name string, groups []string) (Person, error) {
	team, err := i.q.TeamByName(ctx, DefaultTeam)
	if err != nil {
		return Person{}, fmt.Errorf("find the team %s: %w", DefaultTeam, err)
	}
	user, err := i.q.EnsureUser(ctx, name)
	if err != nil {
		return Person{}, fmt.Errorf("make the user %s: %w", name, err)
	}
	if err := i.q.SetMembership(ctx, team.ID, user.ID, []string{RoleAdmin}, append([]string{}, groups...)); err != nil {
		return Person{}, fmt.Errorf("make %s an admin: %w", name, err)
	}
	return Person{Team: team.ID, User: user.ID, Name: name}, nil
}

// Sweep forgets what has expired.
func (i *Identity) Sweep(ctx context.Context) error {
	return errors.Join(i.q.ForgetOldSessions(ctx), i.q.ForgetOldAttempts(ctx), i.q.ForgetOldLogoutTokens(ctx), i.q.ForgetOldIdempotencyKeys(ctx))
}

const sweepEvery = 10 * time.Minute

func (i *Identity) sweepAlways(ctx context.Context, log *slog.Logger) {
	for ctx.Err() == nil {
		if err := i.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.Warn("what has expired could not be forgotten; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(sweepEvery):
		}
	}
}

// Roles of a member; every member may read and decide the tasks they are a candidate for.
const (
	RoleViewer   = "viewer"
	RoleOperator = "operator"
	RoleAuthor   = "author"
	RoleReviewer = "reviewer"
	RoleAdmin    = "admin"
)

// Scopes of a token, and what a role allows.
const (
	ScopeRead   = "read"
	ScopeRun    = "run"
	ScopeAuthor = "author"
	ScopeReview = "review"
	ScopeWorker = "worker"
	ScopeAdmin  = "admin"
)

var scopes = []string{ScopeRead, ScopeRun, ScopeAuthor, ScopeReview, ScopeWorker, ScopeAdmin}

var scopesOfRole = map[string][]string{
	RoleViewer:   {ScopeRead},
	RoleOperator: {ScopeRead, ScopeRun},
	RoleAuthor:   {ScopeRead, ScopeRun, ScopeAuthor},
	RoleReviewer: {ScopeRead, ScopeReview},
	RoleAdmin:    scopes,
}

// May reports whether who has the right that a scope names. A token has it when its scopes and the roles of
// the person it acts as both give it; a service account has no roles, so its scopes decide alone. The scope
// admin holds all others.
func (w Who) May(scope string) bool {
	byToken := len(w.Scopes) == 0 || slices.Contains(w.Scopes, scope) || slices.Contains(w.Scopes, ScopeAdmin)
	if len(w.Roles) == 0 {
		return byToken && len(w.Scopes) > 0
	}
	return byToken && slices.ContainsFunc(w.Roles, func(role string) bool { return slices.Contains(scopesOfRole[role], scope) })
}

// newSecret gives 256 random bits as text with a prefix that scanners for leaked secrets can find.
func newSecret(prefix string) string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(bits[:])
}

func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// expired reports whether an instant is set and over.
func expired(at *time.Time, now time.Time) bool { return at != nil && !now.Before(*at) }
