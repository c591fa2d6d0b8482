package execution

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/instants"
)

// park starts what the core drives by itself.
func (d *decider) park(p place) {
	var err error
	switch p.act.Type {
	case flow.TypeWait:
		err = d.parkTimer(p)
	case flow.TypeEvent:
		err = d.parkEvent(p)
	case flow.TypeHuman:
		err = d.parkHuman(p)
	case flow.TypeForEach:
		err = d.startLoop(p)
	}
	if err != nil {
		d.events = d.events[:d.base]
		d.failed(p, asFailure(err))
	}
}

func (d *decider) parkTimer(p place) error {
	until, err := d.dueOf(p, p.act.Wait)
	if err != nil {
		return err
	}
	at := instant(until)
	d.about(ActivityWaiting, p, &Waiting{Kind: waitTimer, Until: &at})
	d.about(TimerScheduled, p, &Timer{Until: at})
	return nil
}

// LongestWait bounds a timer; beyond it nobody can mean what they wrote.
const LongestWait = 5 * 366 * 24 * time.Hour

func (d *decider) dueOf(p place, w *flow.Wait) (int64, error) {
	r := d.read(p)
	if w.After != nil {
		v, err := r.value(w.After)
		if err != nil {
			return 0, err
		}
		after, err := durationOf(v)
		if err != nil {
			return 0, err
		}
		return d.bounded(d.now + ceilMillis(after))
	}
	v, err := r.value(w.At)
	if err != nil {
		return 0, err
	}
	s, ok := v.(string)
	if !ok {
		return 0, failure("input.invalid", classActivity, "%v is not an instant: write 2026-03-29T09:00:00Z", v)
	}
	at, err := expr.ParseInstant(s, w.Timezone)
	if err != nil {
		return 0, failure("input.invalid", classActivity, "%s", err)
	}
	return d.bounded(at.Add(time.Millisecond - 1).UnixMilli())
}

func (d *decider) bounded(at int64) (int64, error) {
	if at > d.now+LongestWait.Milliseconds() {
		return 0, failure("input.invalid", classActivity, "%s is more than five years away", instants.Text(instant(at)))
	}
	return at, nil
}

func (d *decider) parkEvent(p place) error {
	r := d.read(p)
	name, err := r.publicText(p.act.Event.Name, "the name of an event")
	if err != nil {
		return err
	}
	correlation := ""
	if p.act.Event.Correlation != nil {
		v, err := r.public("the correlation of an event", func(r reader) (any, error) { return r.eval(p.act.Event.Correlation) })
		if err != nil {
			return err
		}
		s, ok := v.(string)
		if !ok {
			return failure("input.invalid", classActivity, "a correlation has to be a text, it is %v: use string(…)", v)
		}
		correlation = s
	}
	w := &Waiting{Kind: waitEvent, Name: name, Key: correlation, Where: p.act.Event.Where != nil}
	if p.act.Timeout > 0 {
		until := instant(d.now + ceilMillis(p.act.Timeout))
		w.Until = &until
	}
	d.about(ActivityWaiting, p, w)
	return d.hearKept(p, name)
}

// hearKept gives the new wait what was received before it.
func (d *decider) hearKept(p place, name string) error {
	var heard []keptSignal
	for _, s := range d.st.Kept {
		if s.Name != name {
			continue
		}
		fits, err := d.accepts(p, s)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}
		d.about(SignalConsumed, p, &Consumed{ID: s.ID, Name: s.Name, Signal: s.Seq})
		heard = append(heard, s)
		if len(heard) >= max(p.act.Event.Count, 1) {
			d.heardAll(p, heard)
			return nil
		}
	}
	return nil
}

// accepts asks the schema and the condition of a wait.
func (d *decider) accepts(p place, s keptSignal) (bool, error) {
	if p.act.Event.Schema != nil && !conforms(p.act.Event.Schema, s.Payload) {
		return false, nil
	}
	if p.act.Event.Where == nil {
		return true, nil
	}
	r := d.read(p)
	r.extra = map[string]any{"event": signalView(s)}
	return r.condition(p.act.Event.Where)
}

func signalView(s keptSignal) map[string]any {
	return map[string]any{"name": s.Name, "id": orNull(s.ID), "payload": s.Payload, "receivedAt": text(s.At)}
}

