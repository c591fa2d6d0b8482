package web

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/flow"
	settingsview "weftline/views/settings"
)

// Audit is what the page of the audit reads.
type Audit interface {
	Audit(ctx context.Context, who engine.Who, filter engine.AuditFilter) (engine.Page[engine.AuditEntry], error)
}

func (p *Pages) team(c *fiber.Ctx) error {
	team, err := p.Door.Team(c.UserContext(), ViewOf(c).Who)
	if err != nil {
		return err
	}
	return p.showTeam(c, team, settingsview.Team{Policy: policyForm(team.Policy), Saved: c.Query("saved") != ""})
}

func (p *Pages) showTeam(c *fiber.Ctx, team engine.Team, view settingsview.Team) error {
	frame := p.frame(c, "Team", "settings", settingsCrumb())
	view.TeamName, view.MayEdit, view.Types, view.CSRF = team.Name, May(c, auth.Admin), flow.ActivityTypes(), frame.CSRF
	for _, member := range team.Members {
		view.Members = append(view.Members, settingsview.Member{Name: member.Name, Roles: strings.Join(member.Roles, ", "), Groups: groupWords(member.Groups)})
	}
	return Render(c, settingsview.TeamPage(frame, view))
}

func policyForm(policy engine.Policy) settingsview.Policy {
	return settingsview.Policy{RequireReview: policy.RequireReview, AllowSelfApproval: policy.AllowSelfApproval, AllowUnsignedWebhooks: policy.AllowUnsignedWebhooks,
		RequiredApprovals: strconv.Itoa(policy.RequiredApprovals), OpenExecutions: strconv.Itoa(policy.Limits.OpenExecutions),
		Activities: strconv.Itoa(policy.Limits.Activities), Retention: policy.ExecutionRetention, Types: policy.AllowedActivityTypes}
}

// savePolicy takes the whole form: a box that is not ticked is off.
func (p *Pages) savePolicy(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	typed := settingsview.Policy{RequireReview: form.Get("requireReview") != "", AllowSelfApproval: form.Get("allowSelfApproval") != "",
		AllowUnsignedWebhooks: form.Get("allowUnsignedWebhooks") != "", RequiredApprovals: form.Get("requiredApprovals"),
		OpenExecutions: form.Get("openExecutions"), Activities: form.Get("activities"), Retention: strings.TrimSpace(form.Get("executionRetention")),
		Types: append([]string{}, form["type"]...)}
	_, err = p.Door.ChangePolicy(c.UserContext(), ViewOf(c).Who, policyChange(typed))
	if refusal := shown(err); refusal != "" {
		team, err := p.Door.Team(c.UserContext(), ViewOf(c).Who)
		if err != nil {
			return err
		}
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showTeam(c, team, settingsview.Team{Policy: typed, Error: refusal})
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/settings/team?saved=1")
}

func policyChange(typed settingsview.Policy) engine.PolicyChange {
	approvals, open, activities := wholeNumber(typed.RequiredApprovals), wholeNumber(typed.OpenExecutions), wholeNumber(typed.Activities)
	return engine.PolicyChange{RequireReview: &typed.RequireReview, AllowSelfApproval: &typed.AllowSelfApproval, AllowUnsignedWebhooks: &typed.AllowUnsignedWebhooks,
		RequiredApprovals: &approvals, AllowedActivityTypes: &typed.Types, ExecutionRetention: &typed.Retention,
		Limits: &engine.PolicyLimitsChange{OpenExecutions: &open, Activities: &activities}}
}

// wholeNumber reads a number; empty is 0, and what is none is -1, which the policy refuses.
func wholeNumber(text string) int {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return number
}
