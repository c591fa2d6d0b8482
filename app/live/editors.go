package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
)

// Editor is somebody who has a workflow open in the designer, on this replica.
type Editor struct {
	ID    string    `json:"id"` // of the socket, as its welcome frame names it
	User  string    `json:"user"`
	Since time.Time `json:"since"`
}

// workflowState is what the topic workflow:<name> shows: the workflow, its draft's etag and who works on it.
type workflowState struct {
	engine.Workflow
	DraftETag string   `json:"draftEtag,omitempty"`
	Editing   []Editor `json:"editing"`
}

func (h *Hub) openWorkflow(who engine.Who, name string) *stateTopic {
	load := func(ctx context.Context) (any, error) {
		workflow, err := h.door.Workflow(ctx, who, name)
		if err != nil {
			return nil, err
		}
		state := workflowState{Workflow: workflow, Editing: h.editing(who.Team, name)}
		if draft, err := h.door.Draft(ctx, who, name); err == nil {
			state.DraftETag = draft.ETag
		}
		return state, nil
	}
	return newStateTopic(load, func(c engine.Change) bool { return c.Workflow == name }, 500*time.Millisecond, 0)
}

func workflowTopic(name string) string { return "workflow:" + name }

// beginEditing notes that a subscription is a designer's, and tells the others; the topic has been joined.
func (h *Hub) beginEditing(c *conn, sub *subscription) {
	state, ok := sub.topic.(*stateTopic)
	if !ok || !strings.HasPrefix(sub.name, workflowTopic("")) {
		return
	}
	h.mu.Lock()
	h.editors[sub] = editorOf{team: c.who().Team, name: sub.name,
		Editor: Editor{ID: c.id, User: c.who().User, Since: time.Now().UTC().Truncate(time.Millisecond)}}
	h.mu.Unlock()
	state.ask()
}

// endEditing forgets a subscription; h.mu is held.
func (h *Hub) endEditing(sub *subscription) {
	if _, ok := h.editors[sub]; !ok {
		return
	}
	delete(h.editors, sub)
	sub.topic.(*stateTopic).ask()
}

type editorOf struct {
	team uuid.UUID
	name string
	Editor
}

// editing lists who works on a workflow, longest first.
func (h *Hub) editing(team uuid.UUID, name string) []Editor {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []Editor{}
	for _, each := range h.editors {
		if each.team == team && each.name == workflowTopic(name) {
			list = append(list, each.Editor)
		}
	}
	slices.SortFunc(list, func(a, b Editor) int {
		if order := a.Since.Compare(b.Since); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}
