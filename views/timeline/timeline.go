// Package timeline owns the picture of a history: one row an activity, bars for attempts and waits on one
// time axis. Build is pure; positions are shares of the axis, so scripts can let a running picture grow.
// Long stretches in which nothing goes on are marked breaks. It must not know where a history comes from.
package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"weftline/views/state"
	"weftline/views/ui"
)

// Kinds of spans.
const (
	Queued  = "queued"  // ready, not yet started
	Attempt = "attempt" // being run
	Wait    = "wait"    // parked: time, event, person, child, limit
	Pause   = "retry"   // between two attempts
)

// Span is one stretch of an activity's life. A span without To goes on.
type Span struct {
	Activity, Item string
	Attempt        int
	Kind           string
	State          string // how it ended: completed, failed …; of a wait its kind
	From           time.Time
	To             *time.Time
	Words          string // what a tooltip adds, e.g. the error
	Undoing        bool   // it takes back what was done
}

// Subject is the execution that is drawn.
type Subject struct {
	Start time.Time
	End   *time.Time // nil while it goes on
	Now   time.Time
	Label func(activity string) string
	Look  func(activity, item string) state.Look
}

// Chart is the picture.
type Chart struct {
	Start, End int64 // unix ms of the axis
	Live       bool  // the axis ends now and grows
	Ticks      []Tick
	Breaks     []Break
	Gaps       string // the breaks as scripts read them
	Rows       []Row
	axis       axis
	More       int // rows left out
}

// Tick is a mark of the axis.
type Tick struct {
	X     string // share of the axis, e.g. "25%"
	Label string
}

// Break is a long stretch in which nothing went on, drawn short.
type Break struct {
	X, W, Middle string
	Label        string // how long it was
	From, To     int64
}

// Row is one activity, or one item of a loop body.
type Row struct {
	Activity, Item, Label string
	Look                  state.Look
	Words                 string // "2 attempts, 1.4 s"
	Prefix                string // of Words: what stands before the length
	Since                 int64  // unix ms: the length counts from here while the row goes on; 0 = ended
	Bars                  []Bar
}

// Bar is one span on the axis.
type Bar struct {
	Class    string
	X, W     string
	From, To int64 // unix ms; To 0 = goes on
	Tip      string
}

const (
	maxRows  = 200
	leastPct = 0.4 // a bar narrower than this could not be seen
)

// Build draws the spans, rows in the order in which they began.
func Build(spans []Span, subject Subject) Chart {
	chart := Chart{Start: subject.Start.UnixMilli(), End: subject.Now.UnixMilli(), Live: subject.End == nil}
	if subject.End != nil {
		chart.End = subject.End.UnixMilli()
	}
	chart.End = max(chart.End, chart.Start+1)
	chart.axis = axisOf(spans, chart.Start, chart.End, chart.Live)
	chart.Ticks, chart.Breaks, chart.Gaps = chart.axis.ticks(), chart.axis.shown(), chart.axis.text()
	for _, group := range byRow(spans) {
		if len(chart.Rows) == maxRows {
			chart.More++
			continue
		}
		chart.Rows = append(chart.Rows, row(group, chart, subject))
	}
	return chart
}

// byRow gathers the spans of each activity and item, in the order of their first.
func byRow(spans []Span) [][]Span {
	type key struct{ activity, item string }
	place := map[key]int{}
	var groups [][]Span
	for _, span := range spans {
		k := key{span.Activity, span.Item}
		i, known := place[k]
		if !known {
			i = len(groups)
			place[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], span)
	}
	slices.SortStableFunc(groups, func(a, b []Span) int { return a[0].From.Compare(b[0].From) })
	return groups
}

func row(spans []Span, chart Chart, subject Subject) Row {
	first := spans[0]
	r := Row{
		Activity: first.Activity, Item: first.Item,
		Label: subject.Label(first.Activity),
		Look:  subject.Look(first.Activity, first.Item),
	}
	length := ""
	r.Prefix, length = sum(spans, subject.Now)
	r.Words = r.Prefix + length
	for _, span := range spans {
		r.Bars = append(r.Bars, bar(span, chart, subject.Now))
		if span.To == nil {
			r.Since = first.From.UnixMilli()
		}
	}
	return r
}

func bar(span Span, chart Chart, now time.Time) Bar {
	b := Bar{Class: "bar bar-" + span.Kind + " tone-" + tone(span), From: span.From.UnixMilli(), Tip: tip(span, now)}
	to := chart.End
	if span.To != nil {
		b.To = span.To.UnixMilli()
		to = b.To
	}
	from := chart.axis.share(b.From)
	x := clamp(from, 0, 100-leastPct)
	w := clamp(chart.axis.share(to)-from, leastPct, 100-x)
	b.X, b.W = percent(x), percent(w)
	return b
}

func tone(span Span) string {
	switch {
	case span.Kind == Queued:
		return "idle"
	case span.Kind == Pause:
		return "retrying"
	case span.Kind == Wait:
		return state.ForWait(span.State).Tone
	case span.To == nil:
		return "running"
	default:
		return state.Of(span.State).Tone
	}
}

func tip(span Span, now time.Time) string {
	var what string
	switch span.Kind {
	case Queued:
		what = "In the queue"
	case Pause:
		what = fmt.Sprintf("Pause after attempt %d", span.Attempt)
	case Wait:
		what = state.ForWait(span.State).Word
	default:
		what = fmt.Sprintf("Attempt %d", max(span.Attempt, 1))
		if span.To != nil {
			what += ", " + lower(state.Of(span.State).Word)
		}
	}
	what += ": " + ui.Duration(length(span, now))
	if span.To == nil {
		what += " so far"
	}
	if span.Words != "" {
		what += " (" + span.Words + ")"
	}
	return what
}

// sum says how many attempts there were, if more than one, whether it was undone, and how long it was from
// first to last.
func sum(spans []Span, now time.Time) (attemptWords, lengthWords string) {
	attempts, undone := 0, false
	end := spans[0].From
	for _, span := range spans {
		if span.Undoing {
			undone = undone || span.State == "compensated"
		} else if span.Kind == Attempt {
			attempts = max(attempts+1, span.Attempt)
		}
		if to := span.From.Add(length(span, now)); to.After(end) {
			end = to
		}
	}
	if attempts > 1 {
		attemptWords = ui.Plural(attempts, "attempt") + ", "
	}
	if undone {
		attemptWords += "undone, "
	}
	return attemptWords, ui.Duration(end.Sub(spans[0].From))
}

func length(span Span, now time.Time) time.Duration {
	if span.To != nil {
		return span.To.Sub(span.From)
	}
	return max(0, now.Sub(span.From))
}

func clamp(x, low, high float64) float64 { return max(low, min(x, max(low, high))) }

func lower(word string) string { return string(word[0]|0x20) + word[1:] }

// spoken reads a row's bars one after another.
func spoken(r Row) string {
	text := r.Look.Word
	for _, b := range r.Bars {
		text += ". " + b.Tip
	}
	return text
}

// words lets scripts keep the length of a row that goes on.
func words(r Row) templ.Attributes {
	if r.Since == 0 {
		return nil
	}
	return templ.Attributes{"data-since": strconv.FormatInt(r.Since, 10), "data-prefix": r.Prefix}
}
