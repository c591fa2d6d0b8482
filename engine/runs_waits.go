package engine

import (
	"context"
	"fmt"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/queue"
)

// addPlaceInLine says where an execution stands that has something to do and no owner.
func (r *runs) addPlaceInLine(ctx context.Context, detail *ExecutionDetail) error {
	if detail.OwnerWorker != nil || execution.IsTerminal(detail.Status) {
		return nil
	}
	place, err := r.q.PlaceInLine(ctx, queue.Lease.Seconds(), detail.ID)
	if err != nil {
		return fmt.Errorf("read the place in line of execution %s: %w", detail.ID, err)
	}
	if place.Place == 0 {
		return nil
	}
	line := "its team"
	if place.Queue != flow.DefaultQueue {
		line = fmt.Sprintf("its team in the queue %s", place.Queue)
	}
	wait := execution.WaitDetail{Kind: waitQueue, Since: place.Since, Position: place.Place,
		Reason: fmt.Sprintf("waits for a worker, number %d in the line of %s", place.Place, line)}
	if !place.Served {
		wait.Kind = waitUnserved
		wait.Reason = fmt.Sprintf("waits for a worker of the queue %s: no worker that is alive takes executions of workflow %s in the queue %s", place.Queue, detail.Workflow, place.Queue)
	}
	detail.Waits = append(detail.Waits, wait)
	return nil
}

// addUnservedWork says which attempts wait in a queue that no living worker serves.
func (r *runs) addUnservedWork(ctx context.Context, detail *ExecutionDetail) error {
	if execution.IsTerminal(detail.Status) {
		return nil
	}
	rows, err := r.q.UnservedWorkOf(ctx, detail.ID, queue.Lease.Seconds())
	if err != nil {
		return fmt.Errorf("read what execution %s offers: %w", detail.ID, err)
	}
	for _, row := range rows {
		detail.Waits = append(detail.Waits, execution.WaitDetail{Activity: row.Activity, Item: row.Item, Kind: waitUnserved, Since: row.OfferedAt,
			Reason: fmt.Sprintf("waits for a worker of the queue %s: no worker that is alive serves it", row.Queue)})
	}
	return nil
}
