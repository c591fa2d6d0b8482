package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
)

const notes = `
  input: {type: object, properties: {day: {type: string}}, additionalProperties: false}
  activities:
    - id: note
      type: set
      outputs: {day: inputs.day, at: trigger?.scheduledAt}
  output: {day: activities.note.outputs.day, at: activities.note.outputs.at}
`

const lingers = `
  activities:
    - id: hear
      type: event
      timeout: 1h
      event: {name: go_on, correlation: execution.id}
`

func (w *world) schedule(request engine.ScheduleRequest) engine.Schedule {
	w.t.Helper()
	schedule, err := w.CreateSchedule(w.t.Context(), w.who, request)
	if err != nil {
		w.t.Fatal(err)
	}
	return schedule
}

// missed makes a schedule's ticks due since some time ago, as after an outage.
func (w *world) missed(id uuid.UUID, ago time.Duration) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`update schedules set planned_at = date_trunc('hour', now()) - interval '%d seconds',
		due_at = date_trunc('hour', now()) - interval '%d seconds' where id = '%s'`, int(ago.Seconds()), int(ago.Seconds()), id))
}

func (w *world) ticks(id uuid.UUID) []engine.Tick {
	w.t.Helper()
	page, err := w.Ticks(w.t.Context(), w.who, id, engine.PageRequest{Limit: 500})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

// outcomes are the outcomes of a schedule's ticks, oldest first.
func (w *world) outcomes(id uuid.UUID) string {
	w.t.Helper()
	var words []string
	for _, tick := range w.ticks(id) {
		words = append([]string{tick.Outcome}, words...)
	}
	return strings.Join(words, " ")
}

func code(err error) string {
	var refused *engine.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

func TestAScheduleStartsItsWorkflow(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Every: "1s", Input: map[string]any{"day": "mon"}})
	w.eventually("two ticks start", func() bool { return strings.HasPrefix(w.outcomes(schedule.ID), "started started") })
	if _, err := w.PauseSchedule(t.Context(), w.who, schedule.ID, true); err != nil {
		t.Fatal(err)
	}
	ticks := w.ticks(schedule.ID)
	for _, tick := range ticks {
		detail := w.ends(*tick.Execution, "completed")
		output := detail.Output.(map[string]any)
		if output["day"] != "mon" || output["at"] != tick.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000Z") || detail.Trigger["type"] != "schedule" {
			t.Errorf("tick %s: output %v, trigger %v", tick.ScheduledAt, output, detail.Trigger)
		}
	}
	again, err := w.Schedule(t.Context(), w.who, schedule.ID)
	if err != nil || again.NextAt != nil || !again.Paused {
		t.Errorf("paused: %+v, %v", again, err)
	}
}

func TestTicksThatWereMissed(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	for catchUp, want := range map[string]string{
		"none": "skipped_late skipped_late skipped_late",
		"last": "skipped_late skipped_late started",
		"all":  "skipped_limit started started",
	} {
		schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Every: "1h", Overlap: "allow", CatchUp: catchUp, CatchUpLimit: 2, StartDeadline: "5h"})
		w.missed(schedule.ID, 3*time.Hour)
		// The whole hour that began last may be a fourth one, when it is not long past.
		w.eventually(catchUp, func() bool { return len(w.ticks(schedule.ID)) >= 4 })
		words := strings.Fields(w.outcomes(schedule.ID))
		if got := strings.Join(words[1:], " "); got != want || words[0] == "started" {
			t.Errorf("catchUp %s: %s", catchUp, words)
		}
		seen, err := w.Schedule(t.Context(), w.who, schedule.ID)
		if err != nil || seen.NextAt == nil || !seen.NextAt.After(time.Now().Add(-time.Minute)) {
			t.Errorf("catchUp %s: the next tick is %v, %v", catchUp, seen.NextAt, err)
		}
	}
}

// Two replicas and a long outage: each instant has one outcome, and each started one has one execution.
func TestReplicasShareTicks(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	other := &world{t: t, url: w.url, http: w.http, who: w.who}
	other.open()
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Every: "1m", Overlap: "allow", CatchUp: "all", CatchUpLimit: 500, StartDeadline: "24h"})
	w.missed(schedule.ID, 100*time.Minute)
	w.eventually("the outage is worked off", func() bool {
		seen, err := w.Schedule(t.Context(), w.who, schedule.ID)
		return err == nil && seen.NextAt.After(time.Now())
	})
	ticks := w.ticks(schedule.ID)
	if len(ticks) < 100 {
		t.Errorf("%d ticks", len(ticks))
	}
	executions := map[uuid.UUID]bool{}
	for i, tick := range ticks {
		if tick.Outcome != "started" || executions[*tick.Execution] {
			t.Errorf("tick %+v", tick)
		}
		executions[*tick.Execution] = true
		if i > 0 && ticks[i-1].ScheduledAt.Sub(tick.ScheduledAt) != time.Minute {
			t.Errorf("between %s and %s is no minute", tick.ScheduledAt, ticks[i-1].ScheduledAt)
		}
	}
	var begun int
	w.row("select count(*) from executions where $1 <> id", uuid.Nil, &begun)
	if begun != len(ticks) {
		t.Errorf("%d executions of %d ticks", begun, len(ticks))
	}
}

