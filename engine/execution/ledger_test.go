package execution

import (
	"fmt"
	"time"

	"weftline/engine/flow"
	"weftline/engine/retry"
)

// ledger keeps books of a history of its own, from the events and the definition alone, and says which invariant
// an event breaks. The invariants are numbered as in docs/reliability.md.
type ledger struct {
	wf      *flow.Workflow
	seq     int64
	ended   EventType // "" = open
	retried bool
	trouble bool // something failed or ends in this drive: others may be stopped by it
	driven  time.Time
	books   map[spot]*book
	held    map[string]map[spot]bool // slots by the name of the limit
	flying  map[spot]bool
	ids     map[string]bool
	signals map[int64]bool // by seq of their SignalReceived: consumed
	done    []spot         // completed and to be undone, in order of completion
	lastOut int            // place in done of what was undone last, in one pass
	effects map[spot]int   // by the sink outside
}

// spot is an activity, or one of an item, a hook or a compensation.
type spot struct {
	activity, item, hook string
	undo                 bool
}

type book struct {
	attempt, dispatched int
	used, free          int // tries of this turn
	anew                bool
	retrying            time.Time // until when it pauses
	timer               time.Time
	reminded            map[int]bool
	over                EventType
	outcome, reason     string
	err                 *Error
	limit               string // whose slot it waits for or holds
	capacity            int
	paced               bool
	owes                bool // it is over and has not given its slot back
}

func newLedger(wf *flow.Workflow) *ledger {
	return &ledger{wf: wf, books: map[spot]*book{}, held: map[string]map[spot]bool{}, flying: map[spot]bool{},
		ids: map[string]bool{}, signals: map[int64]bool{}, effects: map[spot]int{}}
}

func broke(n int, ev *Event, format string, args ...any) error {
	return fmt.Errorf("I%d: event %d, %s of %s[%s]: %s", n, ev.Seq, ev.Type, ev.Activity, ev.Item, fmt.Sprintf(format, args...))
}

// see takes one event.
func (l *ledger) see(ev *Event) error {
	if l.seq++; ev.Seq != l.seq {
		return broke(1, ev, "%d should follow", l.seq)
	}
	if l.ended != "" && (ev.Type != WorkflowRetried || l.ended != WorkflowFailed && l.ended != WorkflowTimedOut) {
		return broke(2, ev, "after %s", l.ended)
	}
	l.ended = ""
	if ev.Activity == "" {
		return l.whole(ev)
	}
	at := spot{ev.Activity, ev.Item, ev.Hook, ev.Compensating}
	b := l.books[at]
	if b == nil {
		b = &book{anew: l.retried}
		l.books[at] = b
	}
	act := (&effects{wf: l.wf}).definition(ev)
	if act == nil {
		return fmt.Errorf("event %d is about nothing", ev.Seq)
	}
	return l.one(ev, at, b, act)
}

func (l *ledger) whole(ev *Event) error {
	switch d := ev.Data.(type) {
	case *Received:
		if d.ID != "" && l.ids[d.ID] {
			return broke(10, ev, "the id %s came before", d.ID)
		}
		l.ids[d.ID] = true
		l.signals[ev.Seq] = false
	case *Ending:
		l.trouble = true
		if d.Status == StatusTimedOut && ev.At.Before(l.driven.Add(l.wf.Limits.Timeout)) {
			return broke(9, ev, "it timed out early: it was driven at %s", l.driven)
		}
	}
	switch ev.Type {
	case WorkflowStarted, WorkflowRetried:
		l.driven, l.trouble = ev.At, false
		l.retried = ev.Type == WorkflowRetried
		for at, b := range l.books {
			b.anew = true
			if b.over != ActivityCompleted || at.hook != "" {
				b.over = ""
			}
		}
	case CompensationStarted:
		l.lastOut = len(l.done)
	case CompensationCompleted:
		if len(l.done) > 0 {
			return broke(12, ev, "%v are not undone", l.done)
		}
	}
	if ev.Type.Terminal() {
		l.ended = ev.Type
	}
	return nil
}

