package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/flow"
	executionview "weftline/views/execution"
	"weftline/views/form"
	"weftline/views/state"
	taskview "weftline/views/task"
	"weftline/views/ui"
)

func (p *Pages) task(c *fiber.Ctx) error {
	task, err := p.taskInAddress(c)
	if err != nil {
		return err
	}
	return p.showTask(c, task, taskTry{typed: form.Fill(task.Form, task.Draft)})
}

func (p *Pages) taskInAddress(c *fiber.Ctx) (engine.Task, error) {
	id, err := idOf(c, "task")
	if err != nil {
		return engine.Task{}, err
	}
	return p.Door.Task(c.UserContext(), ViewOf(c).Who, id)
}

// taskTry is what was typed and what became of it.
type taskTry struct {
	typed    url.Values
	problems []flow.Problem
	refused  string
}

func (p *Pages) showTask(c *fiber.Ctx, task engine.Task, try taskTry) error {
	view := taskView(task, ViewOf(c).Who.User)
	view.CSRF, view.Refused, view.Comment = ViewOf(c).CSRF, try.refused, try.typed.Get("comment")
	view.Form = form.Build(task.Form, try.typed, try.problems)
	if err := p.addContext(c, task, &view); err != nil {
		return err
	}
	frame := p.frame(c, task.Title, "tasks", ui.Crumb{Label: "Tasks", URL: "/tasks"})
	return Render(c, taskview.Page(frame, view))
}

func taskView(task engine.Task, me string) taskview.View {
	view := taskview.View{
		Now: now(), ID: task.ID.String(), URL: "/tasks/" + task.ID.String(), Title: task.Title, Description: task.Description,
		Workflow: task.Workflow, Activity: task.Activity, Execution: task.Execution.String(),
		ShortExecution: executionview.Short(task.Execution.String()), Look: state.Of(task.Status), Open: task.Status == "open",
		Outcome: task.Outcome, Requester: task.Requester, Candidates: candidates(task.Candidates), CreatedAt: task.CreatedAt,
		Due: task.Due, Quorum: task.Quorum, Outcomes: taskview.Buttons(task.Outcomes), AllowComment: task.AllowComment,
		MayDecide: task.MayDecide, WhyNot: task.WhyNot, Decisions: decisions(task, ""),
	}
	view.Overdue = view.Open && task.Due != nil && task.Due.Before(view.Now)
	if task.Assignee != nil {
		view.Assignee, view.AssignedToMe = *task.Assignee, *task.Assignee == me
	}
	if data, flat := taskview.Data(task.Data); flat {
		view.Data = data
	} else {
		view.DataJSON = indented(task.Data)
	}
	view.Files = ui.FilesIn(task.Data)
	for _, event := range task.History {
		view.History = append(view.History, taskview.Entry{At: event.At, Text: taskview.Sentence(event.Kind, event.By, event.Text)})
	}
	return view
}

// addContext tells what the execution does now and what was decided in it before.
func (p *Pages) addContext(c *fiber.Ctx, task engine.Task, view *taskview.View) error {
	who, ctx := ViewOf(c).Who, c.UserContext()
	detail, err := p.Door.Execution(ctx, who, task.Execution)
	if err != nil {
		return err
	}
	view.ExecutionLook = state.ForExecution(detail.Status, detail.Waits)
	if detail.Error != nil {
		view.ExecutionWords = detail.Error.Type + ": " + detail.Error.Message
	}
	done, err := p.Door.Tasks(ctx, who, engine.TaskFilter{Status: "done", Execution: &task.Execution})
	if err != nil {
		return err
	}
	for _, before := range done.Items {
		if before.ID != task.ID {
			view.Before = append(view.Before, decisions(before, before.Title)...)
		}
	}
	return nil
}

func decisions(task engine.Task, title string) []taskview.Decision {
	list := make([]taskview.Decision, len(task.Decisions))
	for i, decision := range task.Decisions {
		list[i] = taskview.Decision{
			Task: title, By: decision.By, Outcome: decision.Decision, Comment: decision.Comment,
			Form: indented(decision.Form), Files: ui.FilesIn(decision.Form), At: decision.At,
		}
	}
	return list
}

