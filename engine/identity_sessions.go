package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Session is a browser that is signed in.
type Session struct {
	ID        uuid.UUID
	Who       Who
	CSRF      string // what writes of this session must send along
	Provider  string // who vouched for the person; "" in local mode
	ExpiresAt time.Time

	Authenticated    *time.Time // when the person last proved to the provider who they are; nil = it did not say
	RefreshDue       bool       // the provider must be asked again, see ClaimRefresh
	UnreachableSince *time.Time // the provider has not answered since
}

// SessionLimits bound a session: Idle without a request, Absolute since sign-in.
type SessionLimits struct{ Idle, Absolute time.Duration }

// DefaultSessionLimits suit a working day.
var DefaultSessionLimits = SessionLimits{Idle: 8 * time.Hour, Absolute: 24 * time.Hour}

// ProviderSession is what a session keeps of the provider that vouched for its person. Tokens are sealed
// before they are stored.
type ProviderSession struct {
	Provider     string
	SID          string // the provider's name of its own session, "" if it gives none
	RefreshToken string
	IDToken      string
	RefreshAt    *time.Time // nil: the provider is not asked again

	Authenticated *time.Time // when the person proved who they are; nil = it did not say
}

// StartSession signs a person in without any provider and answers the id for the cookie.
func (i *Identity) StartSession(ctx context.Context, person Person, limits SessionLimits, address, agent string) (string, error) {
	return i.startSession(ctx, person, limits, address, agent, "", queries.CreateSessionParams{})
}

// StartProviderSession signs a person in for whom a provider vouched.
func (i *Identity) StartProviderSession(ctx context.Context, person Person, held ProviderSession, limits SessionLimits, address, agent, request string) (string, error) {
	sealed, err := i.sealTokens(person.User, held)
	if err != nil {
		return "", err
	}
	return i.startSession(ctx, person, limits, address, agent, request, queries.CreateSessionParams{
		Provider: &held.Provider, ProviderSid: &held.SID, RefreshAt: held.RefreshAt, AuthenticatedAt: held.Authenticated,
		KeyID: sealed.keyID, RefreshToken: sealed.refresh, IDToken: sealed.id})
}

func (i *Identity) startSession(ctx context.Context, person Person, limits SessionLimits, address, agent, request string, row queries.CreateSessionParams) (string, error) {
	const longestAgent = 200
	id := newSecret("")
	row.Hash, row.TeamID, row.UserID, row.Address = digest(id), person.Team, person.User, address
	row.Agent, row.ExpiresAt = clip(agent, longestAgent), time.Now().Add(limits.Absolute)
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		session, err := q.CreateSession(ctx, row)
		if err != nil || row.Provider == nil {
			return err
		}
		return audit(ctx, q, Who{Team: person.Team, User: person.Name, Address: address, Request: request}, "session.started", session.String(), map[string]any{"provider": *row.Provider})
	})
	if err != nil {
		return "", fmt.Errorf("store the session: %w", err)
	}
	return id, nil
}

// Session finds a session by the id of its cookie and notes its use; ErrUnknownCredential when it is over.
// Roles and groups are those that the person has now.
func (i *Identity) Session(ctx context.Context, id string, limits SessionLimits) (Session, error) {
	session, err := i.PeekSession(ctx, id, limits)
	if err != nil {
		return Session{}, err
	}
	if err := i.q.TouchSession(ctx, digest(id)); err != nil {
		return Session{}, fmt.Errorf("note the use of the session: %w", err)
	}
	return session, nil
}

// PeekSession is Session without noting a use: a page left open does not keep its session alive.
func (i *Identity) PeekSession(ctx context.Context, id string, limits SessionLimits) (Session, error) {
	row, err := i.q.SessionByHash(ctx, digest(id), int32(limits.Idle.Seconds()))
	if errors.Is(err, pgx.ErrNoRows) {
		return Session{}, ErrUnknownCredential
	}
	if err != nil {
		return Session{}, fmt.Errorf("look up the session: %w", err)
	}
	return Session{
		ID: row.ID,
		Who: Who{Team: row.TeamID, TeamName: row.TeamName, User: row.UserName, Person: row.UserID,
			Roles: atLeastViewer(row.Roles), Groups: row.Groups},
		CSRF: csrfToken(id), Provider: textOr(row.Provider, ""), ExpiresAt: row.ExpiresAt,
		Authenticated: row.AuthenticatedAt, RefreshDue: row.RefreshDue, UnreachableSince: row.UnreachableSince,
	}, nil
}

// EndedSession is what is needed to sign out at the provider too.
type EndedSession struct{ Provider, IDToken string }

