package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"weftline/engine"
)

// workflowState is what the topic workflow:<name> shows: the workflow, its draft's etag and who works on it.
type workflowState struct {
	engine.Workflow
	DraftETag string          `json:"draftEtag,omitempty"`
	Editing   []engine.Editor `json:"editing"`
}

func (h *Hub) openWorkflow(who engine.Who, name string) *stateTopic {
	load := func(ctx context.Context) (any, error) {
		workflow, err := h.door.Workflow(ctx, who, name)
		if err != nil {
			return nil, err
		}
		state := workflowState{Workflow: workflow}
		if state.Editing, err = h.door.Editors(ctx, who, name); err != nil {
			return nil, err
		}
		if draft, err := h.door.Draft(ctx, who, name); err == nil {
			state.DraftETag = draft.ETag
		}
		return state, nil
	}
	return newStateTopic(load, func(c engine.Change) bool { return c.Workflow == name }, 500*time.Millisecond, engine.EditorsKept)
}

// workflowPrefix begins the topic of one workflow.
const workflowPrefix = "workflow:"

// editing is a designer's subscription.
type editing struct {
	who      engine.Who
	workflow string
	socket   string
}

// beginEditing notes that a subscription is a designer's, and tells the others; the topic has been joined.
func (h *Hub) beginEditing(ctx context.Context, c *conn, sub *subscription) {
	workflow, ok := strings.CutPrefix(sub.name, workflowPrefix)
	if !ok {
		return
	}
	e := editing{who: c.who(), workflow: workflow, socket: c.id}
	h.mu.Lock()
	h.editors[sub] = e
	h.mu.Unlock()
	if err := h.door.BeginEditing(ctx, e.who, e.workflow, e.socket); err != nil {
		h.log.Warn("others are not told who has a workflow open", "workflow", workflow, "error", err)
	}
}

// pointEditing tells the others what is selected in a designer.
func (h *Hub) pointEditing(sub *subscription, activity string) {
	h.mu.Lock()
	e, ok := h.editors[sub]
	h.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	if err := h.door.PointEditing(ctx, e.who, e.workflow, e.socket, activity); err != nil {
		h.log.Warn("others are not told where somebody works", "workflow", e.workflow, "error", err)
	}
}

// endEditing forgets a subscription; h.mu is held, so the others are told by somebody else.
func (h *Hub) endEditing(sub *subscription) {
	e, ok := h.editors[sub]
	if !ok {
		return
	}
	delete(h.editors, sub)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		if err := h.door.EndEditing(ctx, e.who, e.workflow, e.socket); err != nil {
			h.log.Warn("others are told later who has left a workflow", "workflow", e.workflow, "error", err)
		}
	}()
}

// keepEditing says from time to time which designers are still here, until the hub closes.
func (h *Hub) keepEditing() {
	pause := time.NewTicker(engine.EditorsKept)
	defer pause.Stop()
	for {
		select {
		case <-h.done:
			return
		case <-pause.C:
		}
		sockets := h.editingSockets()
		if len(sockets) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		if err := h.door.KeepEditing(ctx, sockets); err != nil {
			h.log.Warn("who has workflows open could not be kept", "error", err)
		}
		cancel()
	}
}

func (h *Hub) editingSockets() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var sockets []string
	for _, e := range h.editors {
		sockets = append(sockets, e.socket)
	}
	slices.Sort(sockets)
	return slices.Compact(sockets)
}