func candidates(who engine.Candidates) string {
	names := append([]string{}, who.Users...)
	for _, group := range who.Groups {
		names = append(names, "group "+group)
	}
	if len(names) == 0 {
		return "every member of the team"
	}
	return strings.Join(names, ", ")
}

// answerTask decides the task, or changes the form when one of its list buttons was pressed. Whoever comes
// second is told who was first; what they typed stays in its fields as long as the task is open.
func (p *Pages) answerTask(c *fiber.Ctx) error {
	task, err := p.taskInAddress(c)
	if err != nil {
		return err
	}
	typed, problems, err := p.postedFiles(c, task.Form)
	if err != nil {
		return err
	}
	if form.Edit(task.Form, typed) {
		return p.showTask(c, task, taskTry{typed: typed, problems: problems})
	}
	answer := engine.Answer{Decision: typed.Get("decision"), Comment: strings.TrimSpace(typed.Get("comment"))}
	if task.Form != nil {
		value, unread := form.Parse(task.Form, typed)
		problems = append(problems, unread...)
		if len(problems) > 0 {
			return p.refusedTask(c, task, taskTry{typed: typed, problems: problems}, fiber.StatusUnprocessableEntity)
		}
		answer.Form = value
	}
	_, err = p.Door.CompleteTask(c.UserContext(), ViewOf(c).Who, task.ID, answer)
	var refusal *engine.Error
	switch {
	case err == nil:
		return seeOther(c, "/tasks/"+task.ID.String())
	case errors.As(err, &refusal) && refusal.Code == "invalid_input":
		return p.refusedTask(c, task, taskTry{typed: typed, problems: atFields(refusal)}, fiber.StatusUnprocessableEntity)
	case errors.As(err, &refusal) && refusal.Code == "conflict":
		return p.tooLate(c, task.ID, typed, refusal)
	}
	return err
}

func (p *Pages) refusedTask(c *fiber.Ctx, task engine.Task, try taskTry, status int) error {
	c.Status(status)
	return p.showTask(c, task, try)
}

// tooLate shows how the task stands now.
func (p *Pages) tooLate(c *fiber.Ctx, id uuid.UUID, typed url.Values, refusal *engine.Error) error {
	task, err := p.Door.Task(c.UserContext(), ViewOf(c).Who, id)
	if err != nil {
		return err
	}
	message := refusal.Message
	if n := len(task.Decisions); n > 0 {
		last := task.Decisions[n-1]
		message = fmt.Sprintf("Your answer was not taken: %s had already answered %s.", last.By, last.Decision)
	}
	return p.refusedTask(c, task, taskTry{typed: typed, refused: message}, fiber.StatusConflict)
}

// atFields are the problems of an answer with the paths of the form's own fields.
func atFields(refusal *engine.Error) []flow.Problem {
	problems := make([]flow.Problem, len(refusal.Problems))
	for i, problem := range refusal.Problems {
		problem.Path = strings.TrimPrefix(problem.Path, "/form")
		problems[i] = problem
	}
	if len(problems) == 0 {
		problems = []flow.Problem{{Severity: "error", Message: refusal.Message}}
	}
	return problems
}

func (p *Pages) claimTask(c *fiber.Ctx) error {
	return p.actOnTask(c, func(who engine.Who, id uuid.UUID) error { return p.Door.ClaimTask(c.UserContext(), who, id) })
}

func (p *Pages) unclaimTask(c *fiber.Ctx) error {
	return p.actOnTask(c, func(who engine.Who, id uuid.UUID) error { return p.Door.UnclaimTask(c.UserContext(), who, id) })
}

func (p *Pages) actOnTask(c *fiber.Ctx, do func(who engine.Who, id uuid.UUID) error) error {
	id, err := idOf(c, "task")
	if err != nil {
		return err
	}
	if err := do(ViewOf(c).Who, id); err != nil {
		return err
	}
	return seeOther(c, "/tasks/"+id.String())
}

// indented is a value as JSON for people, "" for nothing.
func indented(value any) string {
	if value == nil {
		return ""
	}
	text, err := ui.JSONText(value)
	if err != nil {
		return ""
	}
	return text
}
