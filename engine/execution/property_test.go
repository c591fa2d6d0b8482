package execution

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
)

var (
	seeds    = flag.Int("seeds", 150, "random worlds to run")
	fromSeed = flag.Uint64("seed", 1, "first of them")
)

// TestRandomWorlds runs random definitions under random answers, signals, votes, cancels, pauses, lost workers
// and late results, and checks after each step what must hold whatever happens.
func TestRandomWorlds(t *testing.T) {
	used := 0
	for i := range uint64(*seeds) {
		seed := *fromSeed + i
		r := rand.New(rand.NewPCG(seed, 7))
		text := definitionOf(r)
		wf, err := flow.Load([]byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: random}\nspec:\n" + text))
		if err != nil {
			continue
		}
		used++
		w := &world{Rand: r, wf: wf, now: testTime, shadow: &State{}, permits: map[string]int{}, text: text, seed: seed, ledger: newLedger(wf), calm: seed%8 == 0}
		if err := w.live(); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, text, w.tail())
		}
	}
	t.Logf("%d of %d definitions were valid", used, *seeds)
	if used < *seeds/3 {
		t.Errorf("only %d of %d definitions were valid", used, *seeds)
	}
}

// world is one execution and everything around it.
type world struct {
	*rand.Rand
	wf      *flow.Workflow
	st      *State
	shadow  *State // folded from the encoded history alone
	now     time.Time
	history []Event
	seed    uint64
	text    string
	ledger  *ledger
	calm    bool // nothing goes wrong

	tasks, waits int            // open ones, by the effects
	permits      map[string]int // asked for and not given back
	late         []Result       // answered before
	driven       int            // times driven again
}

func (w *world) live() error {
	st, events, err := New(w.wf, Start{ID: uuid.UUID{15: byte(w.seed)}, Workflow: "random", Version: 1, Input: map[string]any{"yes": true, "no_way": false}}, w.now)
	if err != nil {
		return err
	}
	w.st = st
	if err := w.saw(events); err != nil {
		return err
	}
	for range 60 {
		if w.calm {
			break
		}
		if err := w.disturb(); err != nil {
			return err
		}
	}
	if err := w.advance(); err != nil {
		return err
	}
	return w.settle()
}

// settle answers everything well until the end; there has to be one.
func (w *world) settle() error {
	for range 2000 {
		if w.st.Paused {
			if err := w.send(Message{Resume: &Control{}}); err != nil {
				return err
			}
		}
		if w.st.Terminal() {
			return w.checkEnd()
		}
		if work := Pending(w.wf, w.st); len(work) > 0 {
			if err := w.send(w.answer(work[0], 0)); err != nil {
				return err
			}
			continue
		}
		if err := w.passOrGrant(); err != nil {
			return err
		}
	}
	return fmt.Errorf("it does not come to an end")
}

func (w *world) passOrGrant() error {
	if wanted := w.wanted(); len(wanted) > 0 {
		return w.send(Message{PermitGranted: &wanted[0]})
	}
	due, ok := NextDue(w.st)
	if !ok {
		return fmt.Errorf("limbo: nothing is pending, nothing falls due, status %s", w.st.Status)
	}
	if due.After(w.now) {
		w.now = due
	}
	return w.advance()
}

func (w *world) wanted() (list []Permit) {
	eachRun(w.wf, w.st, func(p place) {
		switch {
		case p.run.Phase == waiting && p.run.Wait.Paced && p.run.Wait.Until == 0:
			at := w.now.Add(time.Duration(w.IntN(3)) * time.Second)
			list = append(list, Permit{Name: p.run.Wait.Name, Activity: p.Activity, Item: p.Item, At: &at})
		case p.run.Phase == waiting && p.run.Permit != "" && !p.run.Held:
			if b := w.ledger.books[spot{p.Activity, p.Item, p.hook, p.undo}]; b != nil && w.ledger.free(p.run.Permit, b.capacity) {
				list = append(list, Permit{Name: p.run.Permit, Activity: p.Activity, Item: p.Item})
			}
		}
	})
	return list
}

