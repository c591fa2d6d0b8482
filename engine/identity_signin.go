package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/engine/human"
	"weftline/queries"
)

// Claimed is what a provider says of a person, and what the rules make of it.
type Claimed struct {
	Provider, Issuer, Subject string
	Name                      string // wished for; the name of a known person never changes
	Email                     string
	EmailVerified             bool
	Access                    Access
}

// Access is how claims became roles. It is kept with the person, for the page that explains it.
type Access struct {
	Matches []AccessMatch `json:"matches"`
	Groups  []string      `json:"groups"`
}

// AccessMatch is one claim that one rule turned into one role.
type AccessMatch struct {
	Rule  int    `json:"rule"` // number in the configuration, from 1
	Team  string `json:"team"`
	Claim string `json:"claim"`
	Value string `json:"value"`
	Role  string `json:"role"`
}

// NoAccess says that a person is who they say and still may not come in.
type NoAccess struct {
	Reason string // no_rule, blocked, disabled, name_taken
	Name   string
}

func (e *NoAccess) Error() string { return "no access for " + e.Name + ": " + e.Reason }

// Reasons of NoAccess.
const (
	NoRule    = "no_rule"
	Blocked   = "blocked"
	Disabled  = "disabled"
	NameTaken = "name_taken"
)

// SignIn brings a person's memberships in line with their claims and answers who they are and where they
// work: the team they were in last, else the first by name. Roles that were given by hand stay. Nobody is
// made without a role. *NoAccess: they may not come in; what the claims took away is taken away.
func (i *Identity) SignIn(ctx context.Context, claimed Claimed, address, request string) (Person, error) {
	person, err := i.signIn(ctx, claimed, address, request)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == pgerrcode.UniqueViolation || pgerrcode.IsTransactionRollback(pg.Code)) { // the same person, twice at once
		return i.signIn(ctx, claimed, address, request)
	}
	return person, err
}

func (i *Identity) signIn(ctx context.Context, claimed Claimed, address, request string) (Person, error) {
	var person Person
	var refused *NoAccess
	s := signIn{claimed: claimed, who: Who{User: claimed.Name, Address: address, Request: request}}
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		s.q, s.touched, refused = q, nil, nil
		user, err := s.user(ctx)
		if errors.As(err, &refused) {
			return nil
		}
		if err != nil {
			return err
		}
		s.who.User, s.who.Person = user.Name, user.ID
		if err := s.sync(ctx, user); err != nil {
			return err
		}
		person, err = s.enter(ctx, user)
		if errors.As(err, &refused) {
			return nil
		}
		return err
	})
	if err != nil {
		return Person{}, err
	}
	for _, team := range s.touched {
		i.known.clear()
		i.changed(team)
	}
	if refused != nil {
		return Person{}, refused
	}
	return person, nil
}

// signIn is the work of one sign-in within its transaction.
type signIn struct {
	q       *queries.Queries
	claimed Claimed
	who     Who
	touched []uuid.UUID // teams in which rights changed
}

// user finds the person by identity, or makes them when a rule lets them in.
func (s *signIn) user(ctx context.Context) (queries.User, error) {
	c := s.claimed
	user, err := s.q.UserByIdentity(ctx, c.Provider, c.Issuer, c.Subject)
	switch {
	case err == nil && user.Disabled:
		return user, &NoAccess{Disabled, user.Name}
	case err == nil:
		return user, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return user, fmt.Errorf("look up the person: %w", err)
	}
	for _, name := range []string{c.Name, c.Name + "@" + c.Provider} {
		found, err := s.q.UserByName(ctx, name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return s.newUser(ctx, name)
		case err != nil:
			return user, fmt.Errorf("look up the person: %w", err)
		case textOr(found.Provider, "") == c.Provider:
			return s.relink(ctx, found)
		}
	}
	return user, &NoAccess{NameTaken, c.Name}
}

func (s *signIn) newUser(ctx context.Context, name string) (queries.User, error) {
	c := s.claimed
	if len(c.Access.Matches) == 0 {
		return queries.User{}, &NoAccess{NoRule, name}
	}
	return s.q.CreateUser(ctx, queries.CreateUserParams{Name: name, Provider: &c.Provider, Issuer: &c.Issuer, Subject: &c.Subject,
		Email: &c.Email, EmailVerified: c.EmailVerified})
}

// relink gives an account to a new subject of the same issuer, if an admin has allowed it just now.
func (s *signIn) relink(ctx context.Context, found queries.User) (queries.User, error) {
	if found.Disabled || found.RelinkUntil == nil || time.Now().After(*found.RelinkUntil) || textOr(found.Issuer, "") != s.claimed.Issuer {
		return found, &NoAccess{NameTaken, found.Name}
	}
	if err := s.q.RelinkUser(ctx, &s.claimed.Subject, found.ID); err != nil {
		return found, fmt.Errorf("give the account to the new subject: %w", err)
	}
	members, err := s.q.MembershipsOf(ctx, found.ID)
	if err != nil {
		return found, err
	}
	for _, member := range members {
		if err := s.record(ctx, member.TeamID, act{action: "person.relinked", target: found.Name, forWhom: found.Name, before: found.Subject, after: s.claimed.Subject}); err != nil {
			return found, err
		}
	}
	return found, nil
}

