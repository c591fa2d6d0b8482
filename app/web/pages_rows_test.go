package web

import (
	"testing"

	"weftline/engine"
)

func TestAListSaysWhatAnExecutionWaitsFor(t *testing.T) {
	run := engine.ExecutionSummary{Status: "waiting"}
	if row := runRow(run); row.Look.Word != "Waiting" || row.Words != "" {
		t.Errorf("nothing known: %+v", row)
	}
	run.WaitsFor = []engine.WaitSummary{{Kind: "human", Activity: "approve"}, {Kind: "event", Activity: "reply"}}
	if row := runRow(run); row.Look.Word != "Waiting for a person" || row.Words != "at approve and 1 more place" {
		t.Errorf("a person and an event: %+v", row)
	}
}
