package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// MemberAccess is a person of the team, and why they may do what they may.
type MemberAccess struct {
	ID          uuid.UUID  `json:"id"`
	Name        string     `json:"name"`
	Email       string     `json:"email,omitempty"`
	Provider    string     `json:"provider,omitempty"` // "" = made here, cannot sign in
	Roles       []string   `json:"roles"`              // what counts: by claims and by hand together
	ManualRoles []string   `json:"manualRoles"`
	Groups      []string   `json:"groups"`
	Access      Access     `json:"access"` // of this team, as of SyncedAt
	SyncedAt    *time.Time `json:"syncedAt"`
	Blocked     bool       `json:"blocked"`
	RelinkUntil *time.Time `json:"relinkUntil"`
	Sessions    int        `json:"sessions"`
}

// People lists the members of the team by name.
func (i *Identity) People(ctx context.Context, who Who, page PageRequest) (Page[MemberAccess], error) {
	after, err := decodeCursor[string](page.Cursor)
	if err != nil {
		return Page[MemberAccess]{}, err
	}
	rows, err := i.q.ListPeople(ctx, who.Team, after, page.size()+1)
	if err != nil {
		return Page[MemberAccess]{}, fmt.Errorf("list people: %w", err)
	}
	return paginate(rows, page, func(row queries.ListPeopleRow) MemberAccess {
		return MemberAccess{ID: row.ID, Name: row.Name, Email: textOr(row.Email, ""), Provider: textOr(row.Provider, ""),
			Roles: atLeastViewer(row.Roles), ManualRoles: union(row.ManualRoles, nil), Groups: union(row.Groups, nil),
			Access: accessIn(who.TeamName, row.Access), SyncedAt: row.SyncedAt, Blocked: row.Blocked,
			RelinkUntil: inFuture(row.RelinkUntil), Sessions: int(row.Sessions)}
	}, func(last queries.ListPeopleRow) any { return last.Name })
}

// Myself is the asker as a member; not_found for a service account.
func (i *Identity) Myself(ctx context.Context, who Who) (MemberAccess, error) {
	row, err := i.member(ctx, i.q, who, who.Person)
	if err != nil {
		return MemberAccess{}, err
	}
	return MemberAccess{ID: row.ID, Name: row.Name, Email: textOr(row.Email, ""), Provider: textOr(row.Provider, ""),
		Roles: atLeastViewer(row.Roles), ManualRoles: union(row.ManualRoles, nil), Groups: union(row.Groups, nil),
		Access: accessIn(who.TeamName, row.Access), SyncedAt: row.SyncedAt}, nil
}

// GiveRoles sets the roles that a member has by hand, beside those of their claims.
func (i *Identity) GiveRoles(ctx context.Context, who Who, id uuid.UUID, roles []string) error {
	for _, role := range roles {
		if _, known := scopesOfRole[role]; !known {
			return Refuse("invalid_input", fmt.Sprintf("%q is no role; there are %s", role, strings.Join(slices.Sorted(maps.Keys(scopesOfRole)), ", ")))
		}
	}
	manual := union(roles, nil)
	return i.changeMember(ctx, who, id, "person.roles", func(q *queries.Queries, row queries.MemberRow) error {
		byRule := []string{}
		for _, match := range accessIn(who.TeamName, row.Access).Matches {
			byRule = append(byRule, match.Role)
		}
		next := union(manual, byRule)
		if err := i.refuseLastAdmin(ctx, q, who, row, !slices.Contains(next, RoleAdmin)); err != nil {
			return err
		}
		if len(next) == 0 {
			return leave(ctx, q, who.Team, id)
		}
		return q.SetManualRoles(ctx, manual, next, who.Team, id)
	})
}

// Block shuts a member out of the team, whatever their claims say; their sessions and tokens end at once.
func (i *Identity) Block(ctx context.Context, who Who, id uuid.UUID, blocked bool) error {
	action := map[bool]string{true: "person.blocked", false: "person.unblocked"}[blocked]
	return i.changeMember(ctx, who, id, action, func(q *queries.Queries, row queries.MemberRow) error {
		if blocked && id == who.Person {
			return Refuse("conflict", "you cannot shut yourself out")
		}
		if err := i.refuseLastAdmin(ctx, q, who, row, blocked); err != nil {
			return err
		}
		if !blocked && len(row.Roles) == 0 { // the claims took everything away meanwhile
			return leave(ctx, q, who.Team, id)
		}
		if _, err := q.DeleteSessionsOfMember(ctx, who.Team, id); err != nil {
			return err
		}
		return q.SetBlocked(ctx, blocked, who.Team, id)
	})
}

