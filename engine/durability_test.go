package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/worker"
)

func effects(t *testing.T, log string) []string {
	t.Helper()
	content, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var lines []string
	for scanner := bufio.NewScanner(strings.NewReader(string(content))); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return lines
}

// chain is a workflow of n http activities in line.
func chain(n int) string {
	text := "  activities:\n"
	for i := range n {
		text += fmt.Sprintf("    - {id: s%d, type: http, inputs: {url: \"http://example.com\"}", i)
		if i > 0 {
			text += fmt.Sprintf(", needs: [s%d]", i-1)
		}
		text += "}\n"
	}
	return text
}

func TestAKilledReplicaLosesNothing(t *testing.T) {
	const executions, steps = 10, 8
	w := newWorld(t)
	w.publish("chain", chain(steps))
	w.stop() // from here on only the replicas drive
	w.door()
	log := t.TempDir() + "/effects"
	kill := w.replica(log)
	ids := make([]uuid.UUID, executions)
	for i := range ids {
		ids[i] = w.start("chain", nil)
	}
	w.eventually("some effects", func() bool { return len(effects(t, log)) >= executions*steps/3 })
	kill()
	atKill := len(effects(t, log))
	if atKill >= executions*steps {
		t.Fatal("everything was over before the kill")
	}
	done := map[string]bool{}
	for _, id := range ids {
		for _, event := range w.events(id) {
			if event.Type == execution.ActivityCompleted {
				done[id.String()+"/"+event.Activity] = true
			}
		}
	}
	w.replica(log)
	for _, id := range ids {
		w.ends(id, "completed")
	}
	all := effects(t, log)
	for _, key := range all[atKill:] {
		if done[key] {
			t.Errorf("%s was completed before the kill and ran again", key)
		}
	}
	if again := len(all) - executions*steps; again > executions {
		t.Errorf("%d effects were repeated; of each execution at most the one in flight may be", again)
	}
}

// What docs/crashes.md says of each mode: how many effects of an execution a replica that was killed, or told
// to stop, leaves to be made again.
func TestWhatACrashReRunsByMode(t *testing.T) {
	const executions, steps = 6, 20
	for _, tc := range []struct {
		mode   string
		signal os.Signal
		most   int // effects of one execution
	}{
		{worker.ModeServer, syscall.SIGKILL, 1},
		{worker.ModeLocalSync, syscall.SIGKILL, 1},
		{worker.ModeLocalAsync, syscall.SIGKILL, 64},
		{worker.ModeServer, syscall.SIGTERM, 0},
		{worker.ModeLocalSync, syscall.SIGTERM, 0},
		{worker.ModeLocalAsync, syscall.SIGTERM, 0},
	} {
		t.Run(fmt.Sprintf("%s, %s", tc.mode, tc.signal), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish("chain", fmt.Sprintf("  execution: {mode: %s}\n", tc.mode)+chain(steps))
			w.stop()
			w.door()
			log := t.TempDir() + "/effects"
			end := w.replicaProcess(log)
			ids := make([]uuid.UUID, executions)
			for i := range ids {
				ids[i] = w.start("chain", nil)
			}
			w.eventually("half of the effects", func() bool { return len(effects(t, log)) >= executions*steps/2 })
			end(tc.signal)
			if len(effects(t, log)) >= executions*steps {
				t.Fatal("everything was over before the signal")
			}
			w.replica(log)
			for _, id := range ids {
				w.ends(id, "completed")
			}
			times := map[string]int{}
			for _, key := range effects(t, log) {
				times[key]++
			}
			for _, id := range ids {
				again := -steps
				for key, n := range times {
					if strings.HasPrefix(key, id.String()) {
						again += n
					}
				}
				if again < 0 || again > tc.most {
					t.Errorf("%d effects of an execution were made again, at most %d may be", again, tc.most)
				}
			}
		})
	}
}

// door is an engine that drives nothing.
func (w *world) door() { w.doorAt(w.url) }

// doorAt is one that reaches the database at a URL.
func (w *world) doorAt(url string) {
	w.t.Helper()
	e, err := engine.Open(w.t.Context(), engine.Options{DatabaseURL: url, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Engine = e
	w.t.Cleanup(func() { e.Close(context.Background()) })
}

// eventually waits for a condition that no change tells of.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	for bound := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(bound) {
			w.t.Fatalf("in vain: %s", what)
		}
	}
}

