package execution

import (
	"strings"
	"testing"
	"time"

	"weftline/engine/execution"
	"weftline/views/ui"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) *time.Time { t := start.Add(time.Duration(seconds) * time.Second); return &t }

func facts(status string) Facts {
	return Facts{
		ID: "0190-abcdef12", Workflow: "refund", Version: 3, Now: *at(60), MayOperate: true,
		Activities: []Activity{{"charge", "Charge the card", "http", 5}, {"ask", "Manager approval", "human", 1}, {"tell", "", "http", 1}},
		Detail: execution.Detail{Status: status, StartedAt: at(0), Activities: map[string]execution.ActivityDetail{
			"charge": {Status: "completed", Attempt: 1, StartedAt: at(0), FinishedAt: at(2)},
		}},
	}
}

func TestAPersonIsWaitedFor(t *testing.T) {
	f := facts("waiting")
	f.Detail.Activities["ask"] = execution.ActivityDetail{Status: "waiting"}
	f.Detail.Waits = []execution.WaitDetail{
		{Activity: "tell", Kind: "timer", Since: *at(3), Until: at(90), Reason: "waits 90s"},
		{Activity: "ask", Kind: "human", Since: *at(2), Task: "t-1", Reason: "waits for a person"},
	}
	f.Asked = map[string]string{"t-1": "group managers"}
	v := Build(f)
	first := v.Lines[0]
	if first.Text != "Waiting for a person:" || first.Name != "Manager approval" || first.LinkURL != "/tasks/t-1" || first.Reason != "asks group managers" {
		t.Errorf("first line: %+v", first)
	}
	if v.Look.Tone != "person" || v.States["ask"].State != "waiting_person" || v.Detail.ID != "ask" {
		t.Errorf("look %v, node %v, details of %q", v.Look, v.States["ask"], v.Detail.ID)
	}
	if !v.Actions.Cancel || !v.Actions.Pause || v.Actions.Retry {
		t.Errorf("actions: %+v", v.Actions)
	}
}

func TestARetryingActivitySaysWhichAttemptIsNext(t *testing.T) {
	f := facts("waiting")
	f.Detail.Activities["charge"] = execution.ActivityDetail{Status: "retrying", Attempt: 1}
	f.Detail.Waits = []execution.WaitDetail{{Activity: "charge", Kind: "retry", Since: *at(2), Until: at(10)}}
	node := Build(f).States["charge"]
	if node.State != "retrying" || node.Label != "Attempt 2 of 5" || !node.Until.Equal(*at(10)) {
		t.Errorf("node: %+v", node)
	}
}

func TestAFailureSaysWhereWhyAndWhatNext(t *testing.T) {
	f := facts("failed")
	f.Detail.FinishedAt = at(30)
	f.Detail.Compensation = "incomplete"
	f.Detail.Error = &execution.Error{Type: "http.503", Message: "service unavailable", Activity: "charge", Attempt: 5}
	v := Build(f)
	line := v.Lines[0]
	if line.Text != "Failed at" || line.Name != "Charge the card" || !strings.Contains(line.Reason, "http.503: service unavailable (attempt 5 of 5)") || line.Advice == "" {
		t.Errorf("line: %+v", line)
	}
	if !v.Actions.Retry || retryWords(v.Actions) != "Retry from ‘Charge the card’" || !v.Actions.Compensate {
		t.Errorf("actions: %+v", v.Actions)
	}
}

func TestWhatWasUndoneIsStartedAgain(t *testing.T) {
	f := facts("compensated")
	f.Detail.FinishedAt = at(30)
	f.Detail.Compensation = "complete"
	f.Detail.Error = &execution.Error{Type: "http.409", Message: "conflict", Activity: "charge"}
	line := Build(f).Lines[0]
	if line.Text != "Compensated after a failure at" || !strings.Contains(line.Advice, "start a new execution") {
		t.Errorf("line: %+v", line)
	}
}

