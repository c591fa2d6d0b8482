package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/store"
)

// made is how often each effect happened, by its idempotency key.
func (c *chaos) made() map[string]int {
	times := map[string]int{}
	for _, key := range effects(c.t, c.log) {
		times[key]++
	}
	return times
}

// invariants checks what must hold whatever happened. That histories are gapless and each activity completed
// once was seen by ends.
func (c *chaos) invariants() {
	made := c.made()
	for id := range c.started {
		c.terminalIsFinal(id)
		c.timersAreNotEarly(id)
		c.foldIsTheState(id)
		c.successesHadEffects(id, made)
		c.effectsWereAttempts(id, made)
		if n := c.count(id, execution.SignalConsumed); n > 1 {
			c.t.Errorf("%s consumed its signal %d times", id, n)
		}
		for _, table := range []string{"ready", "timers", "event_waits", "inbox", "permits", "work"} {
			if n := c.rows(table, id); n > 0 {
				c.t.Errorf("%s has ended and left %d rows in %s", id, n, table)
			}
		}
	}
	c.noLimbo()
}

func (c *chaos) terminalIsFinal(id uuid.UUID) {
	events := c.events(id)
	for i, event := range events {
		if last := i == len(events)-1; event.Type.Terminal() != last {
			c.t.Errorf("%s: event %d of %d is %s", id, i+1, len(events), event.Type)
		}
	}
}

// timersAreNotEarly: the only timers of these workflows are their pauses.
func (c *chaos) timersAreNotEarly(id uuid.UUID) {
	var since time.Time
	for _, event := range c.events(id) {
		switch {
		case event.Activity == "rest" && event.Type == execution.ActivityWaiting:
			since = event.At
		case event.Activity == "rest" && event.Type == execution.ActivityCompleted && event.At.Sub(since) < 500*time.Millisecond:
			c.t.Errorf("%s: a pause of 500 ms lasted %s", id, event.At.Sub(since))
		}
	}
}

// foldIsTheState compares the state that lists and checkpoints lead to with the fold of the whole history.
func (c *chaos) foldIsTheState(id uuid.UUID) {
	detail, err := c.Execution(c.t.Context(), c.who, id)
	if err != nil {
		c.t.Fatal(err)
	}
	folded, err := c.StateAt(c.t.Context(), c.who, id, detail.LastSeq)
	if err != nil {
		c.t.Fatal(err)
	}
	if folded.Status != detail.Status || !reflect.DeepEqual(folded.Activities, detail.Activities) || !reflect.DeepEqual(folded.Output, detail.Output) {
		c.t.Errorf("%s: the fold differs from the state", id)
	}
}

// effectKey is the idempotency key of what an event of an activity is about.
func effectKey(id uuid.UUID, event execution.Event) string {
	key := id.String() + "/" + event.Activity
	if event.Item != "" {
		key += "/" + event.Item
	}
	if event.Compensating {
		key += "/compensate"
	}
	return key
}

// successesHadEffects: whatever counts as done was done at least once.
func (c *chaos) successesHadEffects(id uuid.UUID, made map[string]int) {
	for _, event := range c.events(id) {
		key := effectKey(id, event)
		if event.Type == execution.ActivityCompleted && made[key] == 0 && event.Worker != "" && !strings.HasPrefix(event.Activity, "each") {
			c.t.Errorf("%s counts as completed and never happened", key)
		}
	}
	if c.started[id] == "items" {
		for i := range 6 {
			if key := fmt.Sprintf("%s/each/%d", id, i); made[key] == 0 {
				c.t.Errorf("%s never happened", key)
			}
		}
	}
}

// effectsWereAttempts: nothing was done more often than the history has attempts of it. Each fault in the time of an
// execution may stand for one effect more: what local_async had not written is lost with its owner, and an owner
// that never hears that it has left an execution makes an attempt beside whoever has it now. Where no fault was,
// each attempt has one effect.
func (c *chaos) effectsWereAttempts(id uuid.UUID, made map[string]int) {
	events, attempts := c.events(id), map[string]map[int]bool{}
	for _, event := range events {
		if event.Type == execution.ActivityDispatched || event.Type == execution.ActivityStarted {
			key := effectKey(id, event)
			if attempts[key] == nil {
				attempts[key] = map[int]bool{}
			}
			attempts[key][event.Attempt] = true
		}
	}
	faults := c.figures.faultsIn(events[0].At, events[len(events)-1].At)
	for key, n := range made {
		if strings.HasPrefix(key, id.String()) && n > len(attempts[key])+faults {
			c.t.Errorf("%s happened %d times in %d attempts, there were %d faults meanwhile\n%s", key, n, len(attempts[key]), faults, c.words(id))
		}
	}
}

// firedAtItsInstants stops the schedule, and compares its ticks with the seconds since its first one: each has one,
// whatever befell who fires, and each tick has an execution of its own, which is one more that must end well.
func (c *chaos) firedAtItsInstants() {
	var next time.Time
	c.eventually("the schedule has made up for what it missed", func() (onTime bool) {
		c.connected(func(conn *pgx.Conn) error {
			return conn.QueryRow(c.t.Context(), `select planned_at, planned_at > now() from schedules where id = $1`, c.ticking.ID).Scan(&next, &onTime)
		})
		return onTime
	})
	c.eventually("the schedule is paused", func() bool {
		_, err := c.PauseSchedule(c.t.Context(), c.who, c.ticking.ID, true)
		return err == nil
	})
	ticks := c.everyTick()
	want := *c.ticking.NextAt
	for _, tick := range ticks {
		if !tick.ScheduledAt.Equal(want) || tick.Outcome != "started" || tick.Execution == nil || c.started[*tick.Execution] != "" {
			c.t.Fatalf("the tick of %s is %+v", want, tick)
		}
		c.started[*tick.Execution] = "ticked"
		want = want.Add(time.Second)
	}
	if want.Before(next) {
		c.t.Errorf("the last tick is that before %s, and the one before %s was due", want, next)
	}
	var begun int
	c.row(`select count(*) from executions where workflow = 'ticked' and $1::uuid is not null`, uuid.Nil, &begun)
	if begun != len(ticks) {
		c.t.Errorf("%d ticks started %d executions", len(ticks), begun)
	}
	c.t.Logf("a schedule fired at each of its %d instants once", len(ticks))
}

// everyTick are those of the schedule, oldest first.
func (c *chaos) everyTick() (ticks []engine.Tick) {
	page := engine.PageRequest{Limit: 500}
	for {
		found, err := c.Ticks(c.t.Context(), c.who, c.ticking.ID, page)
		if err != nil {
			c.t.Fatal(err)
		}
		ticks = append(ticks, found.Items...)
		if found.NextCursor == nil {
			slices.Reverse(ticks)
			return ticks
		}
		page.Cursor = *found.NextCursor
	}
}

func (c *chaos) noLimbo() {
	pool, err := pgxpool.New(context.Background(), c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer pool.Close()
	c.eventually("nothing is open", func() bool { // a start whose acknowledgement was lost runs too
		open, limbo, err := store.FindLimbo(c.t.Context(), pool)
		if err != nil || len(limbo) > 0 {
			c.t.Fatalf("in limbo: %v, %v", limbo, err)
		}
		return open == 0
	})
}
