package store_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/store"
)

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), enginetest.Pool(t), store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// begin is the first flush of an execution with one event.
func begin(owner uuid.UUID) *store.Flush {
	return &store.Flush{Execution: uuid.Must(uuid.NewV7()), Team: uuid.New(), Workflow: "w", Owner: owner, FirstSeq: 1, LastSeq: 1,
		At: time.Now(), Events: []byte("one"), Begin: &store.Begin{Status: "running", Version: 1, CorrelationID: "c", Priority: "normal", Owned: true}}
}

func next(f *store.Flush, events string) *store.Flush {
	return &store.Flush{Execution: f.Execution, Team: f.Team, Workflow: f.Workflow, Owner: f.Owner, FirstSeq: f.LastSeq + 1, LastSeq: f.LastSeq + 1,
		At: time.Now(), Events: []byte(events)}
}

func commit(t *testing.T, s *store.Store, f *store.Flush) store.Written {
	t.Helper()
	written, err := s.Commit(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

func TestOfTwoOwnersOneIsFenced(t *testing.T) {
	s := newStore(t)
	first := begin(uuid.New())
	commit(t, s, first)
	commit(t, s, next(first, "heir"))
	zombie := next(first, "zombie")
	zombie.Status = &store.Status{Status: "failed", Finished: time.Now()}
	zombie.Notices = []store.Notice{{To: first.Execution, Message: execution.Message{Pause: &execution.Control{By: "zombie"}}}}
	if _, err := s.Commit(t.Context(), zombie); !errors.Is(err, store.ErrFenced) {
		t.Fatalf("the second writer of event 2 was answered %v", err)
	}
	row, err := s.Execution(t.Context(), first.Team, first.Execution)
	if !errors.Is(err, store.ErrNotFound) && row.Status != "running" {
		t.Errorf("the fenced flush changed the status to %s", row.Status)
	}
	if _, inbox, owned, err := s.Look(t.Context(), first.Execution, first.Owner); err != nil || !owned || len(inbox) != 0 {
		t.Errorf("the fenced flush left %d messages, owned %v, %v", len(inbox), owned, err)
	}
}

// An acknowledgement may be lost after the commit: writing the same again is a success, not a fence.
func TestTheSameWriteAgainIsASuccess(t *testing.T) {
	s := newStore(t)
	first := begin(uuid.New())
	commit(t, s, first)
	commit(t, s, next(first, "two"))
	commit(t, s, next(first, "two"))
	if _, err := s.Commit(t.Context(), begin(first.Owner)); err != nil {
		t.Error(err)
	}
}

// One that is fenced, or cannot be stored at all, must not take the others of its group along.
func TestAGroupIsNotLostWithOneMember(t *testing.T) {
	s := newStore(t)
	const members = 40
	flushes := make([]*store.Flush, members)
	for i := range flushes {
		first := begin(uuid.New())
		commit(t, s, first)
		flushes[i] = next(first, "next")
	}
	fenced, broken := flushes[3], flushes[7]
	commit(t, s, &store.Flush{Execution: fenced.Execution, FirstSeq: 2, LastSeq: 2, At: time.Now(), Events: []byte("other"), Owner: uuid.New()})
	broken.Status = &store.Status{Status: "\x00"}

	failures := make([]error, members)
	var group sync.WaitGroup
	for i, f := range flushes {
		group.Go(func() { _, failures[i] = s.Commit(context.Background(), f) })
	}
	group.Wait()
	for i, err := range failures {
		switch {
		case i == 3 && !errors.Is(err, store.ErrFenced), i == 7 && (err == nil || errors.Is(err, store.ErrFenced)):
			t.Errorf("the bad member %d was answered %v", i, err)
		case i != 3 && i != 7 && err != nil:
			t.Errorf("the good member %d was answered %v", i, err)
		}
	}
}

func TestParkingSeesAWakeUp(t *testing.T) {
	s := newStore(t)
	first := begin(uuid.New())
	commit(t, s, first)
	if _, err := s.Deliver(t.Context(), first.Execution, execution.Message{Pause: &execution.Control{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	park := next(first, "two")
	park.Leave = &store.Leave{Wakes: 1, Due: time.Now().Add(time.Hour)}
	if commit(t, s, park).Parked {
		t.Fatal("it was parked over an unread message")
	}
	wakes, inbox, owned, err := s.Look(t.Context(), first.Execution, first.Owner)
	if err != nil || !owned || len(inbox) != 1 || inbox[0].Message.Pause == nil {
		t.Fatalf("the inbox has %d messages, owned %v, %v", len(inbox), owned, err)
	}
	again := &store.Flush{Execution: first.Execution, Owner: first.Owner, At: time.Now(), Drained: []int64{inbox[0].ID},
		Leave: &store.Leave{Wakes: wakes, Due: time.Now().Add(-time.Second)}}
	if !commit(t, s, again).Parked {
		t.Fatal("it was not parked")
	}
	woken, _, err := s.FireTimers(t.Context())
	if err != nil || len(woken) != 1 || woken[0] != first.Execution {
		t.Errorf("the due timer woke %v, %v", woken, err)
	}
	if woken, _, err := s.FireTimers(t.Context()); err != nil || len(woken) != 0 {
		t.Errorf("the timer fired twice: %v, %v", woken, err)
	}
}

func TestWholeNumbersOfMessagesStayWhole(t *testing.T) {
	s := newStore(t)
	first := begin(uuid.New())
	commit(t, s, first)
	const large = int64(9007199254740993)
	payload := map[string]any{"id": large, "list": []any{1.5, "a\x00b"}}
	if _, err := s.Deliver(t.Context(), first.Execution, execution.Message{Signal: &execution.Signal{Name: "n", Payload: payload}}); err != nil {
		t.Fatal(err)
	}
	_, inbox, _, err := s.Look(t.Context(), first.Execution, first.Owner)
	if err != nil || len(inbox) != 1 {
		t.Fatal(inbox, err)
	}
	got := inbox[0].Message.Signal.Payload.(map[string]any)
	if got["id"] != large || got["list"].([]any)[0] != 1.5 || got["list"].([]any)[1] != "a\x00b" {
		t.Errorf("the payload came back as %v", got)
	}
}

// TestADecisionGoesBeforeAnExpiry: a flush that expires a task which somebody has decided is not written.
func TestADecisionGoesBeforeAnExpiry(t *testing.T) {
	pool := enginetest.Pool(t)
	s, err := store.Open(t.Context(), pool, store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	first, task := begin(uuid.New()), uuid.New()
	first.Tasks = []execution.TaskRow{{ID: task, Create: true, Title: "Pay?", Outcomes: []string{"yes", "no"}, At: time.Now()}}
	commit(t, s, first)
	if _, err := pool.Exec(t.Context(), `update tasks set status = 'done', outcome = 'yes'`); err != nil {
		t.Fatal(err)
	}
	second := next(first, "expired")
	second.Tasks = []execution.TaskRow{{ID: task, Status: "expired", Outcome: "expired", At: time.Now()}}
	if _, err := s.Commit(t.Context(), second); !errors.Is(err, store.ErrOvertaken) {
		t.Errorf("the expiry answered %v", err)
	}
	if last, err := s.LastSeq(t.Context(), first.Execution); err != nil || last != 1 {
		t.Errorf("the history ends at %d, %v", last, err)
	}
	second.Tasks[0].Status, second.Tasks[0].Outcome = "cancelled", "" // the execution ends: the decision stays
	commit(t, s, second)
}