func TestCompletedSaysHowLong(t *testing.T) {
	f := facts("completed")
	f.Detail.FinishedAt = at(12)
	v := Build(f)
	if v.Lines[0].Text != "Completed in 12 s" || v.Actions != (Actions{Again: true}) || v.States["charge"].Label != "Completed in 2 s" || v.States["charge"].Port != "success" {
		t.Errorf("line %+v, actions %+v, node %+v", v.Lines[0], v.Actions, v.States["charge"])
	}
}

// The graph says how many attempts were made, when there were several.
func TestACompletedActivitySaysItsAttempts(t *testing.T) {
	f := facts("completed")
	charge := f.Detail.Activities["charge"]
	charge.Attempt = 2
	f.Detail.Activities["charge"] = charge
	if label := Build(f).States["charge"].Label; label != "Completed in 2 s, 2 attempts" {
		t.Errorf("label %q", label)
	}
}

// Retry keeps version and input, so advice that asks for another one names the way to it.
func TestAdviceSaysWhatARetryKeeps(t *testing.T) {
	for _, kind := range []string{"http.404", "timeout", "expr", "script.thrown"} {
		if words := advice(kind); !strings.HasSuffix(words, keeps) || strings.Contains(words, "then retry") {
			t.Errorf("%s: %s", kind, words)
		}
	}
}

func TestManyPlacesAreSummedUp(t *testing.T) {
	f := facts("waiting")
	for range 9 {
		f.Detail.Waits = append(f.Detail.Waits, execution.WaitDetail{Activity: "tell", Kind: "event", Since: *at(1)})
	}
	v := Build(f)
	if n := len(v.Lines); n != MostLines+1 || v.Lines[n-1].Text != "and 5 more places" {
		t.Errorf("%d lines, last %+v", n, v.Lines[n-1])
	}
}

func TestWhoMayOnlyLookHasNoActions(t *testing.T) {
	f := facts("running")
	f.MayOperate = false
	if got := Build(f).Actions; got != (Actions{}) {
		t.Errorf("actions: %+v", got)
	}
}

func TestHooksShowHowTheyWent(t *testing.T) {
	f := facts("completed")
	f.Activities = append(f.Activities, Activity{"tidy", "Tidy up", "set", 1})
	f.Detail.Hooks = map[string]map[string]execution.ActivityDetail{
		"onExit": {"tidy": {Status: "completed", Attempt: 1, StartedAt: at(2), FinishedAt: at(3)}}}
	v := Build(f)
	if v.States["tidy"].State != "completed" || v.States["tidy"].Label != "Completed in 1 s" {
		t.Errorf("node: %+v", v.States["tidy"])
	}
	if v.Detail.ID != "charge" {
		t.Errorf("a hook that went well stands before the work: %q", v.Detail.ID)
	}
	f.Selected = "tidy"
	if v = Build(f); v.Detail.Took != "1 s" || v.Detail.Look.Word != "Completed" {
		t.Errorf("details: %+v", v.Detail)
	}
}

func TestWhoRunsItAndHowFreshWhatIsStoredIs(t *testing.T) {
	saved := start.Add(60*time.Second - 30*time.Millisecond)
	f := facts("running")
	f.Detail.Mode, f.Worker, f.SavedAt = "local_sync", "host-1 12345678", &saved
	find := func(v View) *Fact {
		for _, fact := range v.Facts {
			if fact.Label == "Running" {
				return &fact
			}
		}
		return nil
	}
	if fact := find(Build(f)); fact == nil || fact.Value != "locally on worker host-1 12345678" || ui.AgoPrecisely(*fact.Saved, f.Now) != "30 ms ago" {
		t.Errorf("%+v", fact)
	}
	f.Detail.Mode = "server"
	if fact := find(Build(f)); fact == nil || !strings.HasPrefix(fact.Value, "step by step on worker") {
		t.Errorf("%+v", fact)
	}
	f.Detail.Status = "completed"
	if fact := find(Build(f)); fact != nil {
		t.Errorf("an ended one still runs: %+v", fact)
	}
}
