package timeline

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"weftline/views/state"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func until(ms int) *time.Time { t := at(ms); return &t }

func subject(now int, end *time.Time) Subject {
	return Subject{
		Start: start, End: end, Now: at(now),
		Label: strings.ToUpper,
		Look:  func(string, string) state.Look { return state.Of("completed") },
	}
}

func TestAttemptsAndPausesStandOnTheAxis(t *testing.T) {
	chart := Build([]Span{
		{Activity: "b", Kind: Attempt, Attempt: 1, State: "failed", From: at(500), To: until(1000), Words: "http.500"},
		{Activity: "b", Kind: Pause, Attempt: 1, From: at(1000), To: until(1500)},
		{Activity: "b", Kind: Attempt, Attempt: 2, State: "completed", From: at(1500), To: until(2000)},
		{Activity: "a", Kind: Attempt, Attempt: 1, State: "completed", From: at(0), To: until(500)},
	}, subject(9000, until(2000)))
	if chart.Live || chart.End-chart.Start != 2000 {
		t.Errorf("axis: %+v", chart)
	}
	if chart.Rows[0].Label != "A" || chart.Rows[1].Words != "2 attempts, 1.5 s" {
		t.Errorf("rows: %+v", chart.Rows)
	}
	failed := chart.Rows[1].Bars[0]
	if failed.X != "25.00%" || failed.W != "25.00%" || failed.Class != "bar bar-attempt tone-failed" ||
		failed.Tip != "Attempt 1, failed: 500 ms (http.500)" {
		t.Errorf("bar: %+v", failed)
	}
}

func TestAWaitIsNoAttempt(t *testing.T) {
	chart := Build([]Span{{Activity: "ask", Kind: Wait, State: "human", From: at(1000)}}, subject(4000, nil))
	bar := chart.Rows[0].Bars[0]
	if bar.Class != "bar bar-wait tone-person" || bar.To != 0 || bar.W != "75.00%" || bar.Tip != "Waiting for a person: 3 s so far" {
		t.Errorf("bar: %+v", bar)
	}
	if !chart.Live {
		t.Error("an execution that goes on must grow")
	}
}

func TestShortBarsStayVisibleAndInside(t *testing.T) {
	chart := Build([]Span{{Activity: "a", Kind: Attempt, State: "completed", From: at(100_000), To: until(100_000)}}, subject(0, until(100_000)))
	if bar := chart.Rows[0].Bars[0]; bar.X != "99.60%" || bar.W != "0.40%" {
		t.Errorf("bar: %+v", bar)
	}
}

func TestTicksAreRound(t *testing.T) {
	for span, want := range map[int64][]string{
		2000:               {"0", "500 ms", "1 s", "1.5 s", "2 s"},
		95_000:             {"0", "15 s", "30 s", "45 s", "1 min", "1 min 15 s", "1 min 30 s"},
		3 * 24 * 3_600_000: {"0", "12 h", "1 d", "1 d 12 h", "2 d", "2 d 12 h", "3 d"},
	} {
		var got []string
		for _, tick := range (axis{end: span}).ticks() {
			got = append(got, tick.Label)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ticks of %d ms = %v, want %v", span, got, want)
		}
	}
}

func TestUndoingIsNoFurtherAttempt(t *testing.T) {
	chart := Build([]Span{
		{Activity: "a", Kind: Attempt, Attempt: 1, State: "completed", From: at(0), To: until(500)},
		{Activity: "a", Kind: Attempt, Attempt: 1, State: "compensated", From: at(1500), To: until(2000), Undoing: true},
	}, subject(9000, until(2000)))
	if words := chart.Rows[0].Words; words != "undone, 2 s" {
		t.Errorf("the row says %q", words)
	}
}

// What ended long before it was retried does not squeeze what went on: the time between is a marked break, as wide as
// 8% of the rest, and labels still tell the time since the start.
func TestALongTimeOfNothingIsABreak(t *testing.T) {
	spans := []Span{
		{Activity: "a", Kind: Attempt, Attempt: 1, State: "failed", From: at(0), To: until(5_000)},
		{Activity: "a", Kind: Attempt, Attempt: 2, State: "completed", From: at(360_000), To: until(365_000)},
	}
	chart := Build(spans, subject(400_000, until(365_000)))
	if len(chart.Breaks) != 1 || chart.Breaks[0].Label != "5 min 55 s" || chart.Breaks[0].X != "46.30%" || chart.Breaks[0].W != "7.41%" {
		t.Fatalf("breaks: %+v", chart.Breaks)
	}
	bars := chart.Rows[0].Bars
	if bars[0].X != "0.00%" || bars[0].W != "46.30%" || bars[1].X != "53.70%" || bars[1].W != "46.30%" {
		t.Errorf("bars: %+v", bars)
	}
	if last := chart.Ticks[len(chart.Ticks)-1]; last.Label != "6 min 4 s" || last.X != "90.74%" {
		t.Errorf("ticks: %+v", chart.Ticks)
	}
	// A wait is something that goes on, and the end of what goes on is no break.
	spans[0].To = until(360_000)
	if chart = Build(spans, subject(400_000, until(365_000))); len(chart.Breaks) != 0 || chart.Gaps != "" {
		t.Errorf("breaks within what goes on: %+v", chart.Breaks)
	}
	spans[0].To = until(5_000)
	if chart = Build(spans[:1], subject(400_000, nil)); len(chart.Breaks) != 0 {
		t.Errorf("the end of a growing axis is a break: %+v", chart.Breaks)
	}
}