// EndSession signs out; from says from where and in which request. A session that is over already is no error.
func (i *Identity) EndSession(ctx context.Context, from Who, id string) (EndedSession, error) {
	var row queries.DeleteSessionRow
	err := inTx(ctx, i.db, func(q *queries.Queries) (err error) {
		if row, err = q.DeleteSession(ctx, digest(id)); err != nil || row.Provider == nil {
			return err
		}
		from.Team, from.User = row.TeamID, row.UserName
		return audit(ctx, q, from, "session.ended", row.ID.String(), map[string]any{"provider": *row.Provider})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return EndedSession{}, nil
	}
	if err != nil {
		return EndedSession{}, fmt.Errorf("end the session: %w", err)
	}
	i.changed(row.TeamID)
	ended := EndedSession{Provider: textOr(row.Provider, "")}
	ended.IDToken, _ = i.unseal(row.KeyID, tokenPlace(row.UserID, "id"), row.IDToken) // without it the provider asks the person
	return ended, nil
}

// SwitchTeam lets a session go on in another team of its person, under a new id.
func (i *Identity) SwitchTeam(ctx context.Context, who Who, id string, team uuid.UUID) (string, error) {
	teams, err := i.TeamsOf(ctx, who)
	if err != nil {
		return "", err
	}
	for _, choice := range teams {
		if choice.ID != team {
			continue
		}
		next := newSecret("")
		err := inTx(InTeam(ctx, team), i.db, func(q *queries.Queries) error { // the audit's line belongs to the team entered
			if _, err := q.MoveSession(ctx, digest(next), team, digest(id)); err != nil {
				return fmt.Errorf("switch the team: %w", err)
			}
			if err := q.SetLastTeam(ctx, &team, who.Person); err != nil {
				return fmt.Errorf("remember the team: %w", err)
			}
			entered := who
			entered.Team = team
			return audit(ctx, q, entered, "session.switched", choice.Name, map[string]any{"from": who.TeamName})
		})
		if err == nil {
			i.changed(who.Team)
		}
		return next, err
	}
	return "", Refuse("not_found", "you are in no such team")
}

// TeamChoice is a team that a person may work in.
type TeamChoice struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Roles []string  `json:"roles"`
}

// TeamsOf lists the teams that the asker may switch to, by name.
func (i *Identity) TeamsOf(ctx context.Context, who Who) ([]TeamChoice, error) {
	rows, err := i.q.MembershipsOf(ctx, who.Person)
	if err != nil {
		return nil, fmt.Errorf("list the teams of %s: %w", who.User, err)
	}
	teams := []TeamChoice{}
	for _, row := range rows {
		if !row.Blocked {
			teams = append(teams, TeamChoice{ID: row.TeamID, Name: row.TeamName, Roles: atLeastViewer(row.Roles)})
		}
	}
	return teams, nil
}

// SessionInfo is a session as its person sees it.
type SessionInfo struct {
	ID         uuid.UUID `json:"id"`
	Team       string    `json:"team"`
	Provider   string    `json:"provider,omitempty"`
	Address    string    `json:"address"`
	Agent      string    `json:"agent"`
	CreatedAt  time.Time `json:"createdAt"`
	LastSeenAt time.Time `json:"lastSeenAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
}

// Sessions lists the sessions of the asker that are alive, last used first.
func (i *Identity) Sessions(ctx context.Context, who Who, limits SessionLimits) ([]SessionInfo, error) {
	rows, err := i.q.SessionsOf(ctx, who.Person, int32(limits.Idle.Seconds()))
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", who.User, err)
	}
	sessions := []SessionInfo{}
	for _, row := range rows {
		sessions = append(sessions, SessionInfo{ID: row.ID, Team: row.TeamName, Provider: textOr(row.Provider, ""), Address: row.Address,
			Agent: row.Agent, CreatedAt: row.CreatedAt, LastSeenAt: row.LastSeenAt, ExpiresAt: row.ExpiresAt})
	}
	return sessions, nil
}

// RevokeSession ends a session of the asker, or, for an admin, any session in the team.
func (i *Identity) RevokeSession(ctx context.Context, who Who, id uuid.UUID) error {
	var team uuid.UUID
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		gone, err := q.DeleteSessionByID(ctx, id, who.Person, who.May(ScopeAdmin), who.Team)
		if errors.Is(err, pgx.ErrNoRows) {
			return Refuse("not_found", "there is no such session")
		}
		if err != nil {
			return fmt.Errorf("end the session: %w", err)
		}
		team = gone.TeamID
		return record(ctx, q, who, act{action: "session.revoked", target: id.String(), forWhom: gone.UserName})
	})
	if err == nil {
		i.changed(team)
	}
	return err
}

// csrfToken is derived from the session's id, which only its browser knows, and does not reveal it.
func csrfToken(id string) string {
	return base64.RawURLEncoding.EncodeToString(digest("csrf:" + id))
}

// clip keeps the first n bytes that are valid text.
func clip(text string, n int) string { return cleanText(text[:min(len(text), n)]) }

func textOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}
