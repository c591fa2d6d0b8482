package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
	"weftline/views/diff"
	versionsview "weftline/views/versions"
)

func (p *Pages) versions(c *fiber.Ctx) error {
	who, ctx, name := ViewOf(c).Who, c.UserContext(), c.Params("name")
	workflow, err := p.Door.Workflow(ctx, who, name)
	if err != nil {
		return err
	}
	list, err := p.Door.Versions(ctx, who, name, engine.PageRequest{Cursor: c.Query("cursor")})
	if err != nil {
		return err
	}
	view := versionsview.View{
		Now: now(), Name: name, Rows: versionRows(list.Items, workflow.PublishedVersion), Draft: workflow.HasDraft,
		Next: nextPage(c, list.NextCursor), Continued: c.Query("cursor") != "", MayRestore: May(c, auth.Author), CSRF: ViewOf(c).CSRF,
	}
	return Render(c, versionsview.Page(p.frame(c, "Versions", "workflows", workflowsCrumb(), workflowCrumb(name)), view))
}

// compare shows any two sides.
func (p *Pages) compare(c *fiber.Ctx) error {
	who, ctx, name := ViewOf(c).Who, c.UserContext(), c.Params("name")
	from, to := c.Query("from", "published"), c.Query("to", "draft")
	found, err := p.Door.Diff(ctx, who, name, from, to)
	if err != nil {
		return err
	}
	sides, err := p.sides(c, name)
	if err != nil {
		return err
	}
	view := versionsview.Comparison{
		Name: name, From: from, To: to, Sides: sides, Groups: diff.Groups(found.Changes),
		Rows: diff.Rows(found.FromText, found.ToText), FromText: found.FromText, ToText: found.ToText,
	}
	frame := p.frame(c, "Compare", "workflows", workflowsCrumb(), workflowCrumb(name), versionsCrumb(name))
	frame.Islands = []string{"preview"}
	return Render(c, versionsview.Compare(frame, view))
}

// sides are what can be compared: the draft if there is one, and the newest versions.
func (p *Pages) sides(c *fiber.Ctx, name string) ([]string, error) {
	who, ctx := ViewOf(c).Who, c.UserContext()
	var sides []string
	if _, err := p.Door.Draft(ctx, who, name); err == nil {
		sides = append(sides, "draft")
	}
	list, err := p.Door.Versions(ctx, who, name, engine.PageRequest{Limit: 100})
	for _, version := range list.Items {
		sides = append(sides, strconv.Itoa(version.Version))
	}
	return sides, err
}

// restore makes an old version the draft, to be reviewed and published like any other change.
func (p *Pages) restore(c *fiber.Ctx) error {
	name := c.Params("name")
	number, err := api.NumberOf(c, "version")
	if err != nil {
		return err
	}
	if _, err := p.Door.Restore(c.UserContext(), ViewOf(c).Who, name, number); err != nil {
		return err
	}
	return seeOther(c, "/workflows/"+name+"/review")
}
