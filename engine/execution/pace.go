package execution

import (
	"fmt"
	"strconv"

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
	name := "workflow:" + d.wf.Name
	if d.wf.Limits.ConcurrencyKey == nil {
		return name, nil
	}
	k, err := d.read(place{}).eval(d.wf.Limits.ConcurrencyKey)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:%v", name, k), nil
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
