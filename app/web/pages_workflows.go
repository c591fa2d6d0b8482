package web

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/views/workflows"
)

func (p *Pages) workflows(c *fiber.Ctx) error {
	who, ctx := ViewOf(c).Who, c.UserContext()
	view := workflows.View{Now: now(), Query: c.Query("q"), Label: c.Query("label")}
	list, err := p.Door.Workflows(ctx, who, engine.WorkflowFilter{
		Query: view.Query, Labels: labelFilter(view.Label), PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}})
	if err != nil {
		return err
	}
	if view.Rows, err = p.workflowRows(ctx, who, list.Items); err != nil {
		return err
	}
	view.Next = nextPage(c, list.NextCursor)
	frame := p.frame(c, "Workflows", "workflows")
	frame.Actions = workflows.Add()
	return Render(c, workflows.Page(frame, view))
}

func (p *Pages) newWorkflow(c *fiber.Ctx) error {
	return p.showNew(c, workflows.New{Template: c.Query("from")})
}

func (p *Pages) showNew(c *fiber.Ctx, view workflows.New) error {
	list, err := p.Door.Workflows(c.UserContext(), ViewOf(c).Who, engine.WorkflowFilter{})
	if err != nil {
		return err
	}
	for _, workflow := range list.Items {
		if workflow.PublishedVersion != nil {
			view.Examples = append(view.Examples, workflow.Name)
		}
	}
	view.CSRF = ViewOf(c).CSRF
	return Render(c, workflows.NewPage(p.frame(c, "New workflow", "workflows", workflowsCrumb()), view))
}

// createWorkflow saves the first draft and opens it in the designer.
func (p *Pages) createWorkflow(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	name, from := strings.TrimSpace(form.Get("name")), form.Get("from")
	words := form.Get("words")
	if made := workflows.NameOf(name); made != "" && made != name {
		message := fmt.Sprintf("“%s” cannot be a name; %s can, and stands there now.", name, made)
		if from == "" {
			message += " Your words become the description."
		}
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showNew(c, workflows.New{Name: made, Words: name, Template: from, Error: message})
	}
	text, err := p.firstDraft(c, name, from, words)
	if err == nil {
		_, err = p.Door.SaveDraft(c.UserContext(), ViewOf(c).Who, name, []byte(text), "", true)
	}
	var refusal *engine.Error
	if errors.As(err, &refusal) {
		message := refusal.Message
		if refusal.Code == "stale" {
			message = "There is a workflow " + name + " already: choose another name, or edit that one."
		}
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showNew(c, workflows.New{Name: name, Words: words, Error: message, Template: from})
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/workflows/"+name+"/edit")
}

// oneLine keeps the words of a text, the first 200 letters at most.
func oneLine(text string) string {
	letters := []rune(strings.Join(strings.Fields(text), " "))
	return string(letters[:min(len(letters), 200)])
}

// firstDraft is one activity, or a copy of what another workflow has published.
func (p *Pages) firstDraft(c *fiber.Ctx, name, from, words string) (string, error) {
	if name == "" {
		return "", engine.Refuse("invalid_input", "Give the workflow a name.")
	}
	if from == "" {
		return workflows.Blank(name, oneLine(words)), nil
	}
	source, err := p.published(c, from)
	if err != nil {
		return "", err
	}
	return workflows.Renamed(source.Text, from, name), nil
}

// published is the version of a workflow that new executions start on.
func (p *Pages) published(c *fiber.Ctx, name string) (engine.Version, error) {
	workflow, err := p.Door.Workflow(c.UserContext(), ViewOf(c).Who, name)
	if err != nil {
		return engine.Version{}, err
	}
	if workflow.PublishedVersion == nil {
		return engine.Version{}, engine.Refuse("not_published", name+" is not published")
	}
	return p.Door.Version(c.UserContext(), ViewOf(c).Who, name, *workflow.PublishedVersion)
}
