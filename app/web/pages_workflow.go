package web

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	designerview "weftline/views/designer"
	workflowview "weftline/views/workflow"
)

func (p *Pages) workflow(c *fiber.Ctx) error {
	who, ctx, name := ViewOf(c).Who, c.UserContext(), c.Params("name")
	workflow, err := p.Door.Workflow(ctx, who, name)
	if err != nil {
		return err
	}
	newest, err := p.Door.Versions(ctx, who, name, engine.PageRequest{Limit: 5})
	if err != nil {
		return err
	}
	view := workflowview.View{
		Now: now(), Name: name, Description: workflow.Description, Labels: labelPairs(workflow.Labels), Draft: workflow.HasDraft,
		Runs: runRows(workflow.LastExecutions), Versions: versionRows(newest.Items, workflow.PublishedVersion),
	}
	if view.Text, err = p.textOf(c, workflow); err != nil {
		return err
	}
	if workflow.PublishedVersion != nil {
		view.Version = *workflow.PublishedVersion
	}
	view.Published = publishing(c, name, workflow.PublishedVersion)
	if view.Tests, err = p.testCases(c); err != nil && !isRefusal(err, "not_found") {
		return err // without any text there are no tests
	}
	frame := p.frame(c, name, "workflows", workflowsCrumb())
	frame.Actions = workflowview.Buttons(view, May(c, auth.Author))
	frame.Islands = []string{"preview"}
	return Render(c, workflowview.Page(frame, view))
}

// textOf is the published text, or the draft of what is not published.
func (p *Pages) textOf(c *fiber.Ctx, workflow engine.Workflow) (string, error) {
	if workflow.PublishedVersion != nil {
		version, err := p.Door.Version(c.UserContext(), ViewOf(c).Who, workflow.Name, *workflow.PublishedVersion)
		return version.Text, err
	}
	draft, err := p.draft(c, workflow.Name)
	return draft.Text, err
}

// draft is what is being worked on. Without a draft it is the newest version, as one would find it in the
// designer.
func (p *Pages) draft(c *fiber.Ctx, name string) (engine.Draft, error) {
	who, ctx := ViewOf(c).Who, c.UserContext()
	draft, err := p.Door.Draft(ctx, who, name)
	if !isRefusal(err, "not_found") {
		return draft, err
	}
	newest, listErr := p.Door.Versions(ctx, who, name, engine.PageRequest{Limit: 1})
	if listErr != nil || len(newest.Items) == 0 {
		return draft, err
	}
	version, err := p.Door.Version(ctx, who, name, newest.Items[0].Version)
	return engine.Draft{Name: name, Text: version.Text, Valid: true}, err
}

func (p *Pages) designer(c *fiber.Ctx) error {
	who, name := ViewOf(c).Who, c.Params("name")
	workflow, err := p.Door.Workflow(c.UserContext(), who, name)
	if err != nil {
		return err
	}
	view := designerview.View{
		Name: name, Team: who.TeamName, Readonly: !May(c, auth.Author), PublishedVersion: workflow.PublishedVersion}
	if workflow.PublishedVersion != nil {
		version, err := p.Door.Version(c.UserContext(), who, name, *workflow.PublishedVersion)
		if err != nil {
			return err
		}
		view.PublishedText = &version.Text
	}
	draft, err := p.draft(c, name)
	if err != nil {
		return err
	}
	view.Text = draft.Text
	if draft.LastGood != nil {
		good := string(draft.LastGood)
		view.LastGood = &good
	}
	if draft.ETag != "" {
		view.ETag = &draft.ETag
	}
	frame := p.frame(c, "Edit "+name, "workflows", workflowsCrumb(), workflowCrumb(name))
	frame.Main = "designer"
	frame.Actions = designerview.Head(view)
	frame.Islands = []string{"designer"}
	return Render(c, designerview.Page(frame, view))
}

func isRefusal(err error, code string) bool {
	var refusal *engine.Error
	return errors.As(err, &refusal) && refusal.Code == code
}
