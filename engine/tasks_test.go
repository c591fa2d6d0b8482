package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/human"
	"weftline/engine/store"
	"weftline/queries"
)

// taskWorld is a desk over a fresh database with a clock that stands still and a record of what it told.
type taskWorld struct {
	*desk
	t         *testing.T
	team      uuid.UUID
	instant   time.Time
	delivered atomic.Int32
	changes   atomic.Int32
}

func newTaskWorld(t *testing.T) *taskWorld {
	t.Helper()
	db := enginetest.Pool(t)
	w := &taskWorld{t: t, instant: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	w.desk = newDesk(db, deskLinks{
		deliver:   (&store.Store{}).DeliverIn,
		now:       func() time.Time { return w.instant },
		delivered: func(uuid.UUID) { w.delivered.Add(1) },
		changed:   func(Change) { w.changes.Add(1) },
	})
	team, err := queries.New(db).TeamByName(t.Context(), DefaultTeam)
	if err != nil {
		t.Fatal(err)
	}
	w.team = team.ID
	return w
}

// open inserts a task for the group board; columns are further settings as SQL.
func (w *taskWorld) open(columns ...string) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	const insert = `insert into tasks (id, team_id, execution_id, workflow, activity, title, outcomes, groups, requester, created_at, updated_at)
		values ($1, $2, $3, 'pay', 'decide', 'Pay?', '{approved,rejected}', '{board}', 'abe', $4, $4)`
	if _, err := w.db.Exec(w.t.Context(), insert, id, w.team, uuid.New(), w.instant.Add(-time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	for _, column := range columns {
		if _, err := w.db.Exec(w.t.Context(), "update tasks set "+column+" where id = $1", id); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

func (w *taskWorld) member(name string, groups ...string) Who {
	return Who{Team: w.team, User: name, Groups: append(groups, "board"), Scopes: []string{ScopeRead, ScopeRun}}
}

func (w *taskWorld) admin() Who {
	return Who{Team: w.team, User: "root", Roles: []string{RoleAdmin}}
}

// task reads a task as an admin.
func (w *taskWorld) task(id uuid.UUID) Task {
	w.t.Helper()
	task, err := w.Task(w.t.Context(), w.admin(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return task
}

// messages are what the task's execution was told.
func (w *taskWorld) messages(id uuid.UUID) []execution.Message {
	w.t.Helper()
	rows, err := w.q.Inboxes(w.t.Context(), []uuid.UUID{w.task(id).Execution})
	if err != nil {
		w.t.Fatal(err)
	}
	var messages []execution.Message
	for _, row := range rows {
		var message execution.Message
		if err := json.Unmarshal(row.Message, &message); err != nil {
			w.t.Fatal(err)
		}
		messages = append(messages, message)
	}
	return messages
}

func TestCompletingATaskTellsItsExecution(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open("item = 'line/1'")
	status, err := w.CompleteTask(t.Context(), w.member("ben"), id, Answer{Decision: "approved", Comment: " fine "})
	if err != nil || status != "done" {
		t.Fatalf("status %q, %v", status, err)
	}
	task := w.task(id)
	if task.Status != "done" || task.Outcome != "approved" || len(task.Decisions) != 1 || task.Decisions[0].By != "ben" {
		t.Errorf("task %+v", task)
	}
	messages := w.messages(id)
	if len(messages) != 1 || messages[0].Vote == nil {
		t.Fatalf("messages %+v", messages)
	}
	want := execution.Vote{Task: id, Activity: "decide", Item: "line/1", By: "ben", Outcome: "approved", Comment: "fine", At: w.instant, Decides: true}
	if got := *messages[0].Vote; got != want {
		t.Errorf("vote %+v, want %+v", got, want)
	}
	if w.delivered.Load() != 1 || w.changes.Load() != 1 {
		t.Errorf("told %d, changed %d times", w.delivered.Load(), w.changes.Load())
	}
	_, err = w.CompleteTask(t.Context(), w.member("cleo"), id, Answer{Decision: "rejected"})
	wantRefusal(t, err, "conflict")
	if len(w.messages(id)) != 1 {
		t.Error("a refused answer told the execution")
	}
}

func TestManyClicksOneDecision(t *testing.T) {
	w := newTaskWorld(t)
	for range 5 {
		id := w.open()
		var won, lost atomic.Int32
		var clicks sync.WaitGroup
		for _, name := range []string{"ben", "ben", "cleo", "cleo", "dirk", "eve", "ben", "cleo"} {
			clicks.Go(func() {
				decision := "approved"
				if name == "cleo" {
					decision = "rejected"
				}
				_, err := w.CompleteTask(t.Context(), w.member(name), id, Answer{Decision: decision})
				var refusal *Error
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, &refusal) && refusal.Code == "conflict":
					lost.Add(1)
				default:
					t.Errorf("neither accepted nor refused: %v", err)
				}
			})
		}
		clicks.Wait()
		if won.Load() != 1 || lost.Load() != 7 || len(w.messages(id)) != 1 {
			t.Errorf("%d won, %d lost, %d messages", won.Load(), lost.Load(), len(w.messages(id)))
		}
	}
}

func TestQuorumCountsPeople(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open("quorum = 2", "barred = '{abe}'")
	answer := func(name, decision string) (string, error) {
		return w.CompleteTask(t.Context(), w.member(name), id, Answer{Decision: decision})
	}
	_, err := answer("abe", "approved")
	wantRefusal(t, err, "self_approval")
	if status, err := answer("ben", "approved"); err != nil || status != "open" {
		t.Fatalf("first vote: %q, %v", status, err)
	}
	_, err = answer("ben", "approved")
	wantRefusal(t, err, "conflict")
	if status, err := answer("cleo", "approved"); err != nil || status != "done" {
		t.Fatalf("second vote: %q, %v", status, err)
	}
	messages := w.messages(id)
	if len(messages) != 2 || messages[0].Vote.Decides || !messages[1].Vote.Decides {
		t.Errorf("messages %+v", messages)
	}
}

func TestTaskForm(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open(`form = '{"type": "object", "required": ["amount"], "additionalProperties": false,
		"properties": {"amount": {"type": "number", "minimum": 1}}}'`)
	for _, form := range []any{nil, map[string]any{"amount": int64(0)}, map[string]any{"amount": "3"}, map[string]any{"amount": int64(3), "more": true}} {
		_, err := w.CompleteTask(t.Context(), w.member("ben"), id, Answer{Decision: "approved", Form: form})
		wantRefusal(t, err, "invalid_input")
		var refusal *Error
		if errors.As(err, &refusal); len(refusal.Problems) == 0 || !strings.HasPrefix(refusal.Problems[0].Path, "/form") {
			t.Errorf("%v: problems %+v", form, refusal.Problems)
		}
	}
	form := map[string]any{"amount": 12.5}
	if _, err := w.CompleteTask(t.Context(), w.member("ben"), id, Answer{Decision: "approved", Form: form}); err != nil {
		t.Fatal(err)
	}
	if vote := w.messages(id)[0].Vote; vote.Form.(map[string]any)["amount"] != 12.5 {
		t.Errorf("the form was not passed on: %+v", vote)
	}
}

func TestDueTaskIsRefusedBeforeItsTimerActs(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open("due = created_at + interval '1 hour'")
	_, err := w.CompleteTask(t.Context(), w.member("ben"), id, Answer{Decision: "approved"})
	wantRefusal(t, err, "conflict")
	if task := w.task(id); task.Status != "open" || task.MayDecide || task.WhyNot == "" {
		t.Errorf("task %+v", task)
	}
}

func TestWhoSeesATask(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open("users = '{mia}'")
	other := w.admin()
	other.Team = uuid.New()
	for name, c := range map[string]struct {
		who  Who
		sees bool
	}{
		"group":        {w.member("ben"), true},
		"named":        {Who{Team: w.team, User: "mia", Scopes: []string{ScopeRead}}, true},
		"requester":    {Who{Team: w.team, User: "abe", Scopes: []string{ScopeRead}}, true},
		"admin":        {w.admin(), true},
		"stand-in":     {Who{Team: w.team, User: "local", Groups: []string{human.Everybody}, Scopes: []string{ScopeRead}}, true},
		"stranger":     {Who{Team: w.team, User: "olga", Groups: []string{"visitors"}, Scopes: []string{ScopeRead}}, false},
		"another team": {other, false},
	} {
		_, err := w.Task(t.Context(), c.who, id)
		page, listErr := w.Tasks(t.Context(), c.who, TaskFilter{})
		if listErr != nil {
			t.Fatal(listErr)
		}
		if got := err == nil; got != c.sees || len(page.Items) > 0 != c.sees {
			t.Errorf("%s: sees %v (%v), lists %d; want %v", name, got, err, len(page.Items), c.sees)
		}
	}
	_, err := w.CompleteTask(t.Context(), other, id, Answer{Decision: "approved"})
	wantRefusal(t, err, "not_found")
	_, err = w.CompleteTask(t.Context(), Who{Team: w.team, User: "olga"}, id, Answer{Decision: "approved"})
	wantRefusal(t, err, "forbidden")
}

func TestTaskListOrderFiltersAndPages(t *testing.T) {
	w := newTaskWorld(t)
	late := w.open("due = created_at")
	soon := w.open("due = now() + interval '1 day'", "workflow = 'ship'")
	never := w.open("assignee = 'ben'", "title = '100% sure_'")
	done := w.open("status = 'done'", "groups = '{heads}'", "finished_at = now()")
	list := func(filter TaskFilter) (ids []uuid.UUID) {
		t.Helper()
		for {
			page, err := w.Tasks(t.Context(), w.admin(), filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range page.Items {
				ids = append(ids, task.ID)
			}
			if page.NextCursor == nil {
				return ids
			}
			filter.Cursor = *page.NextCursor
		}
	}
	for name, c := range map[string]struct {
		filter TaskFilter
		want   []uuid.UUID
	}{
		"all":              {TaskFilter{}, []uuid.UUID{late, soon, never, done}},
		"page by page":     {TaskFilter{PageRequest: PageRequest{Limit: 1}}, []uuid.UUID{late, soon, never, done}},
		"open":             {TaskFilter{Status: "open"}, []uuid.UUID{late, soon, never}},
		"assignee":         {TaskFilter{Assignee: "ben"}, []uuid.UUID{never}},
		"mine":             {TaskFilter{Assignee: "me"}, nil},
		"group":            {TaskFilter{Group: "heads"}, []uuid.UUID{done}},
		"workflow":         {TaskFilter{Workflow: "ship"}, []uuid.UUID{soon}},
		"overdue":          {TaskFilter{Overdue: true}, []uuid.UUID{late}},
		"literal % search": {TaskFilter{PageRequest: PageRequest{}, Query: "0% s"}, []uuid.UUID{never}},
		"literal _ search": {TaskFilter{Query: "y?_"}, nil},
	} {
		if got := list(c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestClaimsAndAssignments(t *testing.T) {
	w := newTaskWorld(t)
	ctx := t.Context()
	id := w.open()
	ben, cleo := w.member("ben"), w.member("cleo")
	if err := w.ClaimTask(ctx, ben, id); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, w.ClaimTask(ctx, cleo, id), "conflict")
	wantRefusal(t, w.UnclaimTask(ctx, cleo, id), "conflict")
	if err := w.UnclaimTask(ctx, ben, id); err != nil {
		t.Fatal(err)
	}
	if err := w.AssignTask(ctx, cleo, id, " olga "); err != nil {
		t.Fatal(err)
	}
	if task := w.task(id); task.Assignee == nil || *task.Assignee != "olga" {
		t.Errorf("assigned to %v", task.Assignee)
	}
	if err := w.CommentTask(ctx, ben, id, "look at line 3"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CompleteTask(ctx, Who{Team: w.team, User: "olga"}, id, Answer{Decision: "rejected"}); err != nil {
		t.Fatalf("being assigned does not let one decide: %v", err)
	}
	var kinds, told []string
	for _, event := range w.task(id).History {
		kinds = append(kinds, event.Kind)
	}
	for _, message := range w.messages(id) {
		if message.TaskChange != nil {
			told = append(told, message.TaskChange.Kind+" "+message.TaskChange.To+message.TaskChange.Comment)
		}
	}
	if want := []string{"claimed", "unclaimed", "assigned", "commented", "decided"}; !slices.Equal(kinds, want) {
		t.Errorf("history %v, want %v", kinds, want)
	}
	if want := []string{"claimed ", "unclaimed ", "assigned olga", "commented look at line 3"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

func TestReleasedTaskOfOnePersonIsNotLost(t *testing.T) {
	w := newTaskWorld(t)
	id := w.open("groups = '{}'", "assignee = 'mia'")
	mia := Who{Team: w.team, User: "mia", Scopes: []string{ScopeRun}}
	if err := w.UnclaimTask(t.Context(), mia, id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CompleteTask(t.Context(), mia, id, Answer{Decision: "approved"}); err != nil {
		t.Errorf("after releasing it, mia cannot decide: %v", err)
	}
}

func TestFormDraftIsPrivate(t *testing.T) {
	w := newTaskWorld(t)
	ctx := t.Context()
	id := w.open()
	ben, cleo := w.member("ben"), w.member("cleo")
	for who, reason := range map[*Who]string{&ben: "because", &cleo: "never"} {
		if err := w.DraftTask(ctx, *who, id, map[string]any{"reason": reason}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.ClaimTask(ctx, ben, id); err != nil {
		t.Fatal(err)
	}
	if err := w.UnclaimTask(ctx, ben, id); err != nil {
		t.Fatal(err)
	}
	task, err := w.Task(ctx, ben, id)
	if err != nil {
		t.Fatal(err)
	}
	if draft, _ := task.Draft.(map[string]any); draft["reason"] != "because" {
		t.Errorf("ben's draft is %v", task.Draft)
	}
	if task := w.task(id); task.Draft != nil {
		t.Errorf("the admin sees %v", task.Draft)
	}
	wantRefusal(t, w.DraftTask(ctx, Who{Team: w.team, User: "olga"}, id, nil), "forbidden")
}
