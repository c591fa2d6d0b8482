package execution

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
)

// sim drives one execution on a virtual clock: a worker that answers from a script, and a check after every
// event that the history folds to the very state that made it.
type sim struct {
	t       *testing.T
	wf      *flow.Workflow
	st      *State
	now     time.Time
	history []Event
	all     Consequences // of the whole history

	answers map[string][]answerOf // by activity or activity[item], one for each attempt, the last repeats
	asked   map[string]int
	slow    map[string]time.Duration // how long an attempt takes; it is answered when the clock gets there
	done    map[string]time.Time
	keys    map[string][]string // idempotency keys seen
	given   map[string][]any    // inputs seen
	shadow  *State              // folded from the encoded history alone
	folded  int                 // events in shadow
	sparse  bool                // checks the fold only at the end
}

// answerOf is what an attempt comes to.
type answerOf struct {
	value any
	err   *Error
	after time.Duration
}

func fine(v any) answerOf { return answerOf{value: v} }

func broken(kind string) answerOf {
	class := classExternal
	if strings.HasPrefix(kind, "engine.") {
		class = classInfrastructure
	}
	return answerOf{err: &Error{Type: kind, Class: class, Message: "made up"}}
}

func whole(text string) string {
	if strings.Contains(text, "apiVersion") {
		return text
	}
	return "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: test}\nspec:\n" + text
}

func load(t testing.TB, text string) *flow.Workflow {
	t.Helper()
	text = whole(text)
	wf, err := flow.Load([]byte(text))
	if err != nil {
		t.Fatalf("the definition is not valid: %v", err)
	}
	return wf
}

var (
	testID   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	testTime = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
)

func simulate(t *testing.T, text string, input map[string]any) *sim {
	t.Helper()
	return simulateStart(t, text, Start{Input: input})
}

