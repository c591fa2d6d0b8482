package worker

import (
	"time"

	"weftline/engine/execution"
	"weftline/engine/store"
)

// Reasons for which a driver lets go beside those of execution.Handback.
const (
	handbackStep     = "step"     // mode server hands over after each activity
	handbackDrain    = "drain"    // the worker stops
	handbackPriority = "priority" // something more urgent needs the place
	handbackAttended = "attended" // nobody serves it: what needs no worker is done
)

// count notes what durable events say.
func (p *Pool) count(l *store.Loaded, events []execution.Event) {
	p.tellEvents(l, events)
	for _, event := range events {
		switch event.Type {
		case execution.ActivityRetryScheduled:
			p.Figures.Retry()
		case execution.ActivityFailed, execution.ActivityTimedOut:
			if failed, ok := event.Data.(*execution.Failed); ok && failed.Error != nil {
				p.Figures.Failed(failed.Error.Class)
			}
		}
	}
	if len(events) > 0 && l.State.Terminal() && l.State.Result != nil {
		p.Figures.Ended(l.State.Status, events[len(events)-1].At.Sub(time.UnixMilli(l.State.Started)))
	}
}

// countLeft notes why the driver let go.
func (d *driver) countLeft(leave *store.Leave) {
	reason := d.giving
	if !leave.Release {
		reason, _ = execution.Handback(d.exec.Definition.Workflow, d.exec.State)
	}
	d.pool.Figures.HandedBack(reason, d.steps, leave.Release)
}
