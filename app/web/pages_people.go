package web

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/app/login"
	"weftline/engine"
	accessview "weftline/views/access"
	accountview "weftline/views/account"
	peopleview "weftline/views/people"
	"weftline/views/ui"
)

// account is a person's own page: teams, sessions, signing out.
func (p *Pages) account(c *fiber.Ctx) error {
	who := ViewOf(c).Who
	asking, _ := auth.Of(c)
	teams, err := p.Members.TeamsOf(c.UserContext(), who)
	if err != nil {
		return err
	}
	sessions, err := p.Members.Sessions(c.UserContext(), who, p.Gate.Limits())
	if err != nil {
		return err
	}
	frame := p.frame(c, "Your account", "account")
	view := accountview.View{Now: now(), CSRF: frame.CSRF, User: who.User, Team: who.TeamName, Roles: strings.Join(who.Roles, ", "),
		Groups: groupWords(who.Groups), Provider: p.providerName(asking.Provider), Local: p.Login == nil, Admin: May(c, auth.Admin)}
	for _, team := range teams {
		view.Teams = append(view.Teams, accountview.Team{ID: team.ID.String(), Name: team.Name, Roles: strings.Join(team.Roles, ", "), Current: team.ID == who.Team})
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, accountview.Session{ID: s.ID.String(), Agent: s.Agent, Address: s.Address, Team: s.Team,
			CreatedAt: s.CreatedAt, LastSeenAt: s.LastSeenAt, ExpiresAt: s.ExpiresAt, Current: s.ID == asking.SessionID})
	}
	return Render(c, accountview.Page(frame, view))
}

func (p *Pages) providerName(id string) string {
	if p.Login == nil {
		return ""
	}
	for _, choice := range p.Login.Names() {
		if choice.ID == id {
			return choice.Name
		}
	}
	return id
}

// switchTeam goes on in another team, under a new session id.
func (p *Pages) switchTeam(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	team, err := uuid.Parse(form.Get("team"))
	if err != nil {
		return engine.Refuse("not_found", "you are in no such team")
	}
	asking, _ := auth.Of(c)
	if asking.Session == "" {
		return engine.Refuse("conflict", "a token belongs to one team")
	}
	session, err := p.Members.SwitchTeam(c.UserContext(), asking.Who, asking.Session, team)
	if err != nil {
		return err
	}
	p.Gate.Remember(c, session)
	return seeOther(c, "/")
}

func (p *Pages) revokeSession(c *fiber.Ctx) error {
	return p.onPerson(c, "session", "/account", p.Members.RevokeSession)
}

// access explains to a person why they may do what they may.
func (p *Pages) access(c *fiber.Ctx) error { return p.showAccess(c, accessview.Trial{}) }

func (p *Pages) showAccess(c *fiber.Ctx, trial accessview.Trial) error {
	who := ViewOf(c).Who
	me, err := p.Members.Myself(c.UserContext(), who)
	if err != nil {
		return err
	}
	frame := p.frame(c, "Your access", "account", ui.Crumb{Label: "Your account", URL: "/account"})
	view := accessview.View{Now: now(), CSRF: frame.CSRF, User: me.Name, Team: who.TeamName, Provider: p.providerName(me.Provider), Email: me.Email,
		Roles: me.Roles, ManualRoles: me.ManualRoles, Groups: without(me.Groups, "*"), SyncedAt: me.SyncedAt, Local: p.Login == nil, Trial: trial}
	if p.Login != nil {
		view.Rules = rulesOf(p.Login.Rules(me.Provider), who.TeamName, me.Access.Matches)
		if May(c, auth.Admin) {
			for _, choice := range p.Login.Names() {
				view.Providers = append(view.Providers, accessview.Provider{ID: choice.ID, Name: choice.Name})
			}
		}
	}
	return Render(c, accessview.Page(frame, view))
}

func without(list []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == word })
}

// rulesOf shows the rules of a team, those first that matched.
func rulesOf(all []login.RuleView, team string, matches []engine.AccessMatch) []accessview.Rule {
	var rules []accessview.Rule
	for _, rule := range all {
		if rule.Team != team {
			continue
		}
		matched := slices.ContainsFunc(matches, func(m engine.AccessMatch) bool {
			return m.Claim == rule.Claim && m.Value == rule.Value && m.Role == rule.Role
		})
		rules = append(rules, accessview.Rule{Number: rule.Number, Claim: rule.Claim, Value: rule.Value, Role: rule.Role, Matched: matched})
	}
	return rules
}

