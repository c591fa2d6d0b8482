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

// WithoutMasks is a value as people see it, without what is masked in it: fields, and lists of which an item is.
// leftOut reports whether there was any.
func WithoutMasks(shown any) (rest any, leftOut bool) {
	switch shown := shown.(type) {
	case map[string]any:
		kept := make(map[string]any, len(shown))
		for name, field := range shown {
			part, less := WithoutMasks(field)
			leftOut = leftOut || less
			if part != nil || !less {
				kept[name] = part
			}
		}
		return kept, leftOut
	case []any:
		kept := make([]any, len(shown))
		for i, item := range shown {
			part, less := WithoutMasks(item)
			if less && part == nil {
				return nil, true
			}
			kept[i], leftOut = part, leftOut || less
		}
		return kept, leftOut
	}
	if shown == Mask {
		return nil, true
	}
	return shown, false
}

// HoldsMasks reports whether a value has the mask itself where people see a mask for what is there: what was shown came
// back as if it were the value.
func HoldsMasks(value, shown any) bool {
	switch shown := shown.(type) {
	case map[string]any:
		fields, _ := value.(map[string]any)
		for name, field := range shown {
			if HoldsMasks(fields[name], field) {
				return true
			}
		}
	case []any:
		items, _ := value.([]any)
		for i, item := range shown {
			if i < len(items) && HoldsMasks(items[i], item) {
				return true
			}
		}
	}
	return shown == Mask && value == Mask
}
