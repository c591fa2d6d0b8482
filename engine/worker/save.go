package worker

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/notify"
	"weftline/engine/store"
)

// Defaults of local_async, where the definition says nothing.
const (
	defaultMaxActivities = 64
	defaultFlushEvery    = 50 * time.Millisecond
)

// checkpointing knows what was written since the state was stored last.
type checkpointing struct {
	since int // bytes of history since the last checkpoint
	size  int // of the last checkpoint
}

// checkpointRule says when to store the state again: when the history since is worth it, and large against the
// state itself, so that both writing and loading stay in proportion to what happens.
type checkpointRule struct {
	least int // bytes of history
	times int // the last checkpoint's size
}

// checkpoints is the rule; BenchmarkCheckpoints measured it against others (docs/decisions/0014-checkpoints.md).
var checkpoints = checkpointRule{least: 256 << 10, times: 2}

func (r checkpointRule) due(c checkpointing) bool { return c.since > max(r.least, r.times*c.size) }

// saveOrLeave makes what was decided durable where the mode asks for it, and leaves an execution that has
// nothing to do here. left is the end of the driver's round, err errLeft the end of the driver.
func (d *driver) saveOrLeave(pending []execution.Work) (left bool, err error) {
	if leave := d.leave(pending); leave != nil {
		return true, d.save(leave)
	}
	if len(pending) == 0 && len(d.attempts) == 0 && d.opensSomething() {
		return true, d.save(nil) // the next round parks it, unless what it asked for was there already
	}
	if len(pending) == 0 && len(d.attempts) == 0 || d.mustSave() {
		return false, d.save(nil)
	}
	return false, nil
}

// leave says how to leave the execution, nil to go on with it.
func (d *driver) leave(pending []execution.Work) *store.Leave {
	switch {
	case len(d.attempts) > 0, len(d.lent) > 0 && !d.pool.isClosing():
		return nil
	case len(pending) > 0:
		return d.release()
	case len(d.inbox) > 0 || d.opensSomething():
		return nil
	}
	due, ok := execution.NextDue(d.exec.State)
	if ok && due.Sub(d.now()) < shortWait && !d.pool.isClosing() {
		return nil
	}
	return &store.Leave{Wakes: d.wakes, Due: due}
}

// release leaves an execution that has work to do to any worker, if there is a reason. One that is attended keeps its
// place in line, and a timer in case that it is still there when something is due.
func (d *driver) release() *store.Leave {
	if d.giving = d.handsOver(); d.giving == "" {
		return nil
	}
	leave := &store.Leave{Release: true}
	if d.attends {
		leave.Attended = d.wakes
		leave.Due, _ = execution.NextDue(d.exec.State)
	}
	return leave
}

// handsOver is why an execution with work to do goes back to the queue, "" when it stays.
func (d *driver) handsOver() string {
	switch {
	case d.attends:
		return handbackAttended
	case d.pool.isClosing():
		return handbackDrain
	case d.mode() == ModeServer && d.steps > 0:
		return handbackStep
	case d.givesPlace():
		return handbackPriority
	}
	return ""
}

// opensSomething reports that what is about to be saved asks for something that may be there already: an
// event kept for a wait, a free permit. The execution is parked only after it looked.
func (d *driver) opensSomething() bool {
	for _, event := range d.unsaved.events {
		if waiting, ok := event.Data.(*execution.Waiting); ok && (waiting.Kind == "event" || waiting.Kind == "limit") {
			return true
		}
		if begun, ok := event.Data.(*execution.ChildBegun); ok && begun.Joined {
			return true
		}
	}
	return false
}

// mustSave reports whether the mode lets the next activity start only after a commit.
func (d *driver) mustSave() bool {
	if d.mode() != ModeLocalAsync || d.unsaved.must {
		return true
	}
	if d.unsaved.steps >= maxActivities(d.exec.Definition) || time.Since(d.unsaved.since) >= d.flushEvery() {
		return true
	}
	_, boundary := execution.Handback(d.exec.Definition.Workflow, d.exec.State)
	return boundary
}

func (d *driver) mode() string { return d.exec.State.Created.Mode }

// maxActivities bounds what local_async leaves unsaved.
func maxActivities(definition *store.Definition) int {
	if n := definition.Mode.MaxActivities; n > 0 {
		return n
	}
	return defaultMaxActivities
}

func (d *driver) flushEvery() time.Duration {
	if every := d.exec.Definition.Mode.FlushEvery; every > 0 {
		return every
	}
	return defaultFlushEvery
}