func (l *ledger) one(ev *Event, at spot, b *book, act *flow.Activity) error {
	switch d := ev.Data.(type) {
	case *RetryScheduled:
		return l.triedAgain(ev, at, b, act, d)
	case *Waiting:
		delete(l.flying, at)
		b.limit, b.capacity, b.paced = d.Name, d.Capacity, d.PerSecond > 0
		return nil
	case *Timer:
		if ev.Type == TimerScheduled {
			b.timer = d.Until
		} else if b.timer.IsZero() || ev.At.Before(b.timer) {
			return broke(9, ev, "its timer was set to %s", b.timer)
		} else {
			b.timer = time.Time{}
		}
	case *TaskNotice:
		if ev.Type == HumanTaskReminded && b.reminded[d.N] {
			return broke(9, ev, "reminder %d came before", d.N)
		} else if b.reminded == nil {
			b.reminded = map[int]bool{}
		}
		b.reminded[d.N] = true
	case *Consumed:
		if taken, received := l.signals[d.Signal]; taken || !received {
			return broke(10, ev, "signal %d was received: %t, consumed: %t", d.Signal, received, taken)
		}
		l.signals[d.Signal] = true
	case *PermitNamed:
		return l.slot(ev, at, b)
	}
	switch ev.Type {
	case ActivityReady:
		return l.ready(ev, at, b, act)
	case ActivityDispatched:
		b.dispatched++
		l.flying[at] = true
		if most := max(l.wf.Limits.MaxParallel, 1); len(l.flying) > most {
			return broke(8, ev, "%d attempts at a time, at most %d", len(l.flying), most)
		}
	case ActivityRepeatScheduled:
		delete(l.flying, at)
		b.used, b.free = 0, 0
	case ActivityCompleted, ActivityFailed, ActivityTimedOut, ActivitySkipped, ActivityCancelled:
		return l.over(ev, at, b, act)
	case CompensationStarted, CompensationCompleted:
		return l.undone(ev, at)
	}
	return nil
}

func (l *ledger) ready(ev *Event, at spot, b *book, act *flow.Activity) error {
	if !b.retrying.IsZero() && ev.At.Before(b.retrying) {
		return broke(9, ev, "its pause lasts until %s", b.retrying)
	}
	if b.retrying.IsZero() {
		b.used, b.free = 0, 0
	}
	if ev.Attempt != b.attempt+1 && !(b.anew && ev.Attempt > b.attempt) {
		return broke(13, ev, "attempt %d follows %d", ev.Attempt, b.attempt)
	}
	first := b.attempt == 0 && at == (spot{activity: ev.Activity})
	b.attempt, b.retrying, b.over, b.anew, b.reminded = ev.Attempt, time.Time{}, "", false, nil
	l.forget(at)
	if first && !l.retried && l.verdict(act) != runs {
		return broke(6, ev, "its join does not let it run")
	}
	return nil
}

func (l *ledger) triedAgain(ev *Event, at spot, b *book, act *flow.Activity, d *RetryScheduled) error {
	delete(l.flying, at)
	b.retrying = d.Until
	if d.Free {
		if b.free++; b.free > 10 {
			return broke(13, ev, "%d attempts were free", b.free)
		}
		if d.Error == nil || d.Error.Class != classInfrastructure {
			return broke(13, ev, "an attempt that failed by itself counts")
		}
		return nil
	}
	most := act.Retry.Attempts
	if at.undo && most <= 1 {
		most = l.wf.Compensation.Retry.Attempts
	}
	if b.used++; b.used >= max(most, 1) {
		return broke(13, ev, "%d of %d attempts are used", b.used, most)
	}
	return nil
}

func (l *ledger) over(ev *Event, at spot, b *book, act *flow.Activity) error {
	delete(l.flying, at)
	if b.over != "" {
		return broke(4, ev, "it was over before: %s", b.over)
	}
	if ev.Type == ActivityCompleted && ev.Attempt != b.attempt {
		return broke(4, ev, "its attempt is %d", b.attempt)
	}
	if ev.Type == ActivityCompleted && act.Type == flow.TypeHTTP && (l.effects[at] == 0 || l.effects[at] > b.dispatched) {
		return broke(5, ev, "%d effects of %d attempts", l.effects[at], b.dispatched)
	}
	if d := payload[Failed](ev); ev.Type == ActivityFailed && d.Error != nil && d.Error.Type == "http.503" && !l.trouble &&
		at.hook == "" && !at.undo && !act.Once && b.used+1 < act.Retry.Attempts {
		return broke(13, ev, "only %d of %d attempts are used", b.used+1, act.Retry.Attempts)
	}
	l.trouble = l.trouble || ev.Type == ActivityFailed || ev.Type == ActivityTimedOut
	b.over, b.retrying, b.timer = ev.Type, time.Time{}, time.Time{}
	b.owes = b.limit != "" && l.held[b.limit][at]
	switch d := ev.Data.(type) {
	case *Completed:
		b.outcome = d.Outcome
	case *Failed:
		b.err = d.Error
	case *Skipped:
		b.reason = d.Reason
		main := at == spot{activity: ev.Activity}
		if main && !l.retried && (d.Reason == reasonBranch || d.Reason == reasonUpstream) && l.verdict(act) != isSkipped {
			return broke(6, ev, "its join does not leave it out")
		}
	}
	if ev.Type == ActivityCompleted && act.Compensate != nil && at.hook == "" && !at.undo {
		l.done = append(l.done, at)
	}
	return nil
}

func (l *ledger) slot(ev *Event, at spot, b *book) error {
	at.undo = false
	if ev.Type == PermitReleased {
		name := payload[PermitNamed](ev).Name
		delete(l.held[name], at)
		for _, undo := range []bool{false, true} {
			if other := l.books[spot{at.activity, at.item, at.hook, undo}]; other != nil {
				other.owes = false
			}
		}
		return nil
	}
	if b.paced {
		return nil
	}
	if l.held[b.limit] == nil {
		l.held[b.limit] = map[spot]bool{}
	}
	if l.held[b.limit][at] = true; len(l.held[b.limit]) > b.capacity {
		return broke(8, ev, "%d of %d slots of %s", len(l.held[b.limit]), b.capacity, b.limit)
	}
	return nil
}

