package live

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"

	"weftline/engine"
)

func (h *history) Workflow(_ context.Context, _ engine.Who, name string) (engine.Workflow, error) {
	return engine.Workflow{Name: name}, nil
}

func (h *history) Draft(context.Context, engine.Who, string) (engine.Draft, error) {
	return engine.Draft{ETag: "e1"}, nil
}

// presence is a door to who works on what, in place of the database.
type presence struct {
	mu   sync.Mutex
	list []engine.Editor
}

func (h *history) Editors(context.Context, engine.Who, string) ([]engine.Editor, error) {
	h.editing.mu.Lock()
	defer h.editing.mu.Unlock()
	return slices.Clone(h.editing.list), nil
}

func (h *history) BeginEditing(_ context.Context, who engine.Who, workflow, socket string) error {
	h.editing.mu.Lock()
	h.editing.list = append(h.editing.list, engine.Editor{ID: socket, User: who.User})
	h.editing.mu.Unlock()
	h.told(workflow)
	return nil
}

func (h *history) PointEditing(_ context.Context, _ engine.Who, workflow, socket, activity string) error {
	h.editing.mu.Lock()
	for i := range h.editing.list {
		if h.editing.list[i].ID == socket {
			h.editing.list[i].Activity = activity
		}
	}
	h.editing.mu.Unlock()
	h.told(workflow)
	return nil
}

func (h *history) EndEditing(_ context.Context, _ engine.Who, workflow, socket string) error {
	h.editing.mu.Lock()
	h.editing.list = slices.DeleteFunc(h.editing.list, func(e engine.Editor) bool { return e.ID == socket })
	h.editing.mu.Unlock()
	h.told(workflow)
	return nil
}

func (h *history) told(workflow string) {
	h.mu.Lock()
	watching := slices.Collect(maps.Values(h.watches))
	h.mu.Unlock()
	for _, f := range watching {
		f(engine.Change{Team: team, Workflow: workflow})
	}
}

// editors waits for the state of the topic that lists n editors, and answers their ids.
func (c *client) editors(n int) map[string]bool {
	c.t.Helper()
	for {
		state := c.read("snap")["state"].(map[string]any)
		if state["draftEtag"] != "e1" {
			c.t.Fatalf("%v", state)
		}
		list := state["editing"].([]any)
		if len(list) != n {
			continue
		}
		ids := map[string]bool{}
		for _, each := range list {
			ids[each.(map[string]any)["id"].(string)] = each.(map[string]any)["user"] == "ann"
		}
		return ids
	}
}

// selected waits for the state in which exactly one of two editors has that activity selected; "" = none has any.
func (c *client) selected(activity string) {
	c.t.Helper()
	for {
		var found []string
		for _, each := range c.read("snap")["state"].(map[string]any)["editing"].([]any) {
			if at, ok := each.(map[string]any)["activity"].(string); ok {
				found = append(found, at)
			}
		}
		if len(found) > 0 && found[0] != "charge" {
			c.t.Fatalf("%v", found)
		}
		if activity == "" && len(found) == 0 || len(found) == 1 && found[0] == activity {
			return
		}
	}
}

func TestWhoHasAWorkflowOpenIsToldToTheOthers(t *testing.T) {
	w := newWorld(t)
	edit := func() *client {
		c, _, err := w.dial(t, http.Header{"Authorization": {"Bearer good"}}, "")
		if err != nil {
			t.Fatal(err)
		}
		frame := subscribe("s", "workflow:orders", nil)
		frame["editing"] = true
		c.send(frame)
		return c
	}
	first := edit()
	first.editors(1)
	reader := w.connect(t)
	reader.send(subscribe("s", "workflow:orders", nil))
	reader.editors(1)
	second := edit()
	if ids := first.editors(2); len(ids) != 2 {
		t.Fatalf("%v", ids)
	}
	reader.editors(2)
	second.send(map[string]any{"type": "at", "sid": "s", "at": "charge"})
	first.selected("charge")
	reader.send(map[string]any{"type": "at", "sid": "s", "at": "elsewhere"}) // it has nothing open, so nobody is told
	second.send(map[string]any{"type": "at", "sid": "s", "at": ""})
	first.selected("")
	second.Close()
	first.editors(1)
	first.send(map[string]any{"type": "unsub", "sid": "s"})
	reader.editors(0)
}