// sync makes the memberships what the claims and the hands of admins say together.
func (s *signIn) sync(ctx context.Context, user queries.User) error {
	access, err := json.Marshal(s.claimed.Access)
	if err != nil {
		return err
	}
	if err := s.q.NoteSignIn(ctx, &s.claimed.Email, s.claimed.EmailVerified, access, user.ID); err != nil {
		return fmt.Errorf("note the sign-in: %w", err)
	}
	rows, err := s.q.MembershipsOf(ctx, user.ID)
	if err != nil {
		return fmt.Errorf("read the memberships: %w", err)
	}
	members := map[string]queries.MembershipsOfRow{}
	for _, row := range rows {
		members[row.TeamName] = row
	}
	byRule := map[string][]string{}
	for _, match := range s.claimed.Access.Matches {
		byRule[match.Team] = append(byRule[match.Team], match.Role)
		if _, known := members[match.Team]; !known {
			team, err := s.q.EnsureTeam(ctx, match.Team)
			if err != nil {
				return fmt.Errorf("find the team %s: %w", match.Team, err)
			}
			members[match.Team] = queries.MembershipsOfRow{TeamID: team.ID, UserID: user.ID, TeamName: team.Name}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) { // always in one order: no deadlock with another sign-in
		if err := s.syncTeam(ctx, members[name], byRule[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *signIn) syncTeam(ctx context.Context, member queries.MembershipsOfRow, byRule []string) error {
	roles, groups := union(member.ManualRoles, byRule), member.ManualGroups
	if len(byRule) > 0 {
		groups = union(groups, without(s.claimed.Access.Groups, human.Everybody))
	}
	roles, err := s.keepLastAdmin(ctx, member, roles)
	if err != nil {
		return err
	}
	if slices.Equal(union(member.Roles, nil), roles) && slices.Equal(union(member.Groups, nil), union(groups, nil)) {
		return nil
	}
	if err := s.storeMember(ctx, member, roles, union(groups, nil)); err != nil {
		return err
	}
	s.touched = append(s.touched, member.TeamID)
	return s.record(ctx, member.TeamID, act{action: "access.synced", target: s.who.User, forWhom: s.who.User,
		before: map[string]any{"roles": union(member.Roles, nil), "groups": union(member.Groups, nil)},
		after:  map[string]any{"roles": roles, "groups": union(groups, nil)}})
}

func (s *signIn) storeMember(ctx context.Context, member queries.MembershipsOfRow, roles, groups []string) error {
	if len(roles) > 0 || member.Blocked {
		return s.q.SyncMembership(ctx, member.TeamID, member.UserID, roles, groups)
	}
	return leave(ctx, s.q, member.TeamID, member.UserID)
}

// leave takes a person out of a team; what they did stays in its histories.
func leave(ctx context.Context, q *queries.Queries, team, user uuid.UUID) error {
	if _, err := q.DeleteSessionsOfMember(ctx, team, user); err != nil {
		return fmt.Errorf("end the sessions of who leaves: %w", err)
	}
	return q.DeleteMembership(ctx, team, user)
}

// keepLastAdmin: a team that nobody administers could only be repaired in the database.
func (s *signIn) keepLastAdmin(ctx context.Context, member queries.MembershipsOfRow, roles []string) ([]string, error) {
	if !slices.Contains(member.Roles, RoleAdmin) || slices.Contains(roles, RoleAdmin) || member.Blocked {
		return roles, nil
	}
	if err := s.q.LockTeam(ctx, member.TeamID); err != nil {
		return nil, err
	}
	others, err := s.q.OtherAdmins(ctx, member.TeamID, member.UserID)
	if err != nil || others > 0 {
		return roles, err
	}
	roles = union(roles, []string{RoleAdmin})
	return roles, s.record(ctx, member.TeamID, act{action: "access.last_admin_kept", target: s.who.User, forWhom: s.who.User, detail: map[string]any{"claims": s.claimed.Access.Groups}})
}

// enter chooses the team.
func (s *signIn) enter(ctx context.Context, user queries.User) (Person, error) {
	rows, err := s.q.MembershipsOf(ctx, user.ID)
	if err != nil {
		return Person{}, fmt.Errorf("read the memberships: %w", err)
	}
	open := slices.DeleteFunc(slices.Clone(rows), func(row queries.MembershipsOfRow) bool { return row.Blocked })
	switch {
	case len(open) == 0 && len(rows) > 0:
		return Person{}, &NoAccess{Blocked, user.Name}
	case len(open) == 0:
		return Person{}, &NoAccess{NoRule, user.Name}
	}
	chosen := open[0]
	for _, row := range open {
		if user.LastTeam != nil && row.TeamID == *user.LastTeam {
			chosen = row
		}
	}
	return Person{Team: chosen.TeamID, User: user.ID, Name: user.Name}, nil
}

func (s *signIn) record(ctx context.Context, team uuid.UUID, a act) error {
	who := s.who
	who.Team = team
	if a.detail == nil {
		a.detail = map[string]any{}
	}
	a.detail["provider"] = s.claimed.Provider
	return record(ctx, s.q, who, a)
}

// union is both lists without doubles, sorted; never nil.
func union(a, b []string) []string {
	all := append(append([]string{}, a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func without(list []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == word })
}