// disturb does one thing that may happen at any time.
func (w *world) disturb() error {
	work := Pending(w.wf, w.st)
	switch n := w.IntN(100); {
	case w.st.Terminal():
		if n < 20 && w.driven < 2 {
			w.driven++
			return w.send(Message{Retry: &Retry{By: "bob"}})
		}
		return w.send(Message{Compensate: &Control{By: "bob"}})
	case n < 50 && len(work) > 0:
		return w.send(w.answer(work[w.IntN(len(work))], 30))
	case n < 58 && len(work) > 0:
		if ev := Started(w.wf, w.st, work[w.IntN(len(work))], "w1", w.now); ev.Type != "" {
			return w.applyAll([]Event{ev})
		}
	case n < 63 && len(w.late) > 0:
		return w.sendStale(Message{Result: &w.late[w.IntN(len(w.late))]})
	case n < 66:
		return w.applyAll(Lost(w.wf, w.st, "w2", w.now, nil))
	case n < 74:
		return w.send(Message{Signal: &Signal{ID: fmt.Sprint(w.IntN(20)), Name: w.word("go", "other"), Direct: w.IntN(3) > 0, Activity: "a1", Payload: int64(1)}})
	case n < 82:
		return w.vote()
	case n < 84:
		return w.send(Message{Cancel: &Cancel{By: "bob"}})
	case n < 86:
		return w.send(Message{Pause: &Control{}})
	case n < 90:
		return w.send(Message{Resume: &Control{}})
	case n < 94:
		for _, p := range w.wanted() {
			return w.send(Message{PermitGranted: &p})
		}
	default:
		w.now = w.now.Add(time.Duration(w.IntN(5000)) * time.Millisecond)
		return w.advance()
	}
	return nil
}

func (w *world) word(options ...string) string { return options[w.IntN(len(options))] }

// answer makes a result; it fails that often in a hundred.
func (w *world) answer(work Work, fails int) Message {
	r, pure := Evaluate(w.wf, w.st, work, w.now)
	if !pure {
		w.ledger.effects[spot{work.Activity, work.Item, work.Hook, work.Compensating}]++
		r = Result{Activity: work.Activity, Item: work.Item, Hook: work.Hook, Compensating: work.Compensating,
			Attempt: work.Attempt, Worker: "w1", StartedAt: w.now, EndedAt: w.now,
			Value: map[string]any{"status": int64(200), "body": map[string]any{"over": w.IntN(2) == 0}}}
		if w.IntN(100) < fails {
			r.Error = broken(w.word("http.503", "http.400", "timeout.attempt", "engine.worker_lost")).err
		}
	}
	w.late = append(w.late, r)
	return Message{Result: &r}
}

func (w *world) vote() error {
	for _, d := range Describe(w.wf, w.st).Waits {
		if d.Task != "" {
			return w.send(Message{Vote: &Vote{Task: uuid.MustParse(d.Task), Activity: d.Activity, Item: d.Item, By: "ben",
				Outcome: w.word("approved", "rejected"), At: w.now, Decides: w.IntN(3) > 0}})
		}
	}
	return nil
}

// send delivers a message and advances; one that is refused must change nothing.
func (w *world) send(m Message) error {
	before, _ := EncodeState(w.st)
	events, err := Receive(w.wf, w.st, m, w.now)
	after, _ := EncodeState(w.st)
	if !bytes.Equal(before, after) {
		return fmt.Errorf("receiving changed the state")
	}
	if err != nil {
		return nil // stale
	}
	if err := w.applyAll(events); err != nil {
		return err
	}
	return w.advance()
}

// sendStale delivers what was delivered before.
func (w *world) sendStale(m Message) error {
	if events, err := Receive(w.wf, w.st, m, w.now); err == nil {
		return fmt.Errorf("I4: a late result of %s was accepted: %v", m.Result.Activity, events)
	}
	return nil
}