func simulateStart(t *testing.T, text string, start Start) *sim {
	t.Helper()
	s := &sim{
		t: t, wf: load(t, text), now: testTime, shadow: &State{},
		answers: map[string][]answerOf{}, asked: map[string]int{}, slow: map[string]time.Duration{},
		done: map[string]time.Time{}, keys: map[string][]string{}, given: map[string][]any{},
	}
	start.ID, start.Workflow, start.Version = testID, s.wf.Name, 1
	start.StartedBy = "ann"
	if start.Input == nil {
		start.Input = map[string]any{}
	}
	filled, problems := s.wf.Input.Check(start.Input)
	if len(problems) > 0 {
		t.Fatalf("the input does not fit: %v", problems)
	}
	start.Input = filled.(map[string]any)
	st, events, err := New(s.wf, start, s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.st = st
	s.record(events)
	s.keepHistory(whole(text))
	return s
}

func (s *sim) answer(activity string, list ...answerOf) *sim {
	s.answers[activity] = list
	return s
}

// record keeps events that are applied already and checks what must always hold.
func (s *sim) record(events []Event) {
	s.t.Helper()
	s.history = append(s.history, events...)
	c := Effects(s.wf, s.st, events)
	s.all.Tasks = append(s.all.Tasks, c.Tasks...)
	s.all.Waits = append(s.all.Waits, c.Waits...)
	s.all.WaitsEnded = append(s.all.WaitsEnded, c.WaitsEnded...)
	s.all.Children = append(s.all.Children, c.Children...)
	s.all.CancelChildren = append(s.all.CancelChildren, c.CancelChildren...)
	s.all.Permits = append(s.all.Permits, c.Permits...)
	s.all.Released = append(s.all.Released, c.Released...)
	if !s.sparse {
		s.mustFold()
	}
}

// apply applies events that Receive and its like gave.
func (s *sim) apply(events []Event) {
	s.t.Helper()
	for _, ev := range events {
		if err := Apply(s.wf, s.st, ev); err != nil {
			s.t.Fatalf("%v\n%s", err, s.tail())
		}
	}
	s.record(events)
}

// mustFold: the stored history folds to the live state, byte for byte, and so does a checkpoint of it.
func (s *sim) mustFold() {
	s.t.Helper()
	stored, err := EncodeEvents(s.history[s.folded:])
	if err != nil {
		s.t.Fatal(err)
	}
	s.folded = len(s.history)
	events, err := DecodeEvents(stored)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, ev := range events {
		if err := Apply(s.wf, s.shadow, ev); err != nil {
			s.t.Fatalf("the history does not fold: %v\n%s", err, s.tail())
		}
	}
	live, got := encoded(s.t, s.st), encoded(s.t, s.shadow)
	if !bytes.Equal(live, got) {
		s.t.Fatalf("the fold differs from the live state:\nlive %s\nfold %s\n%s", live, got, s.tail())
	}
	if s.shadow, err = DecodeState(live); err != nil {
		s.t.Fatal(err)
	}
	if b := encoded(s.t, s.shadow); !bytes.Equal(live, b) {
		s.t.Fatalf("the checkpoint differs:\nlive %s\nread %s", live, b)
	}
}

func encoded(t testing.TB, st *State) []byte {
	b, err := EncodeState(st)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// advance decides until nothing follows, without doing any work.
func (s *sim) advance() {
	s.t.Helper()
	s.record(Advance(nil, s.wf, s.st, s.now))
}

// run works and lets time pass until nothing moves any more.
func (s *sim) run() *sim {
	s.t.Helper()
	return s.runUntil(testTime.Add(100 * 365 * 24 * time.Hour))
}

// runUntil is run with an end on the clock.
func (s *sim) runUntil(end time.Time) *sim {
	s.t.Helper()
	most := 2000 // steps; nothing here is longer, unless it says so by being sparse
	if s.sparse {
		most = 20_000
	}
	for range most {
		s.advance()
		if s.work() {
			continue
		}
		next, ok := s.next()
		if s.st.Terminal() || !ok || next.After(end) {
			if ok && next.After(end) {
				s.now = end
			}
			return s
		}
		s.now = later(s.now, next)
	}
	s.t.Fatalf("it does not come to rest\n%s", s.tail())
	return s
}

func (s *sim) pass(d time.Duration) *sim {
	s.t.Helper()
	s.runUntil(s.now.Add(d))
	return s
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// next is the next instant at which something happens: a timer, or a slow attempt that ends.
func (s *sim) next() (time.Time, bool) {
	next, ok := NextDue(s.st)
	for _, w := range Pending(s.wf, s.st) {
		if at, slow := s.done[attemptName(w)]; slow && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

func attemptName(w Work) string {
	return strings.Join([]string{w.Activity, w.Item, w.Hook, string(rune('0' + w.Attempt))}, "|")
}

func workName(w Work) string {
	name := w.Activity
	if w.Item != "" {
		name += "[" + w.Item + "]"
	}
	if w.Compensating {
		name = "undo " + name
	}
	return name
}

// work answers every attempt that is due; ok is false when there was none.
func (s *sim) work() (ok bool) {
	s.t.Helper()
	for _, w := range Pending(s.wf, s.st) {
		if took, slow := s.slow[workName(w)]; slow {
			at, begun := s.done[attemptName(w)]
			if !begun {
				s.done[attemptName(w)] = s.now.Add(took)
				s.start(w)
				continue
			}
			if at.After(s.now) {
				continue
			}
		}
		s.attempt(w)
		s.advance()
		return true
	}
	return false
}

func (s *sim) start(w Work) {
	s.t.Helper()
	if ev := Started(s.wf, s.st, w, "w1", s.now); ev.Type != "" {
		s.apply([]Event{ev})
	}
}

func (s *sim) attempt(w Work) {
	s.t.Helper()
	result, pure := Evaluate(s.wf, s.st, w, s.now)
	if !pure {
		result = s.mock(w)
	}
	s.receive(Message{Result: &result})
}

func (s *sim) mock(w Work) Result {
	name := workName(w)
	s.keys[name] = append(s.keys[name], w.IdempotencyKey)
	s.given[name] = append(s.given[name], w.Input)
	r := Result{Activity: w.Activity, Item: w.Item, Hook: w.Hook, Compensating: w.Compensating,
		Attempt: w.Attempt, Worker: "w1", StartedAt: s.now, EndedAt: s.now}
	if w.Type == flow.TypeWorkflow {
		r.Child = w.Child
		return r
	}
	list, scripted := s.answers[name]
	if !scripted {
		list = s.answers[w.Activity]
	}
	n := s.asked[name]
	s.asked[name]++
	if len(list) == 0 {
		r.Value = map[string]any{"status": int64(200), "body": map[string]any{}}
		return r
	}
	a := list[min(n, len(list)-1)]
	r.Value, r.Error, r.RetryAfter = a.value, a.err, a.after
	return r
}

// receive takes a message that has to be accepted.
func (s *sim) receive(m Message) {
	s.t.Helper()
	events, err := Receive(s.wf, s.st, m, s.now)
	if err != nil {
		s.t.Fatalf("refused: %v\n%s", err, s.tail())
	}
	s.apply(events)
}

// refuses: the message is stale and changes nothing.
func (s *sim) refuses(m Message) {
	s.t.Helper()
	before := encoded(s.t, s.st)
	events, err := Receive(s.wf, s.st, m, s.now)
	if !errors.Is(err, ErrStale) || len(events) > 0 {
		s.t.Fatalf("expected a stale message, got %v %v", events, err)
	}
	if !bytes.Equal(before, encoded(s.t, s.st)) {
		s.t.Fatal("a stale message changed the state")
	}
}

// vote answers the open task of an activity.
func (s *sim) vote(activity, by, outcome string) *sim {
	s.t.Helper()
	s.receive(Message{Vote: s.voteOf(activity, by, outcome)})
	return s.run()
}

func (s *sim) voteOf(activity, by, outcome string) *Vote {
	s.t.Helper()
	for _, w := range Describe(s.wf, s.st).Waits {
		if w.Activity == activity && w.Task != "" {
			return &Vote{Task: uuid.MustParse(w.Task), Activity: activity, Item: w.Item, By: by, Outcome: outcome, At: s.now, Decides: true}
		}
	}
	s.t.Fatalf("%s has no open task\n%s", activity, s.tail())
	return nil
}

func (s *sim) signal(name, id string, payload any) {
	s.t.Helper()
	s.receive(Message{Signal: &Signal{ID: id, Name: name, Payload: payload, Direct: true, At: s.now}})
}

// is checks the status of the execution.
func (s *sim) is(status string) *sim {
	s.t.Helper()
	if s.st.Status != status {
		s.t.Fatalf("the execution is %s, expected %s\n%s", s.st.Status, status, s.tail())
	}
	return s
}

// failedWith checks the type of the error.
func (s *sim) failedWith(kind string) *sim {
	s.t.Helper()
	d := Describe(s.wf, s.st)
	if d.Error == nil || d.Error.Type != kind {
		s.t.Fatalf("the error is %v, expected %s\n%s", d.Error, kind, s.tail())
	}
	return s
}

// are checks statuses of activities: "a completed b skipped".
func (s *sim) are(pairs string) *sim {
	s.t.Helper()
	words := strings.Fields(pairs)
	all := Describe(s.wf, s.st).Activities
	for i := 0; i < len(words); i += 2 {
		if got := all[words[i]].Status; got != words[i+1] {
			s.t.Errorf("%s is %s, expected %s", words[i], got, words[i+1])
		}
	}
	if s.t.Failed() {
		s.t.Fatal(s.tail())
	}
	return s
}

// count is how many events of a type the history has, of one activity if named.
func (s *sim) count(t EventType, activity ...string) int {
	n := 0
	for _, ev := range s.history {
		if ev.Type == t && (len(activity) == 0 || slices.Contains(activity, ev.Activity)) {
			n++
		}
	}
	return n
}

// ran lists what was given to workers, in order of the first attempt.
func (s *sim) ran() string {
	var names []string
	for _, ev := range s.history {
		if ev.Type != ActivityDispatched {
			continue
		}
		name := workName(Work{Activity: ev.Activity, Item: ev.Item, Compensating: ev.Compensating})
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func (s *sim) output() any { return Describe(s.wf, s.st).Output }

// tail is the history in short, for messages.
func (s *sim) tail() string {
	var b strings.Builder
	for _, ev := range s.history[max(0, len(s.history)-40):] {
		line, _ := ev.MarshalJSON()
		b.Write(line)
		b.WriteByte('\n')
	}
	b.Write(encoded(s.t, s.st))
	return b.String()
}
