package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/human"
	"weftline/queries"
)

// Token is an API token without its value.
type Token struct {
	ID             uuid.UUID       `json:"id"`
	Name           string          `json:"name"`
	Scopes         []string        `json:"scopes"`
	User           string          `json:"user,omitempty"` // who it acts as, unless it is a service account
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`
	CreatedBy      string          `json:"createdBy"`
	CreatedAt      time.Time       `json:"createdAt"`
	ExpiresAt      *time.Time      `json:"expiresAt"`
	LastUsedAt     *time.Time      `json:"lastUsedAt"`
}

// ServiceAccount is an identity of its own for automation.
type ServiceAccount struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

// TokenRequest asks for a token.
type TokenRequest struct {
	Name           string          `json:"name"`
	Scopes         []string        `json:"scopes"`
	ExpiresAt      *time.Time      `json:"expiresAt"`
	ServiceAccount *ServiceAccount `json:"serviceAccount"`
}

// ErrUnknownCredential says that a token or session is not valid (any more).
var ErrUnknownCredential = errors.New("the credential is not valid: unknown, expired or withdrawn")

// CreateToken makes a token that acts as the asker, or, for admins, as a service account. The value is
// answered once and never again.
func (i *Identity) CreateToken(ctx context.Context, who Who, request TokenRequest) (Token, string, error) {
	if err := request.check(who); err != nil {
		return Token{}, "", err
	}
	row := queries.CreateTokenParams{TeamID: who.Team, Name: request.Name, Scopes: request.Scopes, Groups: []string{},
		CreatedBy: who.User, ExpiresAt: request.ExpiresAt}
	if account := request.ServiceAccount; account != nil {
		row.ServiceAccount, row.Groups = &account.Name, append(row.Groups, account.Groups...)
	} else if who.Person != uuid.Nil {
		row.UserID = &who.Person
	} else {
		return Token{}, "", Refuse("forbidden", "a service account cannot make tokens for itself; give serviceAccount")
	}
	value := newSecret("wft_")
	row.Hash = digest(value)
	var made queries.Token
	err := inTx(ctx, i.db, func(q *queries.Queries) (err error) {
		if made, err = q.CreateToken(ctx, row); err != nil {
			return fmt.Errorf("store the token: %w", err)
		}
		actsAs := who.User
		if request.ServiceAccount != nil {
			actsAs = request.ServiceAccount.Name
		}
		return record(ctx, q, who, act{action: "token.created", target: made.ID.String(), name: request.Name, forWhom: actsAs,
			after: map[string]any{"scopes": request.Scopes, "serviceAccount": request.ServiceAccount, "expiresAt": request.ExpiresAt}})
	})
	if err != nil {
		return Token{}, "", err
	}
	token := Token{ID: made.ID, Name: made.Name, Scopes: made.Scopes, ServiceAccount: request.ServiceAccount,
		CreatedBy: made.CreatedBy, CreatedAt: made.CreatedAt, ExpiresAt: made.ExpiresAt}
	if token.ServiceAccount == nil {
		token.User = who.User
	}
	return token, value, nil
}

func (r TokenRequest) check(who Who) error {
	problem := ""
	switch {
	case strings.TrimSpace(r.Name) == "":
		problem = "give the token a name that says what it is for"
	case len(r.Name) > longestText:
		problem = fmt.Sprintf("the name of a token is at most %d bytes", longestText)
	case len(r.Scopes) == 0:
		problem = "give at least one scope of " + strings.Join(scopes, ", ")
	case r.ExpiresAt != nil && !r.ExpiresAt.After(time.Now()):
		problem = "expiresAt has passed"
	}
	for _, scope := range r.Scopes {
		if !slices.Contains(scopes, scope) {
			problem = fmt.Sprintf("%q is no scope; there are %s", scope, strings.Join(scopes, ", "))
		} else if !who.May(scope) {
			return Refuse("forbidden", "you cannot give the scope "+scope+", which you do not have")
		}
	}
	if account := r.ServiceAccount; account != nil && problem == "" {
		if !who.May(ScopeAdmin) {
			return Refuse("forbidden", "only admins make service accounts")
		}
		problem = account.check()
	}
	if problem != "" {
		return Refuse("invalid_input", problem)
	}
	return nil
}

func (a ServiceAccount) check() string {
	switch {
	case strings.TrimSpace(a.Name) == "":
		return "give the service account a name"
	case slices.Contains(a.Groups, human.Everybody):
		return "a service account cannot stand in for everybody"
	}
	return ""
}

// whose bounds what the asker sees and withdraws: their own tokens, or, for an admin, all of the team (nil).
func whose(who Who) *uuid.UUID {
	if who.May(ScopeAdmin) {
		return nil
	}
	return &who.Person // of a service account the zero id, which no token has
}

// Tokens lists the asker's tokens, or, for an admin, those of the team, oldest first.
func (i *Identity) Tokens(ctx context.Context, who Who, page PageRequest) (Page[Token], error) {
	after, err := decodeCursor[tokenCursor](page.Cursor)
	if err != nil {
		return Page[Token]{}, err
	}
	rows, err := i.q.ListTokens(ctx, queries.ListTokensParams{TeamID: who.Team, Person: whose(who), After: after.At, AfterID: after.ID, PageSize: page.size() + 1})
	if err != nil {
		return Page[Token]{}, fmt.Errorf("list tokens: %w", err)
	}
	return paginate(rows, page, tokenOf, func(last queries.ListTokensRow) any {
		return tokenCursor{At: &last.CreatedAt, ID: &last.ID}
	})
}

type tokenCursor struct {
	At *time.Time
	ID *uuid.UUID
}

func tokenOf(row queries.ListTokensRow) Token {
	token := Token{ID: row.ID, Name: row.Name, Scopes: row.Scopes, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt,
		ExpiresAt: row.ExpiresAt, LastUsedAt: row.LastUsedAt}
	if row.ServiceAccount != nil {
		token.ServiceAccount = &ServiceAccount{Name: *row.ServiceAccount, Groups: row.Groups}
	} else if row.UserName != nil {
		token.User = *row.UserName
	}
	return token
}

// DeleteToken withdraws a token of the asker, or, for an admin, any of the team: on this replica at once, on others within seconds.
func (i *Identity) DeleteToken(ctx context.Context, who Who, id uuid.UUID) error {
	var hash []byte
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		gone, err := q.DeleteToken(ctx, who.Team, id, whose(who))
		if errors.Is(err, pgx.ErrNoRows) {
			return Refuse("not_found", "there is no such token")
		}
		if err != nil {
			return fmt.Errorf("delete the token: %w", err)
		}
		hash = gone.Hash
		return record(ctx, q, who, act{action: "token.deleted", target: id.String(), name: gone.Name, forWhom: gone.ActsAs,
			before: map[string]any{"scopes": gone.Scopes}})
	})
	if err == nil {
		i.known.forget(hash)
	}
	return err
}

// Authenticate finds who a token acts as; ErrUnknownCredential when it is not valid.
func (i *Identity) Authenticate(ctx context.Context, token string) (Who, error) {
	hash := digest(token)
	now := time.Now()
	known, ok := i.known.find(hash, now)
	if !ok {
		row, err := i.q.TokenByHash(ctx, hash)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !row.Usable {
			return Who{}, ErrUnknownCredential
		}
		if err != nil {
			return Who{}, fmt.Errorf("look up the token: %w", err)
		}
		if err := i.q.TouchToken(ctx, row.ID); err != nil {
			return Who{}, fmt.Errorf("note the use of the token: %w", err)
		}
		known = knownToken{who: whoOfToken(row), expires: row.ExpiresAt, readAt: now}
		i.known.keep(hash, known)
	}
	if expired(known.expires, now) {
		return Who{}, ErrUnknownCredential
	}
	return known.who, nil
}

func whoOfToken(row queries.TokenByHashRow) Who {
	who := Who{Team: row.TeamID, TeamName: row.TeamName, Scopes: row.Scopes, Via: row.Name}
	if row.ServiceAccount != nil {
		who.User, who.Groups = *row.ServiceAccount, row.TokenGroups
		return who
	}
	who.User, who.Person, who.Groups, who.Roles = *row.UserName, *row.UserID, row.MemberGroups, atLeastViewer(row.Roles)
	return who
}

func atLeastViewer(roles []string) []string {
	if len(roles) == 0 {
		return []string{RoleViewer}
	}
	return roles
}

// tokenCache keeps found tokens for a few seconds, so that a busy client is not a query each call.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[string]knownToken
}

type knownToken struct {
	who     Who
	expires *time.Time
	readAt  time.Time
}

const (
	tokenFresh = 5 * time.Second // how long another replica may not notice a withdrawal
	maxTokens  = 10_000
)

func newTokenCache() *tokenCache { return &tokenCache{tokens: map[string]knownToken{}} }

func (c *tokenCache) find(hash []byte, now time.Time) (knownToken, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.tokens[string(hash)]
	return known, ok && now.Sub(known.readAt) < tokenFresh
}

func (c *tokenCache) keep(hash []byte, known knownToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tokens) >= maxTokens {
		clear(c.tokens)
	}
	c.tokens[string(hash)] = known
}

// clear forgets all: somebody's rights changed on another replica.
func (c *tokenCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens)
}

func (c *tokenCache) forget(hash []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, string(hash))
}
