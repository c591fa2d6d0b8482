package bench

import (
	"context"
	"sync"
	"time"

	"weftline/engine/activity"
)

// calls are the http activities of workloads: they call nobody. One takes 100 ms and no processor time, unless its
// address ends with atOnce.
type calls struct {
	mu    sync.Mutex
	began map[string]time.Time // by execution: when its first call did; nil = nobody asks
}

// atOnce is the address that answers without a pause.
const atOnce = "http://127.0.0.1/now"

func newCalls() *calls { return &calls{began: map[string]time.Time{}} }

// Run is a call.
func (c *calls) Run(ctx context.Context, call activity.Call) activity.Outcome {
	now := time.Now()
	c.mu.Lock()
	if c.began != nil && c.began[call.Execution].IsZero() {
		c.began[call.Execution] = now
	}
	c.mu.Unlock()
	input, _ := call.Input.(map[string]any)
	if input["url"] != atOnce {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return activity.Outcome{Value: map[string]any{"status": int64(200), "headers": map[string]any{}, "body": nil, "file": nil}}
}

// since answers the milliseconds from instants by execution until the calls of these executions began, sorted.
func (c *calls) since(from map[string]time.Time) []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var waited []float64
	for id, instant := range from {
		if began, any := c.began[id]; any {
			waited = append(waited, began.Sub(instant).Seconds()*1000)
		}
	}
	return sorted(waited)
}
