package worker

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// BenchmarkCheckpoints runs whole executions and stores their state as a rule says. For each rule it tells what
// that costs (processor time for 1,000 events, bytes of checkpoints for each byte of history) and what it is good
// for: the processor time until a new owner has the state again, over 40 moments of the execution, and at the
// worst of them. Processor time is that of this process, so that other programs count little.
func BenchmarkCheckpoints(b *testing.B) {
	rules := []struct {
		name string
		checkpointRule
	}{
		{"never", checkpointRule{least: 1 << 40}},
		{"each 16 KiB", checkpointRule{least: 16 << 10}},
		{"each 256 KiB", checkpointRule{least: 256 << 10}},
		{"16 KiB or 2 states", checkpointRule{16 << 10, 2}},
		{"64 KiB or 2 states", checkpointRule{64 << 10, 2}},
		{"256 KiB or 1 state", checkpointRule{256 << 10, 1}},
		{"256 KiB or 2 states", checkpointRule{256 << 10, 2}},
		{"256 KiB or 4 states", checkpointRule{256 << 10, 4}},
		{"1 MiB or 2 states", checkpointRule{1 << 20, 2}},
	}
	for name, text := range checkpointed() {
		for _, rule := range rules {
			b.Run(name+"/"+rule.name, func(b *testing.B) { measureCheckpoints(b, text, rule.checkpointRule) })
		}
	}
}

// checkpointed are executions with long histories: of many small steps, of a loop, and with a state as large as
// its history.
func checkpointed() map[string]string {
	var steps strings.Builder
	steps.WriteString("  activities:\n    - {id: a0, type: http, inputs: {url: http://x}, outputs: {v: result.body.n}}\n")
	for i := range 800 {
		fmt.Fprintf(&steps, "    - {id: a%d, type: http, needs: [a%d], inputs: {url: http://x}, outputs: {v: result.body.n}}\n", i+1, i)
	}
	return map[string]string{
		"800 steps": steps.String(),
		"loop of 3000": `  activities:
    - {id: each, type: for_each, for_each: {items: "inputs.items", maxConcurrent: 20, activity: {type: http, inputs: {url: http://x}, outputs: {v: result.body.n}}}}
`,
		"800 large outputs": strings.ReplaceAll(steps.String(), "result.body.n", "result.body.large"),
	}
}

func measureCheckpoints(b *testing.B, text string, rule checkpointRule) {
	wf, err := flow.Load([]byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: long}\nspec:\n  input: {type: object, properties: {items: {type: array}}}\n" + text))
	if err != nil {
		b.Fatal(err)
	}
	var sum checkpointSum
	for b.Loop() {
		one := history{rule: rule, wf: wf}
		one.run(b)
		sum.add(one)
	}
	sum.report(b)
}

// history is one execution as its owner writes it.
type history struct {
	rule  checkpointRule
	wf    *flow.Workflow
	saved checkpointing

	checkpoint []byte
	tail       [][]byte // flushes since

	events, bytes, checkpoints, stored int
	saving                             time.Duration
	recoveries                         []time.Duration
}

func (h *history) run(b *testing.B) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	items := make([]any, 3000)
	for i := range items {
		items[i] = int64(i)
	}
	st, events, err := execution.New(h.wf, execution.Start{ID: uuid.UUID{1}, Workflow: "long", Version: 1, Input: map[string]any{"items": items}}, now)
	if err != nil {
		b.Fatal(err)
	}
	answer := map[string]any{"status": int64(200), "body": map[string]any{"n": int64(1), "large": strings.Repeat("x", 3000)}}
	for flushes := 0; !st.Terminal(); flushes++ {
		events = execution.Advance(events, h.wf, st, now)
		h.flush(b, st, events)
		if flushes%40 == 0 {
			h.recover(b)
		}
		events = nil
		for _, w := range execution.Pending(h.wf, st) {
			result := execution.Result{Activity: w.Activity, Item: w.Item, Attempt: w.Attempt, Worker: "w1", StartedAt: now, EndedAt: now, Value: answer}
			more, err := execution.Receive(h.wf, st, execution.Message{Result: &result}, now)
			if err != nil {
				b.Fatal(err)
			}
			for _, event := range more {
				if err := execution.Apply(h.wf, st, event); err != nil {
					b.Fatal(err)
				}
			}
			events = append(events, more...)
		}
	}
}

func (h *history) flush(b *testing.B, st *execution.State, events []execution.Event) {
	if len(events) == 0 {
		return
	}
	encoded, err := execution.EncodeEvents(events)
	if err != nil {
		b.Fatal(err)
	}
	h.events, h.bytes = h.events+len(events), h.bytes+len(encoded)
	h.tail = append(h.tail, encoded)
	h.saved.since += len(encoded)
	if !h.rule.due(h.saved) {
		return
	}
	began := usedTime(b)
	if h.checkpoint, err = execution.EncodeState(st); err != nil {
		b.Fatal(err)
	}
	h.saving += usedTime(b) - began
	h.saved, h.tail = checkpointing{size: len(h.checkpoint)}, nil
	h.checkpoints, h.stored = h.checkpoints+1, h.stored+len(h.checkpoint)
}

// recover does what a new owner does: decode the checkpoint, fold what follows.
func (h *history) recover(b *testing.B) {
	began := usedTime(b)
	st := new(execution.State)
	var err error
	if h.checkpoint != nil {
		if st, err = execution.DecodeState(h.checkpoint); err != nil {
			b.Fatal(err)
		}
	}
	for _, flush := range h.tail {
		events, err := execution.DecodeEvents(flush)
		if err != nil {
			b.Fatal(err)
		}
		for _, event := range events {
			if err := execution.Apply(h.wf, st, event); err != nil {
				b.Fatal(err)
			}
		}
	}
	h.recoveries = append(h.recoveries, usedTime(b)-began)
}

// checkpointSum sums up executions.
type checkpointSum struct {
	runs, events, bytes, checkpoints, stored int
	saving, recovering, worst                time.Duration
	recoveries                               int
}

func (s *checkpointSum) add(h history) {
	s.runs, s.events, s.bytes = s.runs+1, s.events+h.events, s.bytes+h.bytes
	s.checkpoints, s.stored, s.saving = s.checkpoints+h.checkpoints, s.stored+h.stored, s.saving+h.saving
	for _, took := range h.recoveries {
		s.recovering, s.worst, s.recoveries = s.recovering+took, max(s.worst, took), s.recoveries+1
	}
}

func (s *checkpointSum) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(s.checkpoints)/float64(s.runs), "checkpoints")
	b.ReportMetric(float64(s.bytes)/float64(s.runs)/1024, "history-KiB")
	b.ReportMetric(float64(s.stored)/float64(s.bytes), "stored/history")
	b.ReportMetric(s.saving.Seconds()*1e3/float64(s.events)*1e3, "save-ms/1000events")
	b.ReportMetric(s.recovering.Seconds()*1e3/float64(s.recoveries), "recover-ms")
	b.ReportMetric(s.worst.Seconds()*1e3, "worst-ms")
}

func usedTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