const claimsMax = 64 << 10 // bytes of claims that are tried

// tryAccess shows an admin what the rules would make of claims. It changes nothing.
func (p *Pages) tryAccess(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	if p.Login == nil {
		return engine.Refuse("conflict", "this server has no identity provider: it is in local mode")
	}
	trial := accessview.Trial{Provider: form.Get("provider"), Claims: form.Get("claims")}
	var claims map[string]any
	if err := json.Unmarshal([]byte(trial.Claims), &claims); err != nil || len(trial.Claims) > claimsMax {
		trial.Error = "These claims cannot be read as a JSON object."
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showAccess(c, trial)
	}
	decision, err := p.Login.Try(trial.Provider, claims)
	if err != nil {
		return err
	}
	trial.Done, trial.Absent, trial.Groups = true, decision.Absent, decision.Groups
	trial.Rules = rulesOf(p.Login.Rules(trial.Provider), ViewOf(c).Who.TeamName, decision.Matches)
	return p.showAccess(c, trial)
}

// checkLogin asks every provider whether sign-in will work.
func (p *Pages) checkLogin(c *fiber.Ctx) error {
	frame := p.frame(c, "Sign-in check", "settings", settingsCrumb())
	view := accessview.CheckView{Local: p.Login == nil}
	if p.Login != nil {
		for _, check := range p.Login.Check(c.UserContext()) {
			view.Providers = append(view.Providers, checkOf(check))
		}
	}
	return Render(c, accessview.CheckPage(frame, view))
}

func checkOf(check login.Check) accessview.Checked {
	shown := accessview.Checked{Name: check.Name, Issuer: check.Issuer}
	for _, address := range check.Register {
		shown.Register = append(shown.Register, accessview.Address{What: address.What, URL: address.URL})
	}
	for _, f := range check.Findings {
		shown.Findings = append(shown.Findings, accessview.Finding{What: f.What, State: f.State, Says: f.Says, Fix: f.Fix})
	}
	return shown
}

// people lists the members for admins.
func (p *Pages) people(c *fiber.Ctx) error {
	who := ViewOf(c).Who
	found, err := p.Members.People(c.UserContext(), who, engine.PageRequest{Limit: 100, Cursor: c.Query("cursor")})
	if err != nil {
		return err
	}
	frame := p.frame(c, "People", "settings", settingsCrumb())
	view := peopleview.View{Now: now(), CSRF: frame.CSRF, Team: who.TeamName, Next: nextPage(c, found.NextCursor), Local: p.Login == nil}
	for _, m := range found.Items {
		view.People = append(view.People, peopleview.Person{ID: m.ID.String(), Name: m.Name, Email: m.Email, Provider: p.providerName(m.Provider),
			Roles: m.Roles, ManualRoles: m.ManualRoles, Groups: groupWords(m.Groups), SyncedAt: m.SyncedAt, Sessions: m.Sessions,
			Blocked: m.Blocked, RelinkUntil: m.RelinkUntil, Self: m.ID == who.Person, ByProvider: m.Provider != ""})
	}
	return Render(c, peopleview.Page(frame, view))
}

func (p *Pages) giveRoles(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	return p.onPerson(c, "person", "/people", func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		return p.Members.GiveRoles(ctx, who, id, form["role"])
	})
}

func (p *Pages) blockPerson(c *fiber.Ctx) error {
	return p.onPerson(c, "person", "/people", func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		return p.Members.Block(ctx, who, id, true)
	})
}

func (p *Pages) unblockPerson(c *fiber.Ctx) error {
	return p.onPerson(c, "person", "/people", func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		return p.Members.Block(ctx, who, id, false)
	})
}

func (p *Pages) signOutPerson(c *fiber.Ctx) error {
	return p.onPerson(c, "person", "/people", p.Members.EndSessions)
}

func (p *Pages) relinkPerson(c *fiber.Ctx) error {
	return p.onPerson(c, "person", "/people", p.Members.AllowRelink)
}

func (p *Pages) onPerson(c *fiber.Ctx, what, back string, act func(context.Context, engine.Who, uuid.UUID) error) error {
	id, err := idOf(c, what)
	if err != nil {
		return err
	}
	if err := act(c.UserContext(), ViewOf(c).Who, id); err != nil {
		return err
	}
	return seeOther(c, back)
}
