package activity

import "weftline/engine/execution"

// masked removes secrets from an outcome, so that an answer that repeats what it was sent does not carry
// them into histories.
func (o Outcome) masked(secrets []string) Outcome {
	scrubber := execution.NewScrubber(secrets)
	o.Value, o.Err = scrubber.Value(o.Value), scrubber.Error(o.Err)
	return o
}
