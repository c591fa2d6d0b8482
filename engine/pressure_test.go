package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func testGauge(limits PressureLimits) (*gauge, *bytes.Buffer) {
	var log bytes.Buffer
	return newGauge(limits, nil, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func TestAnEpisodeOfPressureIsToldOnce(t *testing.T) {
	g, log := testGauge(PressureLimits{QueueAge: 10 * time.Second, QueueDepth: 100, Action: PressureReject})
	at := time.Now()
	for i, look := range []struct {
		depth int
		age   float64
		on    bool
	}{
		{100, 10, false}, {101, 1, true}, {90, 1, true}, {120, 1, true}, {75, 7.5, false}, {1, 11, true}, {1, 8, true}, {1, 7, false},
	} {
		g.seen(QueueRow{Depth: look.depth, OldestAge: look.age}, at.Add(time.Duration(i)*time.Second))
		if g.now().On() != look.on {
			t.Errorf("look %d: on is %v", i, g.now().On())
		}
	}
	if n := strings.Count(log.String(), "more work is waiting"); n != 2 {
		t.Errorf("two episodes were told %d times:\n%s", n, log)
	}
}

func TestWhatPressureDoesToStarts(t *testing.T) {
	for _, action := range []string{PressureSlow, PressureQueue, PressureReject} {
		g, _ := testGauge(PressureLimits{QueueDepth: 1, Action: action})
		if err := g.admit(t.Context()); err != nil || g.now().Notice() != "" {
			t.Errorf("%s: without pressure a start is answered %v, %q", action, err, g.now().Notice())
		}
		g.seen(QueueRow{Depth: 5}, time.Now())
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		err := g.admit(gone)
		var refusal *Error
		switch action {
		case PressureSlow: // it waits, so a caller who is gone ends it
			if !errors.Is(err, context.Canceled) {
				t.Errorf("slow answered %v", err)
			}
		case PressureQueue:
			if err != nil {
				t.Errorf("queue answered %v", err)
			}
		case PressureReject:
			if !errors.As(err, &refusal) || refusal.Code != "not_ready" || refusal.RetryAfterSeconds == 0 {
				t.Errorf("reject answered %v", err)
			}
		}
		if notice := g.now().Notice(); !strings.Contains(notice, "5 executions") {
			t.Errorf("%s: the notice is %q", action, notice)
		}
	}
}