func (w *world) applyAll(events []Event) error {
	for _, ev := range events {
		if err := Apply(w.wf, w.st, ev); err != nil {
			return err
		}
		if err := w.saw([]Event{ev}); err != nil {
			return err
		}
	}
	return nil
}

// advance decides one step at a time, so that the fold is compared at every seq.
func (w *world) advance() error {
	for {
		events := Decide(w.wf, w.st, w.now)
		if len(events) == 0 {
			return w.checkRest()
		}
		if err := w.applyAll(events); err != nil {
			return err
		}
	}
}

// saw folds the encoded events into the shadow and compares.
func (w *world) saw(events []Event) error {
	w.history = append(w.history, events...)
	stored, err := EncodeEvents(events)
	if err != nil {
		return err
	}
	decoded, err := DecodeEvents(stored)
	if err != nil {
		return err
	}
	for _, ev := range decoded {
		if err := Apply(w.wf, w.shadow, ev); err != nil {
			return fmt.Errorf("the history does not fold: %w", err)
		}
	}
	live, _ := EncodeState(w.st)
	fold, _ := EncodeState(w.shadow)
	if !bytes.Equal(live, fold) {
		return fmt.Errorf("I3: the fold differs at %d:\nlive %s\nfold %s", w.st.Seq, live, fold)
	}
	if w.IntN(10) == 0 { // and so does a checkpoint
		if w.shadow, err = DecodeState(fold); err != nil {
			return err
		}
		if w.st, err = DecodeState(live); err != nil { // whoever takes over goes on from it
			return err
		}
	}
	w.count(events)
	return w.check(events)
}

func (w *world) count(events []Event) {
	c := Effects(w.wf, w.st, events)
	for _, row := range c.Tasks {
		if row.Create {
			w.tasks++
		} else if row.Status != "" {
			w.tasks--
		}
	}
	w.waits += len(c.Waits) - len(c.WaitsEnded)
	for _, p := range c.Permits {
		if p.PerSecond > 0 {
			continue
		}
		w.permits[p.Name+p.Activity+p.Item]++
	}
	for _, p := range c.Released {
		w.permits[p.Name+p.Activity+p.Item]--
	}
}

// check holds after every event.
func (w *world) check(events []Event) error {
	for i := range events {
		if err := w.ledger.see(&events[i]); err != nil {
			return err
		}
	}
	return w.recount()
}

// recount does from scratch what the fold counts along the way.
func (w *world) recount() (err error) {
	active, parked := 0, 0
	complain := func(p place, format string, args ...any) {
		if err == nil {
			err = fmt.Errorf("%s[%s]: %s", p.Activity, p.Item, fmt.Sprintf(format, args...))
		}
	}
	if len(w.st.Main.Runs) == 0 {
		return nil
	}
	eachRun(w.wf, w.st, func(p place) {
		if p.run.Phase.active() && p.hook == "" && !p.undo {
			active++
		}
		if p.run.Phase.parked() {
			parked++
		}
		if l := p.run.Loop; l != nil && l.Open > l.Width {
			complain(p, "I8: %d items at a time", l.Open)
		}
		if p.run.Attempt-p.run.Base-p.run.Free > max(p.act.Retry.Attempts, 1) && !p.undo {
			complain(p, "%d attempts used", p.run.Attempt-p.run.Base-p.run.Free)
		}
		if p.graph != nil && !p.undo && (w.st.Ending == nil || p.hook != "") {
			w.recountEdges(p, complain)
		}
	})
	if active != w.st.Active || parked != w.st.Parked {
		complain(place{}, "%d active, counted %d; %d parked, counted %d", active, w.st.Active, parked, w.st.Parked)
	}
	return err
}

