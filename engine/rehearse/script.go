package rehearse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/human"
)

// inOrder sorts the steps by time; those of one instant keep their order.
func inOrder(steps []flow.TestStep) []scripted {
	all := make([]scripted, len(steps))
	for i, step := range steps {
		all[i] = scripted{step, i}
	}
	slices.SortStableFunc(all, func(a, b scripted) int { return int(a.At - b.At) })
	return all
}

func (s scripted) due(start time.Time) time.Time { return start.Add(s.At) }

func (s scripted) path() string { return fmt.Sprintf("script[%d]", s.index) }

// acts: a step that has to find the execution alive.
func (s scripted) acts() bool { return s.Event != "" || s.Human != "" || s.Cancel || s.Crash }

// perform does one step of the script.
func (w *world) perform(s scripted) {
	if s.Note != "" {
		w.note(s)
	}
	if s.Event != "" {
		w.arrive(s)
	}
	if s.Human != "" {
		w.decide(s)
	}
	if s.Cancel {
		message := execution.Message{Cancel: &execution.Cancel{By: orTester(s.By), Reason: s.Reason, Compensate: s.Compensate}}
		if err := w.root().receive(message); err != nil {
			w.fault(s.path(), "", "", "it cannot be cancelled at %s: %v", short(s.At), err)
		}
	}
	if s.Crash {
		w.owners++
		for _, r := range w.all {
			r.crash(worker(w.owners))
		}
	}
}

func (w *world) note(s scripted) { w.notes = append(w.notes, Note{short(s.At), s.Note}) }

func orTester(by string) string {
	if by == "" {
		return tester
	}
	return by
}

// arrive brings an event by key, or a signal to the execution itself.
func (w *world) arrive(s scripted) {
	id := fmt.Sprintf("script-%d", s.index)
	if s.Key != nil {
		w.post(posted{id: id, name: s.Event, key: *s.Key, payload: s.Payload, until: w.now.Add(keptFor)})
		return
	}
	err := w.root().receive(execution.Message{Signal: &execution.Signal{ID: id, Name: s.Event, Payload: s.Payload, Direct: true, At: w.now, By: orTester(s.By)}})
	if err != nil {
		w.fault(s.path(), "", "", "the signal %s at %s is refused: %v", s.Event, short(s.At), err)
	}
}

// decide answers an open task, by the rules of human tasks. Who decides is in every group.
func (w *world) decide(s scripted) {
	t, why := w.openTask(s)
	if t == nil {
		w.fault(s.path(), s.Human, s.Item, "%s", why)
		return
	}
	by := s.By
	if by == "" {
		by = somebody(t.row)
	}
	answer := human.Answer{Outcome: s.Outcome, Form: s.Form, Comment: s.Comment}
	if answer.Outcome == "" {
		answer.Outcome = t.row.Outcomes[0]
	}
	ends, refusal := human.Decide(t.rules(), human.Person{Name: by, Groups: []string{human.Everybody}}, answer, w.now)
	if refusal != nil {
		words := refusal.Message
		for _, problem := range refusal.Problems {
			words += fmt.Sprintf("; %s %s", problem.Path, problem.Message)
		}
		w.fault(s.path(), s.Human, s.Item, "%s cannot decide %s at %s: %s", by, s.Human, short(s.At), words)
		return
	}
	t.vote(by, answer.Outcome, s.Comment, s.Form, ends)
}

// openTask finds the task a step means, else says why there is none.
func (w *world) openTask(s scripted) (*task, string) {
	for _, r := range w.all {
		id, mine := strings.CutPrefix(s.Human, r.prefix)
		if !mine || strings.Contains(id, "/") {
			continue
		}
		for _, wait := range execution.Describe(r.wf, r.st).Waits {
			if t := r.taskOf(wait); t != nil && wait.Activity == id && (s.Item == "" || s.Item == wait.Item) {
				return t, ""
			}
		}
		if detail, known := execution.Describe(r.wf, r.st).Activities[id]; known {
			return nil, fmt.Sprintf("%s has no open task at %s: it is %s", s.Human, short(s.At), detail.Status)
		}
	}
	return nil, fmt.Sprintf("%s has no open task at %s", s.Human, short(s.At))
}

func (r *running) taskOf(wait execution.WaitDetail) *task {
	for id, t := range r.world.tasks {
		if wait.Task == id.String() {
			return t
		}
	}
	return nil
}
