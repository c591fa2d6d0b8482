package web

import (
	"testing"
	"time"

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
	until := time.Now().Add(time.Hour)
	run.WaitsFor[0].Name = "Approve the refund"
	if row := runRow(run); row.Words != "at Approve the refund and 1 more place" {
		t.Errorf("got %q", row.Words)
	}
	run.WaitsFor = []engine.WaitSummary{{Kind: "timer", Activity: "pause", Until: &until}}
	if row := runRow(run); row.Look.Word != "Waiting for time" || row.Words != "at pause" || row.Until == nil {
		t.Errorf("a timer: %+v", row)
	}
	run.WaitsFor = []engine.WaitSummary{{Kind: "quarantine"}}
	if row := runRow(run); row.Look.Word != "Quarantined" || row.Words != "" {
		t.Errorf("set aside: %+v", row)
	}
}
