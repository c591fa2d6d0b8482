package live

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/api"
	"weftline/engine"
)

// subscribe opens or joins a topic for a socket.
func (h *Hub) subscribe(ctx context.Context, c *conn, frame fromClient) (*subscription, error) {
	who := c.who()
	sub := &subscription{sid: frame.SID, name: frame.Topic, wantsState: true}
	if id, ok := executionOf(frame.Topic); ok {
		sub.name = executionName(id)
		return h.subscribeExecution(ctx, c, who, id, sub, frame.From)
	}
	found, err := h.join(c, who, frame.Topic, func() (topic, error) { return h.open(who, frame.Topic) })
	sub.topic = found
	if err == nil && frame.Editing {
		h.beginEditing(ctx, c, sub)
	}
	return sub, err
}

// subscribeExecution checks first that the execution is the team's. A client that was here before goes on
// where it was; any other gets the state.
func (h *Hub) subscribeExecution(ctx context.Context, c *conn, who engine.Who, id uuid.UUID, sub *subscription, from *cursor) (*subscription, error) {
	page, err := h.door.Events(ctx, who, id, 0, 1)
	if err != nil {
		return nil, err
	}
	if from != nil && from.Epoch == h.epoch && from.Seq >= 0 && from.Seq <= page.LastSeq && page.LastSeq-from.Seq <= resyncFrom {
		sub.wantsState, sub.sent = false, from.Seq
	}
	sub.topic, err = h.join(c, who, sub.name, func() (topic, error) {
		return newExecutionTopic(h.door, who, id, page.LastSeq), nil
	})
	if err == nil {
		sub.topic.touch(engine.Change{Execution: id}) // what came between the read and the join
	}
	return sub, err
}

func executionOf(name string) (uuid.UUID, bool) {
	text, ok := strings.CutPrefix(name, "execution:")
	if !ok {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil
}

func executionName(id uuid.UUID) string { return "execution:" + id.String() }

// join finds the topic or makes it, and starts to listen for its team.
func (h *Hub) join(c *conn, who engine.Who, name string, make func() (topic, error)) (topic, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := keyOf(who, name)
	found, ok := h.topics[key]
	if !ok {
		made, err := make()
		if err != nil {
			return nil, err
		}
		found = made
		h.topics[key] = found
		if state, ok := found.(*stateTopic); ok {
			h.states[key] = state
		}
		h.listen(who.Team)
	}
	found.join(c)
	return found, nil
}

func (h *Hub) leave(c *conn, sub *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	who := c.who()
	key := keyOf(who, sub.name)
	h.endEditing(sub)
	if sub.topic.leave(c) && h.topics[key] == sub.topic {
		sub.topic.close()
		delete(h.topics, key)
		delete(h.states, key)
		h.unlisten(who.Team)
	}
}

func (h *Hub) listen(team uuid.UUID) {
	ear := h.teams[team]
	if ear == nil {
		ear = &watch{stop: h.door.Watch(team, h.hints.add)}
		h.teams[team] = ear
	}
	ear.users++
}

func (h *Hub) unlisten(team uuid.UUID) {
	ear := h.teams[team]
	if ear.users--; ear.users == 0 {
		ear.stop()
		delete(h.teams, team)
	}
}

// keyOf: what a person sees of tasks depends on who they are.
func keyOf(who engine.Who, name string) topicKey {
	key := topicKey{team: who.Team, name: name}
	if strings.HasPrefix(name, "tasks:") || name == "counts" {
		key.user = who.User + "\x00" + strings.Join(who.Groups, "\x00")
	}
	return key
}

// open makes a topic whose state is read as a whole.
func (h *Hub) open(who engine.Who, name string) (topic, error) {
	kind, rest, _ := strings.Cut(name, ":")
	var opened *stateTopic
	switch {
	case kind == "executions":
		filter, err := api.ParseExecutionFilter(rest)
		if err != nil {
			return nil, err
		}
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.door.Executions(ctx, who, filter) },
			func(c engine.Change) bool {
				return c.Execution != uuid.Nil && (filter.Workflow == "" || c.Workflow == "" || filter.Workflow == c.Workflow)
			}, 500*time.Millisecond, 0)
	case name == "tasks:me":
		// Whatever the person may decide, taken by them or by nobody yet.
		filter := engine.TaskFilter{Status: "open", PageRequest: engine.PageRequest{Limit: 100}}
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.door.Tasks(ctx, who, filter) },
			func(c engine.Change) bool { return c.Tasks }, 250*time.Millisecond, 0)
	case name == "reviews":
		filter := engine.ProposalFilter{State: "open", PageRequest: engine.PageRequest{Limit: 100}}
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.door.Proposals(ctx, who, filter) },
			func(c engine.Change) bool { return c.Drafts }, 250*time.Millisecond, 0)
	case kind == "workflow" && rest != "":
		opened = h.openWorkflow(who, rest)
	case kind == "log":
		execution, activity, _ := strings.Cut(rest, "/")
		id, err := uuid.Parse(execution)
		if err != nil || activity == "" {
			return nil, engine.Refuse("bad_request", "a log is log:<execution>/<activity>")
		}
		opened = newStateTopic(func(ctx context.Context) (any, error) {
			return h.door.ActivityLog(ctx, who, id, activity, engine.LogRequest{})
		}, func(c engine.Change) bool { return c.Execution == id && c.Log == activity }, 250*time.Millisecond, 0)
	case name == "counts":
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.count(ctx, who) },
			func(engine.Change) bool { return true }, time.Second, 0)
	case name == "workers":
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.door.Workers(ctx, who) },
			func(engine.Change) bool { return false }, time.Second, 2*time.Second)
	case name == "queue":
		opened = newStateTopic(func(ctx context.Context) (any, error) { return h.door.Queue(ctx, who, "workflow") },
			func(engine.Change) bool { return false }, time.Second, 2*time.Second)
	default:
		return nil, engine.Refuse("bad_request", "there is no topic "+name)
	}
	opened.ask()
	return opened, nil
}

func offers(c *fiber.Ctx, subprotocol string) bool {
	for _, offered := range strings.Split(c.Get(fiber.HeaderSecWebSocketProtocol), ",") {
		if strings.TrimSpace(offered) == subprotocol {
			return true
		}
	}
	return false
}

func sameOrigin(origin, host string) bool {
	parsed, err := url.Parse(origin)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && strings.EqualFold(parsed.Host, host)
}
