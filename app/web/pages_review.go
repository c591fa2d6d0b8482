package web

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/flow"
	"weftline/views/diff"
	"weftline/views/proposals"
	"weftline/views/review"
	versionsview "weftline/views/versions"
)

// review shows what publishing the draft would change.
func (p *Pages) review(c *fiber.Ctx) error { return p.showReview(c, "", "") }

func (p *Pages) showReview(c *fiber.Ctx, message, refused string) error {
	who, ctx, name := ViewOf(c).Who, c.UserContext(), c.Params("name")
	workflow, err := p.Door.Workflow(ctx, who, name)
	if err != nil {
		return err
	}
	draft, err := p.draft(c, name)
	if err != nil {
		return err
	}
	view := review.View{
		Name: name, Message: message, Refused: refused, MayPublish: May(c, auth.Author), CSRF: ViewOf(c).CSRF,
		Problems: review.Problems(name, draft.Errors), Warnings: review.Problems(name, draft.Warnings),
	}
	var affects engine.Affects
	if view.Comparison, affects, err = p.comparison(c, workflow, draft); err != nil {
		return err
	}
	view.Affects = review.Affected(affects.Running, affects.Waiting, affects.OpenTasks, affects.Schedules)
	if view.Next, err = p.nextVersion(c, name, draft.Text); err != nil {
		return err
	}
	if view.Approvals, view.Proposals, err = p.reviewing(c, name); err != nil {
		return err
	}
	view.Same = workflow.PublishedVersion != nil && view.Comparison.FromText == view.Comparison.ToText
	frame := p.frame(c, "Review "+name, "workflows", workflowsCrumb(), workflowCrumb(name))
	frame.Actions = review.Back(name)
	frame.Islands = []string{"preview"}
	return Render(c, review.Page(frame, view))
}

// reviewing says how many approvals the team asks for, and which proposals of the workflow are open.
func (p *Pages) reviewing(c *fiber.Ctx, name string) (approvals int, open []review.Link, err error) {
	who := ViewOf(c).Who
	team, err := p.Door.Team(c.UserContext(), who)
	if err != nil {
		return 0, nil, err
	}
	list, err := p.Door.Proposals(c.UserContext(), who, engine.ProposalFilter{Workflow: name, State: "open"})
	for _, proposal := range list.Items {
		open = append(open, review.Link{Label: proposal.Title + ", by " + proposal.Author, URL: proposals.Address(name, proposal.Number)})
	}
	return team.Policy.Approvals(), open, err
}

// comparison is the draft against what is published, or against nothing: then its inputs, outputs and triggers
// are as new as its activities. A draft that cannot be read as a
// workflow still has its text.
func (p *Pages) comparison(c *fiber.Ctx, workflow engine.Workflow, draft engine.Draft) (versionsview.Comparison, engine.Affects, error) {
	view := versionsview.Comparison{Name: workflow.Name, To: "draft", ToText: draft.Text}
	from, to := "published", "draft" // where nothing is published, all of the draft is new
	if workflow.PublishedVersion != nil {
		from = strconv.Itoa(*workflow.PublishedVersion)
		view.From = from
		if draft.ETag == "" {
			to = from // there is no draft of its own
		}
	}
	found, err := p.Door.Diff(c.UserContext(), ViewOf(c).Who, workflow.Name, from, to)
	switch {
	case err == nil:
		view.FromText, view.ToText, view.Groups = found.FromText, found.ToText, diff.Groups(found.Changes)
		view.Unread = view.From == "" && len(view.Groups) == 0 // a workflow has at least one activity
	case !isRefusal(err, "invalid_definition"):
		return view, engine.Affects{}, err
	case view.From == "":
		view.Unread = true
	default:
		version, err := p.published(c, workflow.Name)
		if err != nil {
			return view, engine.Affects{}, err
		}
		view.FromText, view.Unread = version.Text, true
	}
	view.Rows = diff.Rows(view.FromText, view.ToText)
	return view, found.Affects, nil
}

// versionsLooked is how many of the newest versions are searched for a draft's content.
const versionsLooked = 100

// nextVersion is the number that publishing a text would give: of the version that has its content, else a
// new one.
func (p *Pages) nextVersion(c *fiber.Ctx, name, text string) (int, error) {
	newest, err := p.Door.Versions(c.UserContext(), ViewOf(c).Who, name, engine.PageRequest{Limit: versionsLooked})
	if err != nil || len(newest.Items) == 0 {
		return 1, err
	}
	if definition, err := flow.Load([]byte(text)); err == nil {
		for _, version := range newest.Items {
			if version.ContentHash == definition.ContentHash {
				return version.Version, nil
			}
		}
	}
	return newest.Items[0].Version + 1, nil
}

// publish makes the draft a version and shows the workflow; a refusal shows the review again.
func (p *Pages) publish(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	name, message := c.Params("name"), strings.TrimSpace(form.Get("message"))
	version, created, err := p.Door.Publish(c.UserContext(), ViewOf(c).Who, name, message)
	var refusal *engine.Error
	if errors.As(err, &refusal) && refusal.Code != "not_found" && refusal.Code != "forbidden" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showReview(c, message, refusal.Message)
	}
	if err != nil {
		return err
	}
	return seeOther(c, publishedAt("/workflows/"+name, version, created))
}

// publishedAt is the page that tells what was published.
func publishedAt(page string, version engine.Version, created bool) string {
	asks := url.Values{"published": {strconv.Itoa(version.Version)}}
	if !created {
		asks.Set("again", "1")
	}
	return page + "?" + asks.Encode()
}

// publishing is what publishedAt said, as long as it is true.
func publishing(c *fiber.Ctx, name string, current *int) versionsview.Publishing {
	number, err := strconv.Atoi(c.Query("published"))
	if err != nil || current == nil || *current != number {
		return versionsview.Publishing{}
	}
	return versionsview.Publishing{Name: name, Version: number, Again: c.Query("again") != "", MayRun: May(c, auth.Run), MaySchedule: May(c, auth.Author)}
}
