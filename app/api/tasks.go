package api

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/human"
)

// AssignRequest names who is to do a task.
type AssignRequest struct {
	User string `json:"user"`
}

// CommentRequest is a remark on a task.
type CommentRequest struct {
	Body string `json:"body"`
}

// DraftRequest is a form that is not yet sent.
type DraftRequest struct {
	Form any `json:"form"`
}

// TaskStatus is the status of a task after a request.
type TaskStatus struct {
	Status string `json:"status"`
}

// BulkTasks answers several tasks alike.
type BulkTasks struct {
	IDs      []string `json:"ids"`
	Decision string   `json:"decision"`
	Comment  string   `json:"comment"`
}

// Tasks lists the tasks that who asks may see.
func (a *API) Tasks(c *fiber.Ctx) error {
	q := queryOf(c)
	filter := engine.TaskFilter{PageRequest: q.page(), Status: q.oneOf("status", human.Statuses...), Execution: q.id("execution"),
		Assignee: q.text("assignee"), Group: q.text("group"), Workflow: q.text("workflow"), Overdue: q.truth("overdue"), Query: q.text("q")}
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Tasks(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// Task answers one task.
func (a *API) Task(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	task, err := a.door.Task(c.UserContext(), who(c), id)
	return ok(c, task, err)
}

// CompleteTask gives the answer of who asks.
func (a *API) CompleteTask(c *fiber.Ctx) error {
	given, err := body[engine.Answer](c)
	if err != nil {
		return err
	}
	if given.Decision == "" {
		return missing("decision")
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	status, err := a.door.CompleteTask(c.UserContext(), who(c), id, given)
	return ok(c, TaskStatus{Status: status}, err)
}

// CompleteTasks gives the same answer to several tasks; one that refuses does not stop the others.
func (a *API) CompleteTasks(c *fiber.Ctx) error {
	request, err := body[BulkTasks](c)
	switch {
	case err != nil:
		return err
	case request.Decision == "":
		return missing("decision")
	case len(request.IDs) == 0:
		return missing("ids")
	case len(request.IDs) > bulkMax:
		return engine.Refuse("too_large", fmt.Sprintf("at most %d ids at once", bulkMax))
	}
	given := engine.Answer{Decision: request.Decision, Comment: request.Comment}
	return answer(c, fiber.StatusOK, eachOf(request.IDs, func(id uuid.UUID) (string, error) {
		return a.door.CompleteTask(c.UserContext(), who(c), id, given)
	}))
}

// ClaimTask takes a task for who asks.
func (a *API) ClaimTask(c *fiber.Ctx) error {
	return changeTask(a, c, func(ctx context.Context, id uuid.UUID, _ struct{}) error {
		return a.door.ClaimTask(ctx, who(c), id)
	})
}

// UnclaimTask gives it back.
func (a *API) UnclaimTask(c *fiber.Ctx) error {
	return changeTask(a, c, func(ctx context.Context, id uuid.UUID, _ struct{}) error {
		return a.door.UnclaimTask(ctx, who(c), id)
	})
}

// AssignTask gives a task to somebody.
func (a *API) AssignTask(c *fiber.Ctx) error {
	return changeTask(a, c, func(ctx context.Context, id uuid.UUID, request AssignRequest) error {
		if request.User == "" {
			return missing("user")
		}
		return a.door.AssignTask(ctx, who(c), id, request.User)
	})
}

// CommentTask adds a remark.
func (a *API) CommentTask(c *fiber.Ctx) error {
	return changeTask(a, c, func(ctx context.Context, id uuid.UUID, request CommentRequest) error {
		if request.Body == "" {
			return missing("body")
		}
		return a.door.CommentTask(ctx, who(c), id, request.Body)
	})
}

// DraftTask keeps a form that is not yet sent.
func (a *API) DraftTask(c *fiber.Ctx) error {
	return changeTask(a, c, func(ctx context.Context, id uuid.UUID, request DraftRequest) error {
		return a.door.DraftTask(ctx, who(c), id, request.Form)
	})
}

// changeTask does one thing to the task of the path and answers the task as it is then.
func changeTask[T any](a *API, c *fiber.Ctx, change func(context.Context, uuid.UUID, T) error) error {
	request, err := body[T](c)
	if err != nil {
		return err
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	if err := change(c.UserContext(), id, request); err != nil {
		return err
	}
	task, err := a.door.Task(c.UserContext(), who(c), id)
	return ok(c, task, err)
}
