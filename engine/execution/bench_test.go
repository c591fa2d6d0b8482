package execution

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"weftline/engine/flow"
)

// drive runs a whole execution as its owner does: every step is encoded for its own commit.
func drive(b testing.TB, wf *flow.Workflow, start Start, buffer []byte) {
	st, events, err := New(wf, start, testTime)
	if err != nil {
		b.Fatal(err)
	}
	for !st.Terminal() {
		events = Advance(events, wf, st, testTime)
		Effects(wf, st, events)
		if buffer, err = AppendEvents(buffer[:0], events); err != nil {
			b.Fatal(err)
		}
		events = events[:0]
		for _, w := range Pending(wf, st) {
			result, pure := Evaluate(wf, st, w, testTime)
			if !pure {
				result = Result{Activity: w.Activity, Item: w.Item, Attempt: w.Attempt, Worker: "w1", StartedAt: testTime,
					EndedAt: testTime, Value: map[string]any{"status": int64(200), "body": map[string]any{"n": int64(1)}}}
			}
			more, err := Receive(wf, st, Message{Result: &result}, testTime)
			if err != nil {
				b.Fatal(err)
			}
			if err := ApplyAll(wf, st, more); err != nil {
				b.Fatal(err)
			}
			events = append(events, more...)
		}
	}
}

func benchmark(b *testing.B, text string) {
	wf := load(b, text)
	start := Start{ID: testID, Workflow: "test", Version: 1, StartedBy: "ann", Input: map[string]any{"n": int64(1), "context": map[string]any{}}}
	b.ReportAllocs()
	buffer := make([]byte, 0, 64<<10)
	used := processorTime(b)
	for b.Loop() {
		drive(b, wf, start, buffer)
	}
	used = processorTime(b) - used
	b.ReportMetric(float64(b.N)/used.Seconds(), "executions/s") // of one core: other programs' time is not counted
}

// processorTime is what this process has used of it so far, collecting garbage included.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkSingle(b *testing.B) {
	benchmark(b, "  activities:\n    - {id: a, type: http, inputs: {url: http://x}}\n")
}

func BenchmarkSingleWithExpression(b *testing.B) {
	benchmark(b, `
  input: {type: object, properties: {n: {type: integer}}}
  activities:
    - {id: a, type: http, inputs: {url: "http://x/${{ inputs.n }}"}, outputs: {v: result.body.n}}
  output: {v: activities.a.outputs.v}
`)
}

func BenchmarkLinear20(b *testing.B) {
	var text strings.Builder
	text.WriteString("  activities:\n")
	for i := range 20 {
		needs := ""
		if i > 0 {
			needs = fmt.Sprintf(", needs: [a%d]", i-1)
		}
		fmt.Fprintf(&text, "    - {id: a%d, type: set%s, outputs: {v: 1}}\n", i, needs)
	}
	benchmark(b, strings.ReplaceAll(text.String(), "v: 1", "v: '1'"))
}

// growing is a line of steps, each of which adds a key to what the one before it put out.
func growing(steps int) string {
	var text strings.Builder
	text.WriteString("  input: {type: object, properties: {context: {type: object}}}\n  activities:\n")
	before, needs := "inputs.context", ""
	for i := range steps {
		fmt.Fprintf(&text, "    - {id: s%d, type: set%s, outputs: {context: 'merge(%s, {\"k%d\": \"done\"})'}}\n", i, needs, before, i)
		before, needs = fmt.Sprintf("activities.s%d.outputs.context", i), fmt.Sprintf(", needs: [s%d]", i)
	}
	return text.String()
}

func BenchmarkGrowing20(b *testing.B) { benchmark(b, growing(20)) }

func BenchmarkFanOut1000(b *testing.B) {
	var text strings.Builder
	text.WriteString("  limits: {maxParallel: 1000}\n  activities:\n")
	for i := range 998 {
		fmt.Fprintf(&text, "    - {id: a%d, type: set, outputs: {v: '1'}}\n", i)
	}
	text.WriteString("    - {id: last, type: set, needs: [")
	for i := range 998 {
		fmt.Fprintf(&text, "a%d, ", i)
	}
	text.WriteString("], outputs: {v: '1'}}\n")
	benchmark(b, text.String())
}

func BenchmarkLoop10000(b *testing.B) {
	items := make([]any, 10_000)
	for i := range items {
		items[i] = int64(i)
	}
	wf := load(b, `
  input: {type: object, properties: {items: {type: array}}}
  activities:
    - {id: each, type: for_each, for_each: {items: inputs.items, activity: {type: set, outputs: {v: item}}}}
`)
	b.ReportAllocs()
	buffer := make([]byte, 0, 1<<20)
	for b.Loop() {
		drive(b, wf, Start{ID: testID, Workflow: "test", Version: 1, Input: map[string]any{"items": items}}, buffer)
	}
}