func (w *world) recountEdges(p place, complain func(place, string, ...any)) {
	settled, fired, dead := 0, 0, 0
	for i := range p.act.In {
		src := p.sibling(p.act.In[i].From)
		if !src.run.Phase.over() {
			continue
		}
		settled++
		switch settle(&p.act.In[i], src.act, src.run) {
		case fires:
			fired++
		case deadFail:
			dead++
		}
	}
	if p.run.Phase == pending && (settled != p.run.Settled || fired != p.run.Fired || dead != p.run.Dead) {
		complain(p, "%d edges settled, counted %d; %d fired, counted %d; %d dead, counted %d",
			settled, p.run.Settled, fired, p.run.Fired, dead, p.run.Dead)
	}
}

// checkRest: at rest there is a reason to wait, or an end.
func (w *world) checkRest() error {
	if err := w.ledger.rest(); err != nil {
		return err
	}
	if w.st.Terminal() {
		return w.checkEnd()
	}
	_, due := NextDue(w.st)
	if len(w.st.Flight) == 0 && !due && !w.st.Paused && len(w.st.Hearing) == 0 && w.tasks == 0 && len(w.wanted()) == 0 {
		return fmt.Errorf("I6: limbo: %s, and nothing will happen", w.st.Status)
	}
	return nil
}

// checkEnd: an ended execution leaves nothing behind.
func (w *world) checkEnd() error {
	st := w.st
	if len(Decide(w.wf, st, w.now.Add(time.Hour))) > 0 {
		return fmt.Errorf("I2: something follows the end")
	}
	if _, err := Receive(w.wf, st, Message{Signal: &Signal{ID: "late", Name: "go", Direct: true}}, w.now); err == nil {
		return fmt.Errorf("I2: a signal is taken after the end")
	}
	if st.Active+st.Parked+len(st.Flight)+len(st.Queue)+len(st.Todo)+len(st.Timers)+len(st.Hearing)+w.tasks+w.waits != 0 {
		return fmt.Errorf("I7: left behind: %d active, %d parked, %d in flight, %d timers, %d tasks, %d waits",
			st.Active, st.Parked, len(st.Flight), len(st.Timers), w.tasks, w.waits)
	}
	for name, n := range w.permits {
		if n != 0 {
			return fmt.Errorf("I8: a permit leaks: %s", name)
		}
	}
	for at, b := range w.ledger.books {
		if n := w.ledger.effects[at]; w.calm && b.over == ActivityCompleted && n != b.dispatched && (&effects{wf: w.wf}).definition(&Event{Activity: at.activity, Item: at.item, Compensating: at.undo}).Type == flow.TypeHTTP {
			return fmt.Errorf("I5: %v had %d effects in %d attempts, and nothing went wrong", at, n, b.dispatched)
		}
	}
	if st.Undo.State == undoComplete && len(st.Undo.Done) > 0 {
		return fmt.Errorf("I12: compensated, but %v are not undone", st.Undo.Done)
	}
	return nil
}

func (w *world) tail() string {
	var b bytes.Buffer
	for _, ev := range w.history[max(0, len(w.history)-40):] {
		line, _ := ev.MarshalJSON()
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Events that may not come are refused and change nothing, whatever they are.
func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"seq":9,"type":"ActivityCompleted","activity":"risky","attempt":1,"data":{}}`))
	f.Add([]byte(`{"seq":9,"type":"WorkflowRetried","data":{"from":"risky"}}`))
	f.Add([]byte(`{"seq":5,"type":"ActivityStarted","activity":"each","item":"0","data":{"items":[null]}}`))
	wf := load(f, risky)
	st, _, err := New(wf, Start{ID: testID, Workflow: "test", Version: 1}, testTime)
	if err != nil {
		f.Fatal(err)
	}
	Advance(nil, wf, st, testTime)
	base, _ := EncodeState(st)
	f.Fuzz(func(t *testing.T, data []byte) {
		var ev Event
		if ev.UnmarshalJSON(data) != nil {
			return
		}
		ev.Seq = st.Seq + 1
		copied, err := DecodeState(base)
		if err != nil {
			t.Fatal(err)
		}
		if err := Apply(wf, copied, ev); err != nil {
			if after, _ := EncodeState(copied); !slices.Equal(base, after) {
				t.Fatalf("a refused event changed the state: %v", err)
			}
		}
	})
}
