package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"weftline/views/ui"
)

// axis maps instants to places. Long stretches in which nothing goes on, such as the days before a retry by hand,
// are drawn short: each a marked break. Elsewhere a second is as long as any other.
type axis struct {
	start, end int64 // unix ms
	breaks     []gap
}

// gap is a stretch of time that is drawn as if it took drawn milliseconds.
type gap struct{ from, to, drawn int64 }

const (
	shortestBreak = 1000 // ms
	breakShare    = 0.08 // of what goes on: how wide a break is drawn
)

// axisOf finds the breaks of an axis. The end of one that grows is none: something may begin there any moment.
func axisOf(spans []Span, start, end int64, grows bool) axis {
	a := axis{start: start, end: end}
	idle, busy := idleIn(spans, start, end, grows)
	for _, g := range idle {
		if g.to-g.from > max(busy/3, shortestBreak) && busy > 0 {
			a.breaks = append(a.breaks, gap{g.from, g.to, max(int64(float64(busy)*breakShare), 1)})
		}
	}
	return a
}

// idleIn are the stretches that no span covers, and how much of the axis spans do cover.
func idleIn(spans []Span, start, end int64, grows bool) (idle []gap, busy int64) {
	ordered := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.From.UnixMilli(), b.From.UnixMilli()) })
	reached := start
	for _, span := range ordered {
		from, to := span.From.UnixMilli(), end
		if span.To != nil {
			to = min(span.To.UnixMilli(), end)
		}
		if from > reached {
			idle = append(idle, gap{from: reached, to: from})
			reached = from
		}
		if to > reached {
			busy += to - reached
			reached = to
		}
	}
	if reached < end && !grows {
		idle = append(idle, gap{from: reached, to: end})
	}
	return idle, busy
}

// at is where an instant is drawn, in milliseconds from the start of the axis.
func (a axis) at(ms int64) float64 {
	place := float64(ms - a.start)
	for _, g := range a.breaks {
		if passed := min(ms, g.to) - g.from; passed > 0 {
			place -= float64(passed) * (1 - float64(g.drawn)/float64(g.to-g.from))
		}
	}
	return place
}

func (a axis) share(ms int64) float64 { return a.at(ms) / a.at(a.end) * 100 }

// text is the breaks as scripts read them.
func (a axis) text() string {
	parts := make([]string, 0, len(a.breaks))
	for _, g := range a.breaks {
		parts = append(parts, fmt.Sprintf("%d-%d-%d", g.from, g.to, g.drawn))
	}
	return strings.Join(parts, " ")
}

// shown are the breaks as they are drawn.
func (a axis) shown() []Break {
	list := make([]Break, 0, len(a.breaks))
	for _, g := range a.breaks {
		from, to := a.share(g.from), a.share(g.to)
		list = append(list, Break{X: percent(from), W: percent(to - from), Middle: percent((from + to) / 2), From: g.from, To: g.to,
			Label: ui.Duration(time.Duration(g.to-g.from) * time.Millisecond)})
	}
	return list
}

// steps of the axis, in milliseconds: round numbers of the units people read time in.
var steps = []int64{
	1, 2, 5, 10, 20, 50, 100, 200, 500,
	1_000, 2_000, 5_000, 10_000, 15_000, 30_000,
	60_000, 2 * 60_000, 5 * 60_000, 10 * 60_000, 15 * 60_000, 30 * 60_000,
	3_600_000, 2 * 3_600_000, 3 * 3_600_000, 6 * 3_600_000, 12 * 3_600_000,
	86_400_000, 2 * 86_400_000, 7 * 86_400_000, 30 * 86_400_000, 365 * 86_400_000,
}

const (
	mostTicks = 7
	roomLabel = 10.0 // of the axis: what a label needs beside another where a break brings them together
)

// ticks stand at round times since the start, none within a break.
func (a axis) ticks() []Tick {
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if int64(a.at(a.end))/candidate <= mostTicks-1 {
			step = candidate
			break
		}
	}
	list := []Tick{{percent(0), "0"}}
	last, from := 0.0, a.start
	for _, until := range append(slices.Clone(a.breaks), gap{from: a.end, to: a.end}) {
		for at := (from - a.start + step - 1) / step * step; at <= until.from-a.start; at += step {
			x := a.share(a.start + at)
			if at == 0 || len(a.breaks) > 0 && (x-last < roomLabel || a.crowded(x)) {
				continue
			}
			list = append(list, Tick{percent(x), ui.Duration(time.Duration(at) * time.Millisecond)})
			last = x
		}
		from = until.to
	}
	return list
}

// crowded: the label of a break stands there.
func (a axis) crowded(x float64) bool {
	return slices.ContainsFunc(a.breaks, func(g gap) bool { return x > a.share(g.from)-roomLabel/2 && x < a.share(g.to)+roomLabel/2 })
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }
