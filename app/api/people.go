package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/app/login"
	"weftline/engine"
)

// People is what the handlers need to know of members and their sessions.
type People interface {
	Sessions(ctx context.Context, who engine.Who, limits engine.SessionLimits) ([]engine.SessionInfo, error)
	RevokeSession(ctx context.Context, who engine.Who, id uuid.UUID) error
	People(ctx context.Context, who engine.Who, page engine.PageRequest) (engine.Page[engine.MemberAccess], error)
	Myself(ctx context.Context, who engine.Who) (engine.MemberAccess, error)
	GiveRoles(ctx context.Context, who engine.Who, id uuid.UUID, roles []string) error
	Block(ctx context.Context, who engine.Who, id uuid.UUID, blocked bool) error
	EndSessions(ctx context.Context, who engine.Who, id uuid.UUID) error
	AllowRelink(ctx context.Context, who engine.Who, id uuid.UUID) error
}

// Login explains access and checks the setup; nil in local mode.
type Login interface {
	Rules(provider string) []login.RuleView
	Try(provider string, claims map[string]any) (login.Decision, error)
	Check(ctx context.Context) []login.Check
}

// SessionEntry is a session in a list; current marks the one that asks.
type SessionEntry struct {
	engine.SessionInfo
	Current bool `json:"current"`
}

// Sessions lists the asker's own sessions.
func (a *API) Sessions(c *fiber.Ctx) error {
	found, err := a.identity.Sessions(c.UserContext(), who(c), a.limits)
	asking, _ := auth.Of(c)
	entries := make([]SessionEntry, len(found))
	for i, session := range found {
		entries[i] = SessionEntry{session, session.ID == asking.SessionID}
	}
	return whole(c, entries, err)
}

// RevokeSession ends a session of the asker, or of anybody in the team for an admin.
func (a *API) RevokeSession(c *fiber.Ctx) error {
	return a.onPerson(c, a.identity.RevokeSession)
}

// People lists the members of the team.
func (a *API) People(c *fiber.Ctx) error {
	q := queryOf(c)
	page := q.page()
	if q.err != nil {
		return q.err
	}
	people, err := a.identity.People(c.UserContext(), who(c), page)
	return list(c, people, err)
}

// RolesRequest names the roles that a member has by hand.
type RolesRequest struct {
	Roles []string `json:"roles"`
}

// GiveRoles sets the roles that a member has by hand.
func (a *API) GiveRoles(c *fiber.Ctx) error {
	request, err := body[RolesRequest](c)
	if err != nil {
		return err
	}
	return a.onPerson(c, func(ctx context.Context, asker engine.Who, id uuid.UUID) error {
		return a.identity.GiveRoles(ctx, asker, id, request.Roles)
	})
}

// BlockPerson shuts a member out.
func (a *API) BlockPerson(c *fiber.Ctx) error {
	return a.onPerson(c, func(ctx context.Context, asker engine.Who, id uuid.UUID) error {
		return a.identity.Block(ctx, asker, id, true)
	})
}

// UnblockPerson lets a member in again.
func (a *API) UnblockPerson(c *fiber.Ctx) error {
	return a.onPerson(c, func(ctx context.Context, asker engine.Who, id uuid.UUID) error {
		return a.identity.Block(ctx, asker, id, false)
	})
}

// SignOutPerson ends all sessions of a member in the team.
func (a *API) SignOutPerson(c *fiber.Ctx) error { return a.onPerson(c, a.identity.EndSessions) }

// RelinkPerson lets a new subject of the provider take the member's account over.
func (a *API) RelinkPerson(c *fiber.Ctx) error { return a.onPerson(c, a.identity.AllowRelink) }

func (a *API) onPerson(c *fiber.Ctx, act func(context.Context, engine.Who, uuid.UUID) error) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	if err := act(c.UserContext(), who(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// AccessAnswer explains why the asker may do what they may.
type AccessAnswer struct {
	Member engine.MemberAccess `json:"member"`
	Rules  []login.RuleView    `json:"rules"` // of the provider, those of this team
}

// Access explains the asker's roles.
func (a *API) Access(c *fiber.Ctx) error {
	member, err := a.identity.Myself(c.UserContext(), who(c))
	if err != nil {
		return err
	}
	explained := AccessAnswer{Member: member, Rules: []login.RuleView{}}
	if a.login != nil {
		for _, rule := range a.login.Rules(member.Provider) {
			if rule.Team == who(c).TeamName {
				explained.Rules = append(explained.Rules, rule)
			}
		}
	}
	return answer(c, fiber.StatusOK, explained)
}

// ClaimsRequest holds claims to try the rules on.
type ClaimsRequest struct {
	Provider string         `json:"provider"`
	Claims   map[string]any `json:"claims"`
}

// ClaimsAnswer is what the rules would make of them in this team.
type ClaimsAnswer struct {
	Matches []engine.AccessMatch `json:"matches"`
	Groups  []string             `json:"groups"`
	Absent  []string             `json:"absent"` // claims that rules need and that are not there: no sign-in
}

// TryAccess shows what the rules would make of claims.
func (a *API) TryAccess(c *fiber.Ctx) error {
	request, err := body[ClaimsRequest](c)
	if err != nil {
		return err
	}
	if a.login == nil {
		return nobodySignsIn()
	}
	decision, err := a.login.Try(request.Provider, request.Claims)
	if err != nil {
		return err
	}
	tried := ClaimsAnswer{Matches: []engine.AccessMatch{}, Groups: decision.Groups, Absent: words(decision.Absent)}
	for _, match := range decision.Matches {
		if match.Team == who(c).TeamName {
			tried.Matches = append(tried.Matches, match)
		}
	}
	return answer(c, fiber.StatusOK, tried)
}

// CheckLogin asks every provider whether sign-in will work.
func (a *API) CheckLogin(c *fiber.Ctx) error {
	if a.login == nil {
		return nobodySignsIn()
	}
	return whole(c, a.login.Check(c.UserContext()), nil)
}

func nobodySignsIn() error {
	return engine.Refuse("conflict", "this server has no identity provider: it is in local mode")
}
