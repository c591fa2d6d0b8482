package bench

import (
	"context"
	"sync"
	"time"

	"weftline/engine/activity"
)

// parts are what a measurement puts into the engine: calls for each replica, and what counts the statements of all.
type parts struct {
	calls      []*calls
	endless    bool // nobody asks when a call began
	statements statements
}

// calls are the http activities of the workloads on one replica: they call nobody. One takes 100 ms and no processor
// time, unless its address is atOnce.
type calls struct {
	mu    sync.Mutex
	made  int
	began map[string]time.Time // by execution: when its first call did; nil = nobody asks
}

// atOnce is the address that answers without a pause.
const atOnce = "http://127.0.0.1/now"

// add makes the calls of one more replica.
func (p *parts) add() *calls {
	c := &calls{}
	if !p.endless {
		c.began = map[string]time.Time{}
	}
	p.calls = append(p.calls, c)
	return c
}

// Run is a call.
func (c *calls) Run(ctx context.Context, call activity.Call) activity.Outcome {
	c.note(call.Execution)
	if input, _ := call.Input.(map[string]any); input["url"] != atOnce {
		_ = pause(ctx, 100*time.Millisecond)
	}
	return activity.Outcome{Value: map[string]any{"status": int64(200), "headers": map[string]any{}, "body": nil, "file": nil}}
}

func (c *calls) note(execution string) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	if c.began != nil && c.began[execution].IsZero() {
		c.began[execution] = now
	}
}

// begins answers the milliseconds from instants by execution until the calls of these executions began, sorted.
func (p *parts) begins(from map[string]time.Time) []float64 {
	var waited []float64
	for _, c := range p.calls {
		c.mu.Lock()
		for id, instant := range from {
			if began, any := c.began[id]; any {
				waited = append(waited, began.Sub(instant).Seconds()*1000)
			}
		}
		c.mu.Unlock()
	}
	return sorted(waited)
}

// byReplica is how many calls each replica made.
func (p *parts) byReplica() []int {
	made := make([]int, len(p.calls))
	for i, c := range p.calls {
		c.mu.Lock()
		made[i] = c.made
		c.mu.Unlock()
	}
	return made
}