// save makes everything decided durable. With leave it ends in errLeft unless somebody woke the execution
// in the meantime; then its inbox was read.
func (d *driver) save(leave *store.Leave) error {
	if leave == nil && d.unsaved.empty() {
		return nil
	}
	flush, err := d.pool.compose(d.ctx, d.exec, d.unsaved.events)
	if err != nil {
		return err
	}
	flush.Drained, flush.Leave = d.unsaved.drained, leave
	flush.Offers, flush.Withdrawn = d.unsaved.offers, d.unsaved.withdraw
	flush.Released = append(flush.Released, d.unsaved.giveBack...)
	flush.Recovered = d.exec.Crashes > 0 && slices.ContainsFunc(d.unsaved.events, func(e execution.Event) bool { return e.Type.Progress() })
	if err := d.checkpoint(flush); err != nil {
		return err
	}
	written, err := d.pool.Store.Commit(d.ctx, flush)
	if err != nil {
		return err
	}
	if flush.Recovered {
		d.exec.Crashes = 0
		d.clear()
	}
	d.pool.count(d.exec, d.unsaved.events)
	d.unsaved = unsaved{events: d.unsaved.events[:0]}
	if len(flush.Events) > 0 {
		d.exec.LastSeq = flush.LastSeq
	}
	d.pool.committed(d.exec, flush)
	return d.afterSave(flush, written)
}

func (u *unsaved) empty() bool {
	return len(u.events)+len(u.drained)+len(u.offers)+len(u.withdraw) == 0
}

// checkpoint adds the state to a flush whose last event it is at.
func (d *driver) checkpoint(flush *store.Flush) (err error) {
	if len(flush.Events) == 0 {
		return nil
	}
	d.saved.since += len(flush.Events)
	if !checkpoints.due(d.saved) {
		return nil
	}
	if flush.Checkpoint, err = execution.EncodeState(d.exec.State); err != nil {
		return err
	}
	d.saved = checkpointing{size: len(flush.Checkpoint)}
	return nil
}

func (d *driver) afterSave(flush *store.Flush, written store.Written) error {
	switch {
	case flush.Leave != nil && written.Parked:
		d.countLeft(flush.Leave)
		d.keep()
		d.pool.parked(flush)
		return errLeft
	case flush.Leave != nil:
		return d.look()
	}
	if err := d.takeKept(flush.WaitsOpen); err != nil {
		return err
	}
	if len(flush.Joins) > 0 {
		if err := d.lookJoined(); err != nil {
			return err
		}
	}
	if len(flush.Asked) == 0 {
		return nil
	}
	return d.look()
}

// keep leaves the state for whoever comes back to the execution in this process. Nothing may touch it after.
func (d *driver) keep() {
	if d.exec.State.Terminal() {
		return
	}
	left := *d.exec
	left.Base, left.Tail = d.saved.size, d.saved.since
	d.pool.Store.Keep(&left)
}

// takeKept looks for events that came before their waits were opened.
func (d *driver) takeKept(waits []execution.WaitRow) error {
	taken := 0
	for _, wait := range waits {
		count := 1
		if a := d.exec.Definition.Activity(wait.Activity); a != nil && a.Event != nil {
			count = max(1, a.Event.Count)
		}
		n, err := d.pool.Store.TakeKept(d.ctx, d.exec, wait, count)
		if err != nil {
			return err
		}
		taken += n
	}
	if taken == 0 {
		return nil
	}
	return d.look()
}

// committed tells everybody who is affected by a flush.
func (p *Pool) committed(l *store.Loaded, flush *store.Flush) {
	p.applied(l.ID, flush.Drained)
	changes := []notify.Change{p.changeOf(l, flush)}
	var woken []uuid.UUID
	for _, notice := range flush.Notices {
		woken = append(woken, notice.To)
	}
	for _, child := range flush.Children {
		woken = append(woken, child.Execution)
		changes = append(changes, notify.Change{Team: child.Team, Execution: child.Execution, Workflow: child.Workflow,
			LastSeq: child.LastSeq, Status: child.Begin.Status})
	}
	p.Changed(changes)
	p.Hint(notify.Hint{Changes: changes})
	if slices.ContainsFunc(flush.Offers, p.ableTo) {
		p.workOffered()
	}
	if len(woken) > 0 {
		p.Wake(woken...)
	}
	if len(flush.Released) > 0 || len(flush.Asked) > 0 || flush.Ended && flush.HasLimits {
		p.lookAround()
	}
}

func (p *Pool) changeOf(l *store.Loaded, flush *store.Flush) notify.Change {
	return notify.Change{Team: l.Team, Execution: l.ID, Workflow: l.Definition.Name, LastSeq: l.LastSeq,
		Status: l.State.Status, Tasks: len(flush.Tasks) > 0, Work: len(flush.Offers) > 0}
}

// parked tells the timer loop or the claim loop what was left to them.
func (p *Pool) parked(flush *store.Flush) {
	if flush.Leave.Release {
		p.look()
		p.Hint(notify.Hint{Ready: true})
	}
	if due := flush.Leave.Due; !due.IsZero() {
		p.TimerSet(due.Sub(p.Store.Clock.Now()))
	}
}
