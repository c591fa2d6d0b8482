package retry

import (
	"testing"
	"time"

	"weftline/engine/flow"
)

func TestPausesGrowAndStayWithinTheirBound(t *testing.T) {
	for _, strategy := range []string{"fixed", "linear", "exponential"} {
		for _, jitter := range []string{"none", "full"} {
			policy := flow.Retry{Strategy: strategy, Delay: 2 * time.Second, MaxDelay: time.Minute, Jitter: jitter}
			last := time.Duration(0)
			for n := 1; n <= 10_000; n++ {
				p := Pause(policy, n, uint64(n)*7919)
				if p <= 0 || p > policy.MaxDelay {
					t.Fatalf("%s, jitter %s: pause %d is %s", strategy, jitter, n, p)
				}
				if jitter == "none" && p < last {
					t.Fatalf("%s: pause %d is %s after %s", strategy, n, p, last)
				}
				last = p
			}
		}
	}
	if p := Pause(flow.Retry{Strategy: "exponential", Delay: time.Hour}, 10_000, 0); p <= 0 {
		t.Errorf("without a ceiling the pause is %s", p)
	}
}

func TestJitterSpreadsEvenly(t *testing.T) {
	policy := flow.Retry{Strategy: "fixed", Delay: time.Second, Jitter: "full"}
	var below int
	for seed := range uint64(1000) {
		if Pause(policy, 1, seed*0x9e3779b97f4a7c15) < 500*time.Millisecond {
			below++
		}
	}
	if below < 430 || below > 570 {
		t.Errorf("%d of 1000 pauses are in the lower half", below)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, kind, class string
		want                 bool
	}{
		{"http.404", "http.404", "", true}, {"http.404", "http.4040", "", false},
		{"http.5xx", "http.503", "", true}, {"http.5xx", "http.404", "", false}, {"http.5xx", "http.5", "", false},
		{"http.5xx", "http.5ab", "", false}, {"http.5xx", "http.5033", "", false},
		{"transport.*", "transport.dns", "", true}, {"transport.*", "transport", "", false}, {"transport.*", "transports.x", "", false},
		{"*", "anything", "", true}, {"class.external", "http.404", "external", true}, {"class.external", "http.404", "activity", false},
		{"order.declined", "order.declined.late", "", false},
	} {
		if got := Matches([]string{c.pattern}, c.kind, c.class); got != c.want {
			t.Errorf("%s on %s (%s) is %v", c.pattern, c.kind, c.class, got)
		}
	}
}

func TestNext(t *testing.T) {
	policy := flow.Retry{Attempts: 3, Strategy: "fixed", Delay: time.Second, Errors: []string{"http.5xx"}, Except: []string{"http.501"}}
	for _, c := range []struct {
		name string
		try  Try
		want Decision
	}{
		{"again", Try{Type: "http.503", Used: 1}, Decision{Again: true, Pause: time.Second}},
		{"used up", Try{Type: "http.503", Used: 3}, Decision{}},
		{"other error", Try{Type: "http.404", Used: 1}, Decision{}},
		{"excepted", Try{Type: "http.501", Used: 1}, Decision{}},
		{"asked", Try{Type: "http.503", Used: 1, Asked: time.Minute}, Decision{Again: true, Pause: time.Minute}},
		{"asked for too much", Try{Type: "http.503", Used: 1, Asked: time.Hour}, Decision{Again: true, Pause: MaxRetryAfter}},
		{"lost", Try{Type: WorkerLost, Class: ClassInfrastructure, Used: 3}, Decision{Again: true, Free: true}},
		{"lost too often", Try{Type: WorkerLost, Class: ClassInfrastructure, Free: MaxFree}, Decision{}},
		{"ours is broken", Try{Type: "engine.store", Class: ClassInfrastructure, Used: 3}, Decision{Again: true, Free: true, Pause: time.Second}},
	} {
		if got := Next(policy, c.try); got != c.want {
			t.Errorf("%s: %+v, expected %+v", c.name, got, c.want)
		}
	}
	if got := Next(flow.Retry{Attempts: 1, Except: []string{WorkerLost}}, Try{Type: WorkerLost, Class: ClassInfrastructure}); got.Again {
		t.Error("a lost worker that is excepted is tried again")
	}
}

func TestBackoffOfARepeat(t *testing.T) {
	for strategy, want := range map[string]time.Duration{"fixed": time.Minute, "linear": 3 * time.Minute, "exponential": 4 * time.Minute} {
		if got := Backoff(strategy, time.Minute, 3); got != want {
			t.Errorf("%s: %s", strategy, got)
		}
	}
}
