package web

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/flow"
	settingsview "weftline/views/settings"
	"weftline/views/versions"
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
	frame := p.frame(c, "Settings", "settings")
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

// audit lists who did what.
func (p *Pages) audit(c *fiber.Ctx) error {
	view := settingsview.Audit{Now: now(), Actor: c.Query("actor"), Action: c.Query("action"), Target: c.Query("target"), Since: c.Query("since"), Until: c.Query("until")}
	filter := engine.AuditFilter{Actor: view.Actor, Action: view.Action, Target: view.Target, PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}}
	export := url.Values{}
	for name, at := range map[string]**time.Time{"since": &filter.Since, "until": &filter.Until} {
		day, err := time.Parse(time.DateOnly, c.Query(name))
		if c.Query(name) == "" {
			continue
		}
		if err != nil {
			return engine.Refuse("bad_request", name+" is a day such as 2026-03-29")
		}
		*at = &day
		export.Set(name, day.Format(time.RFC3339))
	}
	for name, value := range map[string]string{"actor": view.Actor, "action": view.Action, "target": view.Target} {
		if value != "" {
			export.Set(name, value)
		}
	}
	page, err := p.Audit.Audit(c.UserContext(), ViewOf(c).Who, filter)
	if err != nil {
		return err
	}
	view.CSV, view.NDJSON = "/api/v1/audit.csv?"+export.Encode(), "/api/v1/audit.ndjson?"+export.Encode()
	view.Next = nextPage(c, page.NextCursor)
	for _, entry := range page.Items {
		view.Rows = append(view.Rows, settingsview.AuditRow{At: entry.At, Actor: entry.Actor, Action: entry.Action, Target: entry.Target,
			Detail: detailText(entry.Detail), Address: entry.Address})
	}
	return Render(c, settingsview.AuditPage(p.frame(c, "Settings", "settings"), view))
}

// longestDetail is how much of an entry's detail the page shows; the files have all of it.
const longestDetail = 300

// detailText is the detail in words, "scopes: read, run · version: 2", without what is empty.
func detailText(detail json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(detail, &fields) != nil {
		return shortened(string(detail), longestDetail)
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value := valueWords(fields[key])
		if key == "contentHash" {
			value = versions.ShortHash(value)
		}
		if value != "" {
			words = append(words, key+": "+value)
		}
	}
	return shortened(strings.Join(words, " · "), longestDetail)
}

func valueWords(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case []any:
		words := make([]string, len(value))
		for i, element := range value {
			words[i] = valueWords(element)
		}
		return strings.Join(words, ", ")
	default:
		text, _ := json.Marshal(value) // it was decoded from JSON
		return string(text)
	}
}

func shortened(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}