func (w *world) trigger(id uuid.UUID) engine.Tick {
	w.t.Helper()
	tick, err := w.TriggerSchedule(w.t.Context(), w.who, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return tick
}

func TestOverlap(t *testing.T) {
	w := newWorld(t)
	w.publish("lingers", lingers)
	for overlap, want := range map[string]string{
		"skip":       "started skipped_overlap skipped_overlap",
		"allow":      "started started started",
		"buffer_one": "started buffered skipped_overlap",
	} {
		schedule := w.schedule(engine.ScheduleRequest{Workflow: "lingers", Cron: "0 0 1 1 *", Overlap: overlap})
		first := w.trigger(schedule.ID)
		w.trigger(schedule.ID)
		w.trigger(schedule.ID)
		if got := w.outcomes(schedule.ID); got != want {
			t.Errorf("%s: %s", overlap, got)
		}
		w.waiting(*first.Execution, "hear")
		w.post(engine.PostedEvent{Name: "go_on", Correlation: first.Execution.String()})
		w.ends(*first.Execution, "completed")
		if overlap == "buffer_one" {
			w.eventually("the buffered tick starts", func() bool { return w.outcomes(schedule.ID) == "started started skipped_overlap" })
		}
		if overlap == "skip" && w.trigger(schedule.ID).Outcome != "started" {
			t.Error("after the end a tick does not start")
		}
	}
}

func TestATickThatCannotStartFails(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Cron: "@yearly"})
	if err := w.Unpublish(t.Context(), w.who, "notes"); err != nil {
		t.Fatal(err)
	}
	if tick := w.trigger(schedule.ID); tick.Outcome != "failed" || !strings.Contains(tick.Reason, "not published") {
		t.Errorf("%+v", tick)
	}
}

const nightly = `
  schedule:
    - {cron: "0 3 * * *", timezone: Europe/Berlin, input: {day: 'formatTime(trigger.scheduledAt, "2006-01-02")'}}
` + "%s" + notes

func (w *world) republish(name, spec string) {
	w.t.Helper()
	draft, err := w.Draft(w.t.Context(), w.who, name)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.SaveDraft(w.t.Context(), w.who, name, []byte(fmt.Sprintf(textHead, name)+spec), draft.ETag, false); err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.Publish(w.t.Context(), w.who, name, ""); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) schedules() []engine.Schedule {
	w.t.Helper()
	page, err := w.Schedules(w.t.Context(), w.who, engine.ScheduleFilter{Ticks: 3})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

func TestSchedulesOfADefinition(t *testing.T) {
	w := newWorld(t)
	w.publish("nightly", fmt.Sprintf(nightly, ""))
	listed := w.schedules()
	if len(listed) != 1 || listed[0].Source != "definition" || listed[0].Cron != "0 3 * * *" || listed[0].NextAt == nil {
		t.Fatalf("%+v", listed)
	}
	first := listed[0]
	tick := w.trigger(first.ID)
	detail := w.ends(*tick.Execution, "completed")
	if got := detail.Output.(map[string]any)["day"]; got != tick.ScheduledAt.UTC().Format(time.DateOnly) {
		t.Errorf("the day is %v", got)
	}
	_, err := w.ChangeSchedule(t.Context(), w.who, first.ID, func(*engine.ScheduleRequest) error { return nil })
	if code(err) != "conflict" || code(w.DeleteSchedule(t.Context(), w.who, first.ID)) != "conflict" {
		t.Errorf("changed or deleted past its definition: %v", err)
	}
	if _, err := w.PauseSchedule(t.Context(), w.who, first.ID, true); err != nil {
		t.Fatal(err)
	}
	w.republish("nightly", fmt.Sprintf(nightly, "    - {every: 1h}\n"))
	listed = w.schedules()
	if len(listed) != 2 || listed[0].ID != first.ID || !listed[0].Paused || listed[1].Every != "1h" || len(listed[0].LastTicks) != 1 {
		t.Errorf("after another version: %+v", listed)
	}
	w.republish("nightly", strings.Replace(fmt.Sprintf(nightly, ""), "0 3", "0 4", 1))
	listed = w.schedules()
	if len(listed) != 1 || listed[0].Cron != "0 4 * * *" || listed[0].Paused {
		t.Errorf("after a change: %+v", listed)
	}
	if err := w.Unpublish(t.Context(), w.who, "nightly"); err != nil {
		t.Fatal(err)
	}
	if listed = w.schedules(); len(listed) != 0 {
		t.Errorf("after unpublishing: %+v", listed)
	}
}

func TestWhatIsPlannedSurvivesARestart(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Every: "7h", Jitter: "10m"})
	w.ends(*w.trigger(schedule.ID).Execution, "completed")
	w.stop()
	w.open()
	w.ends(*w.trigger(schedule.ID).Execution, "completed")
	again, err := w.Schedule(t.Context(), w.who, schedule.ID)
	if err != nil || !again.NextAt.Equal(*schedule.NextAt) {
		t.Errorf("planned for %v, then %v, %v", schedule.NextAt, again.NextAt, err)
	}
}

