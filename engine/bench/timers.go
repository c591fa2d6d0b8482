package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// sleeping waits for the instant that it is given.
func sleeping() string {
	return strings.Replace(head, "context: {type: object}", "due: {type: string}", 1) + `    - id: sleep
      type: wait
      wait: {timer: {at: inputs.due}}
`
}

const (
	pilot      = 2000            // executions started to see how fast starts are
	spare      = 5 * time.Second // between the expected end of the starts and the instant, at least
	firedLook  = 50 * time.Millisecond
	timersLeft = `select exists (select from timers where due_at <= now())`
)

// runTimers puts all executions to sleep until one instant, and measures from it until the last has ended.
func (m *measurement) runTimers(ctx context.Context) (Result, error) {
	stop := m.engine.Watch(m.who.Team, m.watch)
	defer stop()
	due, err := m.fallAsleep(ctx)
	if err != nil {
		return Result{}, err
	}
	var fired float64
	result, err := m.measure(ctx, func() (float64, error) {
		time.Sleep(time.Until(due))
		if fired, err = m.untilFired(ctx, due); err != nil {
			return 0, err
		}
		err := m.waitFor(ctx, m.options.Instances)
		return time.Since(due).Seconds(), err
	})
	result.FiredSeconds = round(fired)
	return result, err
}

// fallAsleep starts all executions well before the instant that it chooses from how long the first ones take.
func (m *measurement) fallAsleep(ctx context.Context) (due time.Time, err error) {
	began := time.Now()
	if err := m.startBatches(ctx, pilot, until(began.AddDate(1, 0, 0)), time.Time{}); err != nil {
		return due, err
	}
	m.forget()
	all := time.Since(began) / pilot * time.Duration(m.options.Instances)
	due = time.Now().Add(all*3/2 + spare).Truncate(time.Millisecond)
	if err := m.startBatches(ctx, m.options.Instances, until(due), due); err != nil {
		return due, err
	}
	if !time.Now().Add(2 * statisticsDelay).Before(due) {
		return due, fmt.Errorf("the %d starts took longer than the first %d let expect: the timers were due before", m.options.Instances, pilot)
	}
	return due, nil
}

// until is the input of an execution that sleeps until an instant.
func until(due time.Time) map[string]any {
	return map[string]any{"due": due.UTC().Format(time.RFC3339Nano)}
}

// untilFired waits until no timer is left that is due, and answers the seconds since due.
func (m *measurement) untilFired(ctx context.Context, due time.Time) (seconds float64, err error) {
	conn, err := pgx.Connect(ctx, m.options.DatabaseURL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	for left := true; left; time.Sleep(firedLook) {
		if err := conn.QueryRow(ctx, timersLeft).Scan(&left); err != nil {
			return 0, err
		}
	}
	return time.Since(due).Seconds(), nil
}
