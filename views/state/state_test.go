package state

import (
	"testing"

	"weftline/engine/execution"
)

func TestWaitingNeverLooksLikeRunning(t *testing.T) {
	running := Of("running")
	for _, kind := range []string{"timer", "event", "human", "child", "retry", "limit", "queue", "something new"} {
		wait := execution.WaitDetail{Kind: kind}
		look := ForActivity("waiting", &wait)
		if look.Tone == running.Tone || look.Mark == running.Mark || look.Word == running.Word {
			t.Errorf("waiting by %s looks like running: %+v", kind, look)
		}
	}
	if look := ForExecution("waiting", nil); look.Tone == running.Tone {
		t.Errorf("a waiting execution without waits looks like running: %+v", look)
	}
}

func TestAPersonIsThePressingWait(t *testing.T) {
	waits := []execution.WaitDetail{{Kind: "timer"}, {Kind: "human"}, {Kind: "event"}}
	if got := ForExecution("waiting", waits).Tone; got != "person" {
		t.Errorf("tone = %q, want person", got)
	}
	if got := ForExecution("running", waits).Tone; got != "running" {
		t.Errorf("tone of a running execution = %q", got)
	}
}

func TestUnknownStatusIsShown(t *testing.T) {
	if got := Of("hibernating").Word; got != "hibernating" {
		t.Errorf("word = %q", got)
	}
}