// EndSessions signs a member out of the team everywhere.
func (i *Identity) EndSessions(ctx context.Context, who Who, id uuid.UUID) error {
	return i.changeMember(ctx, who, id, "person.signed_out", func(q *queries.Queries, _ queries.MemberRow) error {
		_, err := q.DeleteSessionsOfMember(ctx, who.Team, id)
		return err
	})
}

// AllowRelink lets the next sign-in under the member's name take the account over, for an hour: the provider
// knows the person under a new subject. The asker must administer every team of the member.
func (i *Identity) AllowRelink(ctx context.Context, who Who, id uuid.UUID) error {
	return i.changeMember(ctx, who, id, "person.relink_allowed", func(q *queries.Queries, row queries.MemberRow) error {
		if row.Provider == nil {
			return Refuse("conflict", row.Name+" does not sign in by a provider")
		}
		foreign, err := q.TeamsWithoutAdmin(ctx, id, who.User)
		if err != nil {
			return err
		}
		if foreign > 0 {
			return Refuse("forbidden", row.Name+" belongs to teams that you do not administer too")
		}
		return q.SetRelink(ctx, id)
	})
}

// rightsOf is what the audit compares of a member.
func rightsOf(row queries.MemberRow) map[string]any {
	return map[string]any{"roles": union(row.Roles, nil), "byHand": union(row.ManualRoles, nil), "blocked": row.Blocked}
}

func (i *Identity) changeMember(ctx context.Context, who Who, id uuid.UUID, action string, change func(*queries.Queries, queries.MemberRow) error) error {
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		if err := q.LockTeam(ctx, who.Team); err != nil {
			return err
		}
		row, err := i.member(ctx, q, who, id)
		if err != nil {
			return err
		}
		if err := change(q, row); err != nil {
			return err
		}
		after, err := i.member(ctx, q, who, id)
		if refusal := (*Error)(nil); errors.As(err, &refusal) {
			after, err = queries.MemberRow{}, nil // they are no member any more
		}
		if err != nil {
			return err
		}
		return record(ctx, q, who, act{action: action, target: row.Name, forWhom: row.Name, before: rightsOf(row), after: rightsOf(after)})
	})
	if err == nil {
		i.known.clear()
		i.changed(who.Team)
	}
	return err
}

func (i *Identity) member(ctx context.Context, q *queries.Queries, who Who, id uuid.UUID) (queries.MemberRow, error) {
	row, err := q.Member(ctx, who.Team, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, Refuse("not_found", "there is no such person in the team")
	}
	if err != nil {
		return row, fmt.Errorf("read the member: %w", err)
	}
	return row, nil
}

// refuseLastAdmin keeps a team from having nobody who can sign in and administer it.
func (i *Identity) refuseLastAdmin(ctx context.Context, q *queries.Queries, who Who, row queries.MemberRow, loses bool) error {
	if !loses || !slices.Contains(row.Roles, RoleAdmin) || row.Subject == nil {
		return nil
	}
	others, err := q.OtherAdmins(ctx, who.Team, row.ID)
	if err != nil {
		return err
	}
	if others == 0 {
		return Refuse("conflict", row.Name+" is the last admin of the team who can sign in; make another one first")
	}
	return nil
}

// accessIn is the part of an explanation that concerns a team: others are not its business.
func accessIn(team string, stored json.RawMessage) Access {
	var access Access
	_ = json.Unmarshal(stored, &access) // what cannot be read explains nothing
	access.Matches = slices.DeleteFunc(access.Matches, func(m AccessMatch) bool { return m.Team != team })
	access.Groups = union(access.Groups, nil)
	if access.Matches == nil {
		access.Matches = []AccessMatch{}
	}
	return access
}

func inFuture(at *time.Time) *time.Time {
	if at == nil || time.Now().After(*at) {
		return nil
	}
	return at
}

// EnsureTeams makes the teams that the configuration names.
func (i *Identity) EnsureTeams(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := i.q.EnsureTeam(ctx, name); err != nil {
			return fmt.Errorf("make the team %s: %w", name, err)
		}
	}
	return nil
}

// Server is the application itself as it acts in a team, e.g. when it installs examples.
func (i *Identity) Server(ctx context.Context, team string) (Who, error) {
	row, err := i.q.EnsureTeam(ctx, team)
	if err != nil {
		return Who{}, fmt.Errorf("find the team %s: %w", team, err)
	}
	return Who{Team: row.ID, TeamName: row.Name, User: "server", Roles: []string{RoleAdmin}, Address: "this machine"}, nil
}

// LastSync is what came with the last sign-in by a provider, nil when nobody has signed in.
func (i *Identity) LastSync(ctx context.Context, provider string) (*Access, error) {
	stored, err := i.q.LastSync(ctx, provider)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last sign-in: %w", err)
	}
	var access Access
	return &access, json.Unmarshal(stored, &access)
}