// heardAll completes an event with all it waited for.
func (d *decider) heardAll(p place, heard []keptSignal) {
	value := heardView(p, heard)
	shown := slices.Clone(heard)
	for i := range shown {
		shown[i].Payload = seen(shown[i].Payload, shown[i].Shown)
	}
	d.complete(p, twin{value, difference(value, heardView(p, shown))}, portReceived)
}

func heardView(p place, heard []keptSignal) map[string]any {
	last := signalView(heard[len(heard)-1])
	result := map[string]any{"payload": last["payload"], "id": last["id"], "receivedAt": last["receivedAt"], "events": nil}
	if p.act.Event.Count > 1 {
		events := make([]any, len(heard))
		for i := range heard {
			events[i] = signalView(heard[i])
		}
		result["events"] = events
	}
	return result
}

// Kinds of things that get an id of their own.
const (
	idTask  = "task"
	idChild = "child"
)

// newID derives the id of a task or child from what it belongs to, so that deciding twice gives the same.
func (d *decider) newID(kind string, p place) uuid.UUID {
	name := fmt.Sprintf("%s/%s/%s/%t/%d/%d", kind, p.Activity, p.Item, p.undo, p.run.Turn, p.run.Attempt)
	id := uuid.NewSHA1(d.st.Created.ID, []byte(name))
	if kind == idChild {
		return beside(d.st.Created.ID, id)
	}
	return id
}

// beside gives an id the time of another one: what a child writes is kept, found and forgotten with what its parent
// does. The time is the first 48 bits; version 8 says that the rest follows no rule but ours.
func beside(other, id uuid.UUID) uuid.UUID {
	copy(id[:6], other[:6])
	id[6] = id[6]&0x0f | 0x80
	return id
}

func (d *decider) parkHuman(p place) error {
	h, r := p.act.Human, d.read(p)
	t := &TaskCreated{Task: d.newID(idTask, p), Quorum: max(h.Quorum, 1), NotActor: h.NotActor, AllowComment: h.Comment}
	var err error
	if t.Title, err = r.shownText(h.Title, "the title of a task"); err != nil {
		return err
	}
	if t.Description, err = r.shownText(h.Description, "the description of a task"); err != nil {
		return err
	}
	if t.Assignee, err = r.publicText(h.Assignee, "the assignee of a task"); err != nil {
		return err
	}
	if t.Users, err = r.publicTexts(h.Users, "candidates.users"); err != nil {
		return err
	}
	if t.Groups, err = r.publicTexts(h.Groups, "candidates.groups"); err != nil {
		return err
	}
	if h.Data != nil {
		data, err := r.twinOf(h.Data)
		if err != nil {
			return err
		}
		t.Data = data.seen()
	}
	if t.Due, err = d.dueOfTask(r, h); err != nil {
		return err
	}
	t.Barred = d.barred(p)
	d.about(ActivityWaiting, p, &Waiting{Kind: waitHuman, Name: t.Title, Until: t.Due})
	d.about(HumanTaskCreated, p, t)
	return nil
}

// dueOfTask: a duration from now, or an instant.
func (d *decider) dueOfTask(r reader, h *flow.Human) (*time.Time, error) {
	if h.Due == nil {
		return nil, nil
	}
	v, err := r.value(h.Due)
	if err != nil {
		return nil, err
	}
	s, _ := v.(string)
	if strings.Contains(s, "-") {
		at, err := expr.ParseInstant(s, "")
		if err != nil {
			return nil, failure("input.invalid", classActivity, "%s", err)
		}
		at = at.UTC().Truncate(time.Millisecond)
		return &at, nil
	}
	after, err := durationOf(v)
	if err != nil {
		return nil, err
	}
	at := instant(d.now + ceilMillis(after))
	return &at, nil
}

// barred are the people who may not decide, by name.
func (d *decider) barred(p place) []string {
	var names []string
	if p.act.Human.NotActor && d.st.Created.StartedBy != "" {
		names = append(names, d.st.Created.StartedBy)
	}
	r := d.read(p)
	for _, id := range p.act.Human.NotSameAs {
		other, ok := r.visible(id)
		if !ok {
			continue
		}
		if output, ok := other.run.Output.(map[string]any); ok {
			if by, ok := output["by"].(string); ok && by != "" {
				names = append(names, by)
			}
		}
	}
	return names
}
