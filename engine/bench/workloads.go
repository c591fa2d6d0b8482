package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const workflowName = "bench"

// largestBatch is how many starts one request may hold.
const largestBatch = 1000

// workload is a workflow and how it is driven.
type workload struct {
	text      func() string
	instances int
	steps     int // of one instance
	starters  int // starts at one time
	warmUp    int
	batches   bool // many starts of one request
	alone     bool // the next one starts only when the one before has ended
	apart     bool // each worker is a replica of its own
	front     bool // starts come in by Options.Front
	remote    bool // its activities are made by a remote worker, which is timed
	asleep    bool // none ends: what counts is what the replica does beside them
	together  bool // all wait for one instant, which the measurement begins at
}

var workloads = map[string]workload{
	"linear20":     {text: linear(20), instances: 1000, steps: 20, starters: 64, warmUp: 50},
	"single":       {text: linear(1), instances: 10000, steps: 1, starters: 64, warmUp: 200},
	"single-batch": {text: linear(1), instances: 10000, steps: 1, starters: 4, warmUp: 200, batches: true},
	"single-call":  {text: call, instances: 10000, steps: 1, starters: 64, warmUp: 200},
	"fanout100":    {text: fanOut(100), instances: 200, steps: 102, starters: 16, warmUp: 5},
	"fanout-items": {text: forEach, instances: 3, steps: 1000, starters: 1, warmUp: 1, alone: true, apart: true},
	"even":         {text: longCall, instances: 2000, steps: 1, starters: 1, batches: true, apart: true},
	"latency":      {text: call, instances: 500, steps: 1, starters: 1, warmUp: 20, alone: true},
	"http":         {text: linear(1), instances: 5000, steps: 1, starters: 64, warmUp: 200, front: true},
	"leases":       {text: remoteStep, instances: 400, steps: 1, warmUp: 20, remote: true},
	"sleepers":     {text: sleeping, instances: 1_000_000, steps: 1, starters: 4, asleep: true},
	"timers":       {text: sleeping, instances: 100_000, steps: 1, starters: 4, together: true},
}

// Workloads are the names that Run knows.
func Workloads() []string { return slices.Sorted(maps.Keys(workloads)) }

// benchInput is the context that the steps add to, about 200 bytes as JSON.
func benchInput() map[string]any {
	return map[string]any{"context": map[string]any{"order": "ord-0001", "customer": "c-42", "note": strings.Repeat("x", 140)}}
}

const head = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: bench
spec:
  input:
    type: object
    properties:
      context: {type: object}
  limits: {maxParallel: 200}
  activities:
`

// forEach is a loop over 1,000 items of 100 ms.
func forEach() string {
	return strings.Replace(head, "maxParallel: 200", "maxParallel: 400", 1) + `    - id: each
      type: for_each
      for_each:
        items: [` + strings.TrimSuffix(strings.Repeat("1, ", 1000), ", ") + `]
        maxConcurrent: 400
        activity: {type: http, inputs: {url: "http://127.0.0.1/"}}
`
}

// call is one activity that leaves the engine: its dispatch is durable before it, and its result after.
func call() string {
	return head + `    - {id: call, type: http, inputs: {url: "` + atOnce + `"}}
`
}

// longCall is one call that takes its time.
func longCall() string { return strings.Replace(call(), atOnce, "http://127.0.0.1/", 1) }

// linear makes steps in line, each adding a key to the context.
func linear(steps int) func() string {
	return func() string {
		var text strings.Builder
		text.WriteString(head)
		before, needs := "inputs.context", ""
		for i := range steps {
			id := fmt.Sprintf("s%02d", i)
			writeStep(&text, id, needs, before, i)
			before, needs = "activities."+id+".outputs.context", id
		}
		return text.String()
	}
}

func writeStep(text *strings.Builder, id, needs, before string, number int) {
	fmt.Fprintf(text, "    - id: %s\n      type: set\n", id)
	if needs != "" {
		fmt.Fprintf(text, "      needs: [%s]\n", needs)
	}
	fmt.Fprintf(text, "      outputs:\n        context: 'merge(%s, {\"k%02d\": \"done\"})'\n", before, number)
}

// fanOut makes one step, then width steps side by side, then one that joins them.
func fanOut(width int) func() string {
	return func() string {
		var text strings.Builder
		text.WriteString(head)
		writeStep(&text, "first", "", "inputs.context", 0)
		var all []string
		for i := range width {
			id := fmt.Sprintf("b%03d", i)
			writeStep(&text, id, "first", "inputs.context", i)
			all = append(all, id)
		}
		writeStep(&text, "last", strings.Join(all, ", "), "inputs.context", 99)
		return text.String()
	}
}