func TestBackfill(t *testing.T) {
	w := newWorld(t)
	w.publish("lingers", lingers)
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "lingers", Cron: "0 0 * * *"})
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made, err := w.BackfillSchedule(t.Context(), w.who, schedule.ID, engine.BackfillRequest{From: from, To: from.AddDate(0, 0, 4), MaxParallel: 2})
	if err != nil || made.Ticks != 5 {
		t.Fatalf("%+v, %v", made, err)
	}
	w.eventually("two run", func() bool { return w.outcomes(schedule.ID) == "started started" })
	second := w.ticks(schedule.ID)[0]
	if *second.Backfill != made.ID || !second.ScheduledAt.Equal(from.AddDate(0, 0, 1)) {
		t.Errorf("the second tick is %+v", second)
	}
	w.waiting(*second.Execution, "hear")
	w.post(engine.PostedEvent{Name: "go_on", Correlation: second.Execution.String()})
	w.eventually("a third one follows", func() bool { return len(w.ticks(schedule.ID)) == 3 })
	if err := w.CancelBackfill(t.Context(), w.who, schedule.ID, made.ID); err != nil {
		t.Fatal(err)
	}
	if got := code(w.CancelBackfill(t.Context(), w.who, schedule.ID, made.ID)); got != "conflict" {
		t.Errorf("cancelled twice: %s", got)
	}
	if tick := w.trigger(schedule.ID); tick.Outcome != "started" {
		t.Errorf("the backfill holds up a tick: %+v", tick)
	}
}

func TestSchedulesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	for name, request := range map[string]engine.ScheduleRequest{
		"nothing":      {},
		"two":          {Cron: "@daily", Every: "1h"},
		"cron":         {Cron: "61 * * * *"},
		"too often":    {Every: "10ms"},
		"zone":         {Cron: "@daily", Timezone: "Mars/Olympus"},
		"overlap":      {Cron: "@daily", Overlap: "both"},
		"calendar":     {Cron: "@daily", Calendar: "moon"},
		"input":        {Cron: "@daily", Input: map[string]any{"night": true}},
		"instant":      {At: "tomorrow"},
		"over":         {At: "2020-01-31T09:00:00Z"},
		"over here":    {At: "2020-01-31T09:00", Timezone: "Europe/Berlin"},
		"left out":     {At: "2035-03-25T02:30", Timezone: "Europe/Berlin", DST: engine.DSTRule{Gap: "skip"}},
		"catchUpLimit": {Cron: "@daily", CatchUpLimit: 20_000},
	} {
		request.Workflow = "notes"
		if _, err := w.CreateSchedule(t.Context(), w.who, request); code(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.CreateSchedule(t.Context(), w.who, engine.ScheduleRequest{Workflow: "none", Cron: "@daily"}); code(err) != "not_found" {
		t.Errorf("no workflow: %v", err)
	}
	schedule := w.schedule(engine.ScheduleRequest{Workflow: "notes", Cron: "@daily"})
	w.ends(*w.trigger(schedule.ID).Execution, "completed")
	stranger := engine.Who{Team: uuid.New(), User: "eve"}
	if _, err := w.Schedule(t.Context(), stranger, schedule.ID); code(err) != "not_found" {
		t.Errorf("another team: %v", err)
	}
	if _, err := w.TriggerSchedule(t.Context(), stranger, schedule.ID); code(err) != "not_found" {
		t.Errorf("another team: %v", err)
	}
}

// An instant on a day on which clocks change is read as cron lines are: the first of two, and moved by a gap. A schedule
// whose instant is over can still be changed elsewhere.
func TestAnInstantOnADayOnWhichClocksChange(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	for at, want := range map[string]string{
		"2035-10-28T02:30": "2035-10-28T00:30:00Z",
		"2035-03-25T02:30": "2035-03-25T01:30:00Z",
	} {
		made := w.schedule(engine.ScheduleRequest{Workflow: "notes", At: at, Timezone: "Europe/Berlin"})
		if got := made.NextAt.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s is %s, expected %s", at, got, want)
		}
		w.exec(`update schedules set spec = jsonb_set(spec::jsonb, '{at}', '"2020-01-31T09:00:00Z"')`)
		if _, err := w.ChangeSchedule(t.Context(), w.who, made.ID, func(r *engine.ScheduleRequest) error { r.Overlap = "allow"; return nil }); err != nil {
			t.Errorf("a schedule that is over is changed: %v", err)
		}
	}
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.publish("notes", notes)
	w.ends(w.start("notes", nil), "completed") // the engine runs
	from := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	fires, err := w.PreviewSchedule(t.Context(), engine.ScheduleRequest{Cron: "30 2 * * *", Timezone: "Europe/Berlin", DST: engine.DSTRule{Gap: "skip"}}, &from, 2)
	if err != nil || len(fires) != 2 || fires[0].Format(time.RFC3339) != "2026-03-30T00:30:00Z" {
		t.Errorf("%v, %v", fires, err)
	}
}
