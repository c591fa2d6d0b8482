package schedule_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"weftline/engine/schedule"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) // a Sunday

func verdicts(ticks []schedule.Tick) string {
	var words []string
	for _, tick := range ticks {
		words = append(words, string(tick.Verdict))
	}
	return strings.Join(words, " ")
}

// The server was away from 12:00 until 12:31; the ticks of every ten minutes are 12:10, 12:20 and 12:30.
func TestMissedTicks(t *testing.T) {
	plan := schedule.Plan{Every: 10 * time.Minute, Zone: time.UTC}
	for name, c := range map[string]struct {
		catchUp schedule.CatchUp
		want    string
	}{
		"none":       {schedule.CatchUp{Deadline: time.Hour}, "late late late"},
		"last":       {schedule.CatchUp{Most: 1, Deadline: time.Hour}, "late late start"},
		"all":        {schedule.CatchUp{Most: 100, Bounded: true, Deadline: time.Hour}, "start start start"},
		"two of all": {schedule.CatchUp{Most: 2, Bounded: true, Deadline: time.Hour}, "limit start start"},
		"too old":    {schedule.CatchUp{Most: 100, Bounded: true, Deadline: 12 * time.Minute}, "late start start"},
	} {
		ticks, next := plan.Overdue(noon.Add(10*time.Minute), noon.Add(31*time.Minute), c.catchUp)
		if got := verdicts(ticks); got != c.want || !next.Equal(noon.Add(40*time.Minute)) {
			t.Errorf("%s: %s, next %s; want %s", name, got, next, c.want)
		}
	}
}

func TestATickInTimeStartsWithoutCatchUp(t *testing.T) {
	plan := schedule.Plan{Every: 10 * time.Minute, Zone: time.UTC}
	ticks, next := plan.Overdue(noon, noon.Add(time.Second), schedule.CatchUp{Deadline: time.Hour})
	if verdicts(ticks) != "start" || !next.Equal(noon.Add(10*time.Minute)) {
		t.Errorf("%v, next %s", ticks, next)
	}
	if ticks, next = plan.Overdue(noon, noon.Add(-1), schedule.CatchUp{}); len(ticks) != 0 || !next.Equal(noon) {
		t.Errorf("before it is due: %v, next %s", ticks, next)
	}
}

func TestDaysOffAreNotMissed(t *testing.T) {
	cron, err := schedule.ParseCron("0 12 * * *")
	if err != nil {
		t.Fatal(err)
	}
	plan := schedule.Plan{Cron: cron, Zone: time.UTC, DayOff: func(d time.Weekday) bool { return d == time.Sunday }}
	ticks, _ := plan.Overdue(noon.AddDate(0, 0, -1), noon.AddDate(0, 0, 1), schedule.CatchUp{Most: 2, Bounded: true, Deadline: 100 * time.Hour})
	if got := verdicts(ticks); got != "start calendar start" {
		t.Errorf("Saturday, Sunday, Monday: %s", got)
	}
}

// However long the outage, every instant gets one verdict, in bounded steps, and only the newest start.
func TestALongOutageIsWorkedOffInSteps(t *testing.T) {
	plan := schedule.Plan{Every: time.Second, Zone: time.UTC}
	now := noon.Add(5000 * time.Second)
	catchUp := schedule.CatchUp{Most: 50, Bounded: true, Deadline: 2 * time.Hour}
	var all []schedule.Tick
	for at := noon; !at.After(now); {
		ticks, next := plan.Overdue(at, now, catchUp)
		if len(ticks) > 1050 {
			t.Fatalf("%d ticks in one step", len(ticks))
		}
		all, at = append(all, ticks...), next
	}
	starts := 0
	for i, tick := range all {
		if !tick.At.Equal(noon.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("tick %d is at %s", i, tick.At)
		}
		if tick.Verdict == schedule.Start {
			starts++
		}
	}
	if len(all) != 5001 || starts != 50 || all[len(all)-1].Verdict != schedule.Start {
		t.Errorf("%d ticks, %d started", len(all), starts)
	}
}

func TestJitterIsBoundedAndSettled(t *testing.T) {
	plan := schedule.Plan{Every: time.Hour, Jitter: time.Minute, Seed: "a"}
	other := plan
	other.Seed = "b"
	differs := false
	for i := range 100 {
		at := noon.Add(time.Duration(i) * time.Hour)
		delay := plan.Due(at).Sub(at)
		if delay < 0 || delay >= time.Minute || !plan.Due(at).Equal(plan.Due(at.In(time.Local))) {
			t.Fatalf("delay %s", delay)
		}
		differs = differs || !plan.Due(at).Equal(other.Due(at))
	}
	if !differs {
		t.Error("two schedules have the same delays")
	}
}

func TestBetweenIncludesBothEnds(t *testing.T) {
	plan := schedule.Plan{Every: time.Hour}
	got := plan.Between(noon, noon.Add(2*time.Hour), 10)
	if !slices.EqualFunc(got, []time.Time{noon, noon.Add(time.Hour), noon.Add(2 * time.Hour)}, time.Time.Equal) {
		t.Errorf("%v", got)
	}
	once := schedule.Plan{At: noon}
	if len(once.Between(noon, noon, 10)) != 1 || len(once.Between(noon.Add(1), noon.Add(time.Hour), 10)) != 0 {
		t.Error("a single instant")
	}
}

// A server that restarts every minute of a month fires a weekly line four times: the next instant is kept,
// not computed from the start.
func TestRestartsDoNotMoveASchedule(t *testing.T) {
	cron, err := schedule.ParseCron("0 9 * * mon")
	if err != nil {
		t.Fatal(err)
	}
	plan := schedule.Plan{Cron: cron, Zone: time.UTC}
	planned, _ := plan.Next(noon)
	fired := 0
	for now := noon; now.Before(noon.AddDate(0, 0, 28)); now = now.Add(time.Minute) {
		ticks, next := plan.Overdue(planned, now, schedule.CatchUp{Deadline: time.Hour})
		fired, planned = fired+len(ticks), next
	}
	if fired != 4 {
		t.Errorf("fired %d times", fired)
	}
}