// free reports whether a limit has a slot to give.
func (l *ledger) free(name string, capacity int) bool { return len(l.held[name]) < capacity }

func (l *ledger) undone(ev *Event, at spot) error {
	for i, other := range l.done {
		if other != at {
			continue
		}
		if ev.Type == CompensationCompleted {
			l.forget(at)
			if i < l.lastOut {
				l.lastOut--
			}
			return nil
		}
		if b := l.books[spot{at.activity, at.item, at.hook, true}]; b != nil { // undoing begins a life of its own
			b.over, b.anew = "", true
		}
		if !l.wf.Compensation.Parallel && i >= l.lastOut && l.lastOut < len(l.done) {
			return broke(12, ev, "it is not the latest that is left")
		}
		l.lastOut = i
		return nil
	}
	return broke(12, ev, "it is not completed, or undone already")
}

func (l *ledger) forget(at spot) {
	for i, other := range l.done {
		if other == at {
			l.done = append(l.done[:i:i], l.done[i+1:]...)
			return
		}
	}
}

// rest is checked when nothing follows by itself.
func (l *ledger) rest() error {
	for at, b := range l.books {
		if b.owes {
			return fmt.Errorf("I8: %v is over and keeps its slot of %s", at, b.limit)
		}
	}
	return nil
}

// verdict judges the join of an activity of the main graph by the rules of the language, from the ends of the
// activities before it.
func (l *ledger) verdict(act *flow.Activity) verdict {
	fired, dead, failed, open := 0, 0, 0, 0
	for _, e := range act.In {
		switch l.edge(e) {
		case "fires":
			fired++
		case "skip":
			dead++
		case "fail":
			dead, failed = dead+1, failed+1
		default:
			open++
		}
	}
	total := len(act.In)
	answer := func(run, skip bool) verdict {
		if run {
			return runs
		}
		return when(skip, isSkipped)
	}
	switch {
	case total == 0:
		return runs
	case act.Join.Mode == flow.JoinDone:
		return answer(open == 0, false)
	case act.Join.Mode == flow.JoinEvery:
		return answer(fired == total, dead > 0)
	case act.Join.Mode == flow.JoinAny:
		return answer(fired > 0, dead == total)
	case act.Join.Mode == flow.JoinNOfM:
		return answer(fired >= act.Join.N, fired+open < act.Join.N)
	}
	return answer(open == 0 && fired > 0 && failed == 0, failed > 0 || open == 0)
}

func (l *ledger) edge(e flow.Edge) string {
	src := l.wf.Graph.Activities[e.From]
	b := l.books[spot{activity: src.ID}]
	if b == nil || b.over == "" {
		return ""
	}
	ports, plain, dead := map[string]bool{flow.PortDone: true}, false, "skip"
	switch b.over {
	case ActivityCompleted:
		good := true
		switch src.Type {
		case flow.TypeSwitch:
			good = len(src.Switch.Cases) == 1 && src.Switch.Default == ""
		case flow.TypeHuman:
			good = b.outcome == src.Human.Outcomes[0]
		case flow.TypeEvent:
			good = b.outcome == "received"
		}
		plain = good
		ports[flow.PortSuccess] = good || src.Type == flow.TypeSwitch
		ports[b.outcome] = b.outcome != ""
	case ActivityFailed, ActivityTimedOut:
		plain = src.Continues
		if !plain && !l.taken(src, b.err) {
			dead = "fail"
		}
	case ActivitySkipped:
		plain = src.SkipPasses && b.reason == "when_false"
		ports[flow.PortSkipped], ports[flow.PortSuccess] = true, plain
		if b.reason == "upstream_failed" {
			dead = "fail"
		}
	case ActivityCancelled:
		return "fail"
	}
	for _, port := range e.Ports {
		caught := port.Name == flow.PortFailure && (b.over == ActivityFailed || b.over == ActivityTimedOut) && catches(port, b.err)
		if caught || port.Name != flow.PortFailure && ports[port.Name] {
			return "fires"
		}
	}
	if e.Plain && plain {
		return "fires"
	}
	return dead
}

func catches(port flow.Port, err *Error) bool {
	return len(port.Errors) == 0 || err != nil && retry.Matches(port.Errors, err.Type, err.Class)
}

// taken: some edge of the file names this failure.
func (l *ledger) taken(src *flow.Activity, err *Error) bool {
	for _, act := range l.wf.Graph.Activities {
		for _, e := range act.In {
			for _, port := range e.Ports {
				if l.wf.Graph.Activities[e.From] == src && port.Name == flow.PortFailure && catches(port, err) {
					return true
				}
			}
		}
	}
	return false
}
