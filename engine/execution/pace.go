package execution

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// paced reports whether limits.maxPerSecond counts the starts of an activity: those of the graph that a
// worker makes, and child executions. What cleans up is not slowed down.
func paced(wf *flow.Workflow, p place) bool {
	return wf.Limits.MaxPerSecond > 0 && p.hook == "" && !p.undo && !parks(p.act) && !pure(p.act.Type)
}

// askTurn asks for the turn of one attempt. Whoever keeps the limit answers with the instant at which it may
// start, so nobody asks twice.
func (d *decider) askTurn(p place) {
	name, err := d.paceName()
	if err != nil {
		d.failed(p, asFailure(err))
		return
	}
	rate := d.wf.Limits.MaxPerSecond
	d.about(ActivityWaiting, p, &Waiting{Kind: waitLimit, Name: name, PerSecond: rate,
		Reason: "waits for its turn: " + strconv.FormatFloat(rate, 'f', -1, 64) + " activities may start a second"})
}

// paceName is that of the workflow's pool: one for each concurrencyKey.
func (d *decider) paceName() (string, error) {
	if d.wf.Limits.ConcurrencyKey == nil {
		return poolName(d.wf, twin{}), nil
	}
	key, err := d.read(place{}).twin(func(r reader) (any, error) { return r.eval(d.wf.Limits.ConcurrencyKey) })
	return poolName(d.wf, key), err
}

// PoolName names the concurrency pool that an execution with this input belongs to; hidden are names of inputs
// that are sensitive although the schema does not say so.
func PoolName(wf *flow.Workflow, input map[string]any, hidden []string) (string, error) {
	if wf.Limits.ConcurrencyKey == nil {
		return poolName(wf, twin{}), nil
	}
	value, err := wf.Limits.ConcurrencyKey.Eval(expr.Roots{"inputs": input})
	if err != nil {
		return "", err
	}
	shown, err := wf.Limits.ConcurrencyKey.Eval(expr.Roots{"inputs": maskInput(wf, input, hidden)})
	if err != nil {
		shown = Mask
	}
	return poolName(wf, twin{value, difference(value, shown)}), nil
}

// poolName is stored in plain, so a key that depends on something sensitive is hashed.
func poolName(wf *flow.Workflow, key twin) string {
	name := "workflow:" + wf.Name
	switch {
	case wf.Limits.ConcurrencyKey == nil:
		return name
	case key.shown != nil:
		return fmt.Sprintf("%s:%x", name, sha256.Sum256(fmt.Append(nil, key.value)))
	}
	return fmt.Sprintf("%s:%v", name, key.value)
}

// turn takes the instant from which on an attempt may start.
func (d *decider) turn(p place, found bool, granted *Permit) error {
	if !found || p.run.Phase != waiting || !p.run.Wait.Paced || p.run.Wait.Until != 0 || p.run.Wait.Name != granted.Name {
		return stale("%s waits for no turn of %s", granted.Activity, granted.Name)
	}
	if granted.At.UnixMilli() > d.now {
		d.about(TimerScheduled, p, &Timer{Until: instant(granted.At.UnixMilli())})
		return nil
	}
	d.about(PermitAcquired, p, &PermitNamed{Name: granted.Name})
	return nil
}

// permitted lets an activity go on that waited for a permit or for its turn.
func (f *fold) permitted(p place) {
	if p.run.Wait != nil && p.run.Wait.Paced {
		p.run.MayStart = true
	} else {
		p.run.Held = true
	}
	p.run.Wait = nil
	f.unschedule(p, timerWait)
	f.move(p, ready)
	f.enqueue(p)
}
