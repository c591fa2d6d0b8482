package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
)

// registrations are made and timed one after the other before the work of the workload leases.
const registrations = 200

// Leases are percentiles in milliseconds of what a remote worker asks, one request at a time. Dispatch is from the
// call that starts an execution until its attempt is in the hands of a worker that was waiting.
type Leases struct {
	Register    float64 `json:"registerP99Ms"`
	Lease       float64 `json:"leaseP99Ms"` // of an attempt that was offered already
	Renew       float64 `json:"renewP99Ms"`
	Dispatch    float64 `json:"dispatchP99Ms"`
	LeaseP50    float64 `json:"leaseP50Ms"`
	DispatchP50 float64 `json:"dispatchP50Ms"`
}

// remoteStep is one activity for remote workers.
func remoteStep() string {
	return strings.Replace(head, "  limits: {maxParallel: 200}\n", "", 1) + "    - {id: task, type: worker, inputs: {task: bench, input: 1}}\n"
}

// leasing is a remote worker that is timed.
type leasing struct {
	*measurement
	worker  uuid.UUID
	offered chan uuid.UUID // executions whose attempt was offered

	register, lease, renew, dispatch []float64
}

// timed adds the milliseconds that f takes.
func timed(to *[]float64, f func() error) error {
	began := time.Now()
	err := f()
	*to = append(*to, time.Since(began).Seconds()*1000)
	return err
}

// runLeases times a remote worker: half of the attempts it waits for, half it finds offered.
func (m *measurement) runLeases(ctx context.Context) (Result, error) {
	l := &leasing{measurement: m, offered: make(chan uuid.UUID, 100)}
	stop := m.engine.Watch(m.who.Team, func(change engine.Change) {
		m.watch(change)
		if change.Work {
			l.offered <- change.Execution
		}
	})
	defer stop()
	for range registrations {
		if err := timed(&l.register, l.registerOne(ctx)); err != nil {
			return Result{}, err
		}
	}
	if err := l.work(ctx, m.load.warmUp); err != nil {
		return Result{}, err
	}
	m.forget()
	l.lease, l.renew, l.dispatch = nil, nil, nil
	result, err := m.measure(ctx, func() (float64, error) {
		began := time.Now()
		err := l.work(ctx, m.options.Instances)
		return time.Since(began).Seconds(), err
	})
	for _, values := range [][]float64{l.register, l.lease, l.renew, l.dispatch} {
		slices.Sort(values)
	}
	result.Leases = &Leases{Register: percentile(l.register, 0.99), Lease: percentile(l.lease, 0.99), Renew: percentile(l.renew, 0.99),
		Dispatch: percentile(l.dispatch, 0.99), LeaseP50: percentile(l.lease, 0.5), DispatchP50: percentile(l.dispatch, 0.5)}
	return result, err
}

func (l *leasing) registerOne(ctx context.Context) func() error {
	return func() error {
		ticket, err := l.engine.RegisterWorker(ctx, l.who, engine.WorkerRequest{Hostname: "bench", Activities: []string{"bench"}, MaxConcurrency: 1})
		l.worker = ticket.WorkerID
		return err
	}
}

func (l *leasing) work(ctx context.Context, n int) error {
	for i := range n {
		take := l.await
		if i%2 == 1 {
			take = l.find
		}
		item, err := take(ctx)
		if err != nil {
			return err
		}
		if err := timed(&l.renew, func() error {
			_, err := l.engine.RenewWork(ctx, l.who, item.LeaseID, engine.WorkProgress{})
			return err
		}); err != nil {
			return err
		}
		if _, err := l.engine.CompleteWork(ctx, l.who, item.LeaseID, engine.WorkResult{Activity: item.Activity, Attempt: item.Attempt, Output: 1}); err != nil {
			return err
		}
		if err := l.waitForOne(ctx, item.Execution); err != nil {
			return err
		}
	}
	return nil
}

// await starts an execution while the worker waits for work.
func (l *leasing) await(ctx context.Context) (item engine.WorkItem, err error) {
	polled := make(chan error, 1)
	go func() {
		var err error
		item, err = l.poll(ctx)
		polled <- err
	}()
	time.Sleep(20 * time.Millisecond) // until it waits
	err = timed(&l.dispatch, func() error {
		if err := l.startOne(ctx); err != nil {
			return err
		}
		return <-polled
	})
	<-l.offered
	return item, err
}

// find lets the worker ask when the attempt was offered already.
func (l *leasing) find(ctx context.Context) (item engine.WorkItem, err error) {
	if err := l.startOne(ctx); err != nil {
		return item, err
	}
	<-l.offered
	err = timed(&l.lease, func() error {
		item, err = l.poll(ctx)
		return err
	})
	return item, err
}

func (l *leasing) poll(ctx context.Context) (engine.WorkItem, error) {
	items, err := l.engine.PollWork(ctx, l.who, l.worker, engine.WorkPoll{})
	if err != nil {
		return engine.WorkItem{}, err
	}
	if len(items.Items) == 0 {
		return engine.WorkItem{}, fmt.Errorf("the remote worker got no work")
	}
	return items.Items[0], nil
}
