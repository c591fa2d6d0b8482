package execution

import "weftline/engine/flow"

// Masked is an event as people may see it: with the twin of a value in its place. The stored event keeps the
// value, since activities need it.
func Masked(wf *flow.Workflow, ev Event) Event {
	switch d := ev.Data.(type) {
	case *Created:
		c := *d
		c.Input = maskInput(wf, d.Input, d.Hidden)
		c.Trigger = maskTrigger(d.Trigger, d.Sensitive || len(d.Hidden) > 0 || wf.Input != nil && marksSensitive(wf.Input.Source))
		ev.Data = &c
	case *Retried:
		c := *d
		c.Input = maskInput(wf, d.Input, d.Hidden)
		ev.Data = &c
	case *Variables:
		c := *d
		if d.Shown != nil {
			c.Variables, c.Shown = d.Shown, nil
		}
		ev.Data = &c
	case *Ending:
		c := *d
		c.Output, c.Shown = seen(d.Output, d.Shown), nil
		ev.Data = &c
	case *Ended:
		c := *d
		c.Output, c.Shown = seen(d.Output, d.Shown), nil
		ev.Data = &c
	default:
		ev.Data = maskedStep(ev.Data)
	}
	return ev
}

func maskedStep(data any) any {
	switch d := data.(type) {
	case *LoopStarted:
		c := *d
		if d.Shown != nil {
			c.Items, c.Shown = d.Shown, nil
		}
		return &c
	case *Completed:
		c := *d
		c.Output, c.Shown = seen(d.Output, d.Shown), nil
		return &c
	case *ItemEnded:
		c := *d
		c.Result, c.Shown = seen(d.Result, d.Shown), nil
		return &c
	case *Received:
		c := *d
		c.Payload, c.Shown = seen(d.Payload, d.Shown), nil
		return &c
	case *TaskVoted:
		c := *d
		c.Form, c.Shown = seen(d.Form, d.Shown), nil
		return &c
	case *ChildBegun:
		c := *d
		c.Input = maskNames(d.Input, d.Hidden)
		return &c
	}
	return data
}