func TestAPausedOwnerThatWakesUpChangesNothing(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	wake := sync.OnceFunc(func() { close(release) })
	t.Cleanup(wake) // also when the test fails before
	w.http.answers(func(ctx context.Context, _ activity.Call) activity.Outcome {
		<-release // deaf to its context, as a paused process is
		return activity.Outcome{Value: map[string]any{"status": int64(500)}}
	})
	w.publish("chain", chain(2))
	id := w.start("chain", nil)
	w.eventually("the first attempt", func() bool { return len(w.http.made()) == 1 })
	w.exec(`update workers set state = 'stopped'`)

	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	heir.open()
	detail := heir.ends(id, "completed")
	wake()
	w.stop()
	if after, err := heir.Execution(t.Context(), w.who, id); err != nil || after.LastSeq != detail.LastSeq {
		t.Errorf("the late owner wrote up to event %d, the history ended at %d, %v", after.LastSeq, detail.LastSeq, err)
	}
	if lost := heir.count(id, execution.LeaseExpired); lost != 1 {
		t.Errorf("%d leases expired", lost)
	}
}

// An attempt made for another replica, which heeds nothing, does not keep a process that was told to end.
func TestADeafAttemptIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	helper := w.beside(labelled(map[string]string{"gpu": "true"}, ""))
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	helper.http.answers(func(context.Context, activity.Call) activity.Outcome {
		<-release
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	})
	w.publish("placed", `
  activities:
    - {id: far, type: http, inputs: {url: "https://example.com"}, affinity: {labels: {gpu: "true"}}}
`)
	w.start("placed", nil)
	w.eventually("the attempt", func() bool { return len(helper.http.made()) == 1 })
	stopped := make(chan struct{})
	go func() {
		helper.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Error("it does not end")
	}
}

// In a fleet that is full, whatever ends makes room for something new; what a lost worker left must not wait for that.
func TestAFullWorkerTakesWhatALostOneLeft(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.Concurrency = 1 })
	g := &gate{pass: make(chan struct{})}
	w.http.answers(g.answer)
	w.publish("chain", chain(2))
	for range 10 { // one slot owns eight
		w.start("chain", nil)
	}
	unowned := `select execution_id from ready where owner is null and $1::uuid is not null limit 1`
	var lost uuid.UUID
	w.eventually("the worker is full", func() bool {
		var owned int
		w.row(`select count(owner) from ready where $1::uuid is not null`, uuid.New(), &owned)
		return owned == 8
	})
	w.row(unowned, uuid.New(), &lost)
	w.exec(`update ready set owner = gen_random_uuid() where execution_id = '` + lost.String() + `'`)
	w.eventually("it is taken over", func() bool {
		var owner uuid.UUID
		w.row(`select owner from ready where execution_id = $1`, lost, &owner)
		return owner == w.Worker()
	})
	close(g.pass)
	w.ends(lost, "completed")
}

func TestADrainHandsOver(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", chain(5))
	slow := func(context.Context, activity.Call) activity.Outcome {
		time.Sleep(10 * time.Millisecond)
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	}
	w.http.answers(slow)
	id := w.start("chain", nil)
	w.eventually("the first attempt", func() bool { return len(w.http.made()) > 0 })
	w.stop()
	before := len(w.http.made())
	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	heir.open()
	heir.ends(id, "completed")
	if total := before + len(heir.http.made()); total != 5 {
		t.Errorf("%d attempts were made of 5 activities", total)
	}
	if lost := heir.count(id, execution.LeaseExpired); lost != 0 {
		t.Errorf("a drained worker left a lease that expired")
	}
}

// An execution that cannot be folded must say so, and must not stop others.
func TestAnInternalFaultIsVisibleAndStaysAlone(t *testing.T) {
	w := newWorld(t)
	w.publish("waits", `
  activities:
    - {id: pause, type: wait, wait: {timer: {after: 300ms}}}
`)
	broken, sound := w.start("waits", nil), w.start("waits", nil)
	w.exec(`update executions set version = 99 where id = '` + broken.String() + `'`)
	w.ends(sound, "completed")
	w.eventually("an incident", func() bool {
		page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{})
		return err == nil && len(page.Items) == 2 && w.incident(broken)
	})
	w.exec(`update executions set version = 1 where id = '` + broken.String() + `'`)
	w.ends(broken, "completed")
}

func (w *world) incident(id uuid.UUID) bool {
	var said bool
	w.row(`select incident is not null from executions where id = $1`, id, &said)
	return said
}

// A database that was made for another number of partitions is refused.
func TestThePartitionCountIsFixed(t *testing.T) {
	url := enginetest.Database(t)
	e, err := engine.Open(t.Context(), engine.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	e.Close(context.Background())
	if _, err := engine.Open(t.Context(), engine.Options{DatabaseURL: url, Partitions: 8}); err == nil || !strings.Contains(err.Error(), "--partitions 32") {
		t.Errorf("answered %v", err)
	}
}
