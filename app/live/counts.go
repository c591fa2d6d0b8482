package live

import (
	"context"

	"weftline/engine"
)

// counts is the state of the topic counts: what a person has to do, and what goes on. It counts at most
// countMax of each; More says that there are more.
type counts struct {
	OpenTasks  int            `json:"openTasks"`
	Executions map[string]int `json:"executions"` // by status, those that have not ended
	More       bool           `json:"more"`
}

const countMax = 500

func (h *Hub) count(ctx context.Context, who engine.Who) (counts, error) {
	most := engine.PageRequest{Limit: countMax}
	tasks, err := h.door.Tasks(ctx, who, engine.TaskFilter{PageRequest: most, Status: "open", Assignee: "me"})
	if err != nil {
		return counts{}, err
	}
	open, err := h.door.Executions(ctx, who, engine.ExecutionFilter{PageRequest: most,
		Status: []string{"created", "validated", "scheduled", "running", "waiting", "paused", "compensating"}})
	if err != nil {
		return counts{}, err
	}
	found := counts{OpenTasks: len(tasks.Items), Executions: map[string]int{}, More: tasks.NextCursor != nil || open.NextCursor != nil}
	for _, execution := range open.Items {
		found.Executions[execution.Status]++
	}
	return found, nil
}
