package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
	"weftline/engine/flow"
	"weftline/queries"
)

// catalogWorld is a catalog over a fresh database. Mail and SQL cannot run here, and only the child workflow
// "helper" can be started.
type catalogWorld struct {
	*catalog
	t   *testing.T
	ann Who

	mu      sync.Mutex
	changes []Change
}

func newCatalogWorld(t *testing.T) *catalogWorld {
	t.Helper()
	db := enginetest.Pool(t)
	w := &catalogWorld{t: t}
	w.catalog = newCatalog(db, newPolicies(db), catalogLinks{inputLimit: 1 << 20,
		unable: func(activity *flow.Activity) string {
			if activity.Type == flow.TypeEmail || activity.Type == flow.TypeSQL {
				return "nobody runs it; use another type"
			}
			return ""
		},
		mistakes: func(_ context.Context, code []flow.Code) (found []flow.Problem) {
			for _, each := range code {
				if each.Language == "javascript" && each.Text == "return (" {
					found = append(found, each.Mistake(1, 9, "it ends too early"))
				}
			}
			return found
		},
		resolve: func(_ context.Context, _ uuid.UUID, workflow, _ string) error {
			if workflow == "helper" {
				return nil
			}
			return errors.New("not published")
		},
		connection: func(_ context.Context, _ uuid.UUID, name string) (string, error) {
			if name == "assistant" {
				return "ai", nil
			}
			return "", nil
		},
		now: time.Now,
		latest: func(context.Context, Who, ExecutionFilter) (Page[ExecutionSummary], error) {
			return Page[ExecutionSummary]{Items: []ExecutionSummary{{Workflow: "pay"}}}, nil
		},
		changed: func(change Change) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changes = append(w.changes, change)
		},
	})
	team, err := queries.New(db).TeamByName(t.Context(), DefaultTeam)
	if err != nil {
		t.Fatal(err)
	}
	w.ann = Who{Team: team.ID, User: "ann", Roles: []string{RoleAdmin}}
	return w
}

// definition is a workflow with one step that sets a total.
func definition(name string, n int) []byte {
	return fmt.Appendf(nil, `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: %s
  description: Pays what is due
  labels: {team: money}
spec:
  activities:
    - id: step
      type: set
      outputs: {total: "%d"}
`, name, n)
}

// save saves a text over whatever is there.
func (w *catalogWorld) save(name string, text []byte) Draft {
	w.t.Helper()
	etag := ""
	if current, err := w.Draft(w.t.Context(), w.ann, name); err == nil {
		etag = current.ETag
	}
	draft, err := w.SaveDraft(w.t.Context(), w.ann, name, text, etag, etag == "")
	if err != nil {
		w.t.Fatal(err)
	}
	return draft
}

func (w *catalogWorld) publish(name string) (Version, bool) {
	w.t.Helper()
	version, created, err := w.Publish(w.t.Context(), w.ann, name, "because")
	if err != nil {
		w.t.Fatal(err)
	}
	return version, created
}

func TestDraftIsKeptByteForByte(t *testing.T) {
	w := newCatalogWorld(t)
	for name, text := range map[string][]byte{
		"good":     definition("good", 1),
		"half":     []byte("apiVersion: weftline/v1\nkind: Workf"),
		"no-yaml":  []byte("{{{ \t : ]"),
		"no-utf8":  []byte("name: \xff\xfe\x00"),
		"empty":    {},
		"comments": append([]byte("# why\r\n"), definition("comments", 1)...),
	} {
		saved := w.save(name, text)
		read, err := w.Draft(t.Context(), w.ann, name)
		if err != nil {
			t.Fatal(err)
		}
		if read.Text != string(text) || read.ETag != saved.ETag || read.By != "ann" {
			t.Errorf("%s: read %q (%s), saved %q (%s)", name, read.Text, read.ETag, text, saved.ETag)
		}
		if wantValid := name == "good" || name == "comments"; saved.Valid != wantValid || wantValid != (len(saved.Errors) == 0) {
			t.Errorf("%s: valid %v with errors %+v", name, saved.Valid, saved.Errors)
		}
	}
	page, err := w.Workflows(t.Context(), w.ann, WorkflowFilter{})
	if err != nil || len(page.Items) != 6 {
		t.Errorf("%d workflows, %v", len(page.Items), err)
	}
}

// The designer shows what could last be drawn, whatever was saved since.
func TestTheLastGoodTextOfADraftIsKeptWhileItIsBroken(t *testing.T) {
	w := newCatalogWorld(t)
	good, other := definition("orders", 1), definition("orders", 2)
	for i, step := range []struct {
		text     []byte
		lastGood []byte
	}{
		{good, nil},
		{[]byte("kind: Workflow\nspec: ["), good},
		{[]byte("kind: Workflow\nspec: [ ["), good}, // broken twice: what was good before both
		{other, nil},
		{[]byte("{"), other},
	} {
		w.save("orders", step.text)
		read, err := w.Draft(t.Context(), w.ann, "orders")
		if err != nil || string(read.Text) != string(step.text) || string(read.LastGood) != string(step.lastGood) {
			t.Errorf("step %d: text %q, last good %q (%v), want %q", i, read.Text, read.LastGood, err, step.lastGood)
		}
	}
}

func TestDraftPreconditions(t *testing.T) {
	w := newCatalogWorld(t)
	ctx := t.Context()
	_, err := w.SaveDraft(ctx, w.ann, "pay", definition("pay", 1), "", false)
	wantRefusal(t, err, "precondition_required")
	_, err = w.SaveDraft(ctx, w.ann, "pay", definition("pay", 1), "nonesuch", false)
	wantRefusal(t, err, "stale")
	first := w.save("pay", definition("pay", 1))
	_, err = w.SaveDraft(ctx, w.ann, "pay", definition("pay", 2), "", true)
	wantRefusal(t, err, "stale")

	bob := w.ann
	bob.User = "bob"
	second, err := w.SaveDraft(ctx, bob, "pay", definition("pay", 2), first.ETag, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.SaveDraft(ctx, w.ann, "pay", definition("pay", 3), first.ETag, false)
	wantRefusal(t, err, "stale")
	var refusal *Error
	if errors.As(err, &refusal); refusal.Draft == nil || refusal.Draft.ETag != second.ETag || refusal.Draft.By != "bob" || refusal.Draft.Text != string(definition("pay", 2)) {
		t.Errorf("the other side is %+v", refusal.Draft)
	}
	if _, err := w.SaveDraft(ctx, w.ann, "pay", definition("pay", 3), "*", false); err != nil {
		t.Errorf("any draft: %v", err)
	}
	_, err = w.SaveDraft(ctx, w.ann, "Not A Name", nil, "", true)
	wantRefusal(t, err, "invalid_input")
	_, err = w.SaveDraft(ctx, w.ann, "big", make([]byte, maxDefinition+1), "", true)
	wantRefusal(t, err, "too_large")
	_, err = w.Draft(ctx, w.ann, "big")
	wantRefusal(t, err, "not_found")
}

func TestSavingTheSameChangesNothing(t *testing.T) {
	w := newCatalogWorld(t)
	first := w.save("pay", definition("pay", 1))
	again := w.save("pay", definition("pay", 1))
	if again.ETag != first.ETag || !again.At.Equal(first.At) || len(w.changes) != 1 {
		t.Errorf("saved again: %+v, %d changes", again, len(w.changes))
	}
}

func TestTwoPeopleSaveAtOnce(t *testing.T) {
	w := newCatalogWorld(t)
	first := w.save("pay", definition("pay", 0))
	var people sync.WaitGroup
	results := make(chan error, 8)
	for n := range cap(results) {
		people.Go(func() {
			_, err := w.SaveDraft(context.Background(), w.ann, "pay", definition("pay", n+1), first.ETag, false)
			results <- err
		})
	}
	people.Wait()
	close(results)
	saved := 0
	for err := range results {
		if err == nil {
			saved++
			continue
		}
		wantRefusal(t, err, "stale")
	}
	if saved != 1 {
		t.Errorf("%d of the people saved, want one", saved)
	}
}

func TestDraftWithAnotherName(t *testing.T) {
	w := newCatalogWorld(t)
	draft := w.save("pay", definition("wages", 1))
	if draft.Valid || len(draft.Errors) != 1 {
		t.Fatalf("draft %+v", draft)
	}
	problem := draft.Errors[0]
	if problem.Line != 4 || problem.Column != 9 || problem.EndColumn != 14 || problem.Code[:2] != "E4" || problem.Edits[0].Text != "pay" {
		t.Errorf("problem %+v", problem)
	}
	_, _, err := w.Publish(t.Context(), w.ann, "pay", "")
	wantRefusal(t, err, "invalid_definition")
}

func TestPublishNumbersContents(t *testing.T) {
	w := newCatalogWorld(t)
	ctx := t.Context()
	w.save("pay", definition("pay", 1))
	first, created := w.publish("pay")
	if !created || first.Version != 1 || first.ContentHash == "" || first.By != "ann" || first.Message != "because" {
		t.Errorf("first %v %+v", created, first)
	}
	w.save("pay", append([]byte("# only a comment\n"), definition("pay", 1)...))
	if same, created := w.publish("pay"); created || same.Version != 1 {
		t.Errorf("the same content: %v %+v", created, same)
	}
	w.save("pay", definition("pay", 2))
	if second, created := w.publish("pay"); !created || second.Version != 2 {
		t.Errorf("second %v %+v", created, second)
	}
	w.save("pay", definition("pay", 1))
	if back, created := w.publish("pay"); created || back.Version != 1 {
		t.Errorf("back to the first content: %v %+v", created, back)
	}
	workflow, err := w.Workflow(ctx, w.ann, "pay")
	if err != nil || workflow.PublishedVersion == nil || *workflow.PublishedVersion != 1 || len(workflow.LastExecutions) != 1 {
		t.Errorf("workflow %+v, %v", workflow, err)
	}
	w.save("pay", definition("pay", 3))
	if third, _ := w.publish("pay"); third.Version != 3 {
		t.Errorf("a number was used twice: %+v", third)
	}
	page, err := w.Versions(ctx, w.ann, "pay", PageRequest{Limit: 2})
	if err != nil || len(page.Items) != 2 || page.Items[0].Version != 3 || page.NextCursor == nil {
		t.Errorf("versions %+v, %v", page, err)
	}
	old, err := w.Version(ctx, w.ann, "pay", 2)
	if err != nil || old.Text != string(definition("pay", 2)) {
		t.Errorf("version 2 is %q, %v", old.Text, err)
	}
	_, err = w.Version(ctx, w.ann, "pay", 9)
	wantRefusal(t, err, "not_found")
}

// Comments, tests and places are not content: they are published with the version that has the content, and what it
// said before is kept.
func TestWhatIsWrittenBesideTheContentIsPublishedWithIt(t *testing.T) {
	w := newCatalogWorld(t)
	ctx := t.Context()
	w.save("pay", definition("pay", 1))
	first, _ := w.publish("pay")
	commented := append([]byte("# why we pay\n"), definition("pay", 1)...)
	w.save("pay", commented)
	again, created, err := w.Publish(ctx, w.ann, "pay", "")
	if err != nil || created || again.Version != 1 || again.ContentHash != first.ContentHash || again.Text != string(commented) {
		t.Fatalf("published %v %+v, %v", created, again, err)
	}
	if stored, err := w.Version(ctx, w.ann, "pay", 1); err != nil || stored.Text != string(commented) || !stored.At.Equal(first.At) {
		t.Errorf("version 1 is %+v, %v", stored, err)
	}
	var kept []byte
	if err := w.db.QueryRow(ctx, `select text from version_texts where workflow = 'pay' and version = 1`).Scan(&kept); err != nil || !bytes.Equal(kept, definition("pay", 1)) {
		t.Errorf("kept %q, %v", kept, err)
	}
	for _, change := range []string{"content_hash = 'x'", "published_by = 'eve'", "version = 7"} {
		if _, err := w.db.Exec(ctx, "update versions set "+change); err == nil {
			t.Errorf("a version let itself be changed: %s", change)
		}
	}
	w.publish("pay")
	var lines int
	if err := w.db.QueryRow(ctx, `select count(*) from audit where action = 'workflow.published'`).Scan(&lines); err != nil || lines != 2 {
		t.Errorf("%d lines of the audit, %v; one for each text", lines, err)
	}
}

func TestPublishersAtOnceMakeOneVersion(t *testing.T) {
	w := newCatalogWorld(t)
	w.save("pay", definition("pay", 1))
	var people sync.WaitGroup
	made := make(chan bool, 6)
	for range cap(made) {
		people.Go(func() {
			version, created, err := w.Publish(context.Background(), w.ann, "pay", "")
			if err != nil || version.Version != 1 {
				t.Errorf("published %+v, %v", version, err)
			}
			made <- created
		})
	}
	people.Wait()
	close(made)
	count := 0
	for created := range made {
		if created {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d publishers made a version, want one", count)
	}
}

func TestPublishRefusesWhatCannotRun(t *testing.T) {
	w := newCatalogWorld(t)
	with := func(activity string) []byte {
		return []byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: pay}\nspec:\n  activities:\n    - " + activity + "\n")
	}
	for name, c := range map[string]struct {
		text []byte
		code string
		word string
	}{
		"broken":           {[]byte("kind: Workflow"), "", "apiVersion"},
		"unknown type":     {with("{id: mail, type: email, inputs: {to: [a@example.com], subject: x, text: y}}"), codeUnsupportedType, "mail"},
		"broken script":    {with(`{id: count, type: script, inputs: {language: javascript, source: "return ("}}`), "E316", "too early"},
		"broken query":     {with(`{id: count, type: ai, inputs: {connection: assistant, prompt: x}, compensate: {type: sql, inputs: {connection: c, query: "select :day"}}}`), "E317", ":day"},
		"no connection":    {with("{id: ask, type: ai, inputs: {connection: nobody, prompt: x}}"), codeNoConnection, "nobody"},
		"in a loop":        {with("{id: all, type: for_each, for_each: {items: [1], activity: {type: sql, inputs: {connection: c, query: select 1}}}}"), codeUnsupportedType, "another type"},
		"unknown child":    {with("{id: sub, type: workflow, workflow: {name: nonesuch}}"), codeNoWorkflow, "nonesuch"},
		"unknown revision": {with(`{id: sub, type: workflow, workflow: {name: pay, version: "7"}}`), codeNoVersion, "pay"},
	} {
		draft := w.save("pay", c.text)
		_, _, err := w.Publish(t.Context(), w.ann, "pay", "")
		wantRefusal(t, err, "invalid_definition")
		var refusal *Error
		errors.As(err, &refusal)
		found := slices.ContainsFunc(refusal.Problems, func(p flow.Problem) bool {
			return strings.HasPrefix(p.Code, c.code) && strings.Contains(p.Message+p.Hint+p.Path, c.word) && p.Severity == "error"
		})
		if !found {
			t.Errorf("%s: problems %+v", name, refusal.Problems)
		}
		if own := !strings.HasPrefix(c.code, "E6"); own && draft.Valid {
			t.Errorf("%s: the draft is valid: %+v", name, draft)
		} else if !own && (!draft.Valid || len(draft.Warnings) == 0 || draft.Warnings[0].Severity != "warning") {
			t.Errorf("%s: the draft does not warn: %+v", name, draft)
		}
	}
	for name, text := range map[string][]byte{
		"known child": with("{id: sub, type: workflow, workflow: {name: helper}}"),
		"itself":      with("{id: sub, type: workflow, workflow: {name: pay}}"),
		"connection":  with("{id: ask, type: ai, inputs: {connection: assistant, prompt: x}}"),
		"known type":  with("{id: call, type: http, inputs: {url: 'http://x.example'}}"),
	} {
		w.save("pay", text)
		if _, _, err := w.Publish(t.Context(), w.ann, "pay", ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := w.Publish(t.Context(), w.ann, "nothing-here", "")
	wantRefusal(t, err, "not_found")
}

func TestUnpublishAndRestore(t *testing.T) {
	w := newCatalogWorld(t)
	ctx := t.Context()
	w.save("pay", definition("pay", 1))
	wantRefusal(t, w.Unpublish(ctx, w.ann, "pay"), "not_published")
	w.publish("pay")
	if err := w.Unpublish(ctx, w.ann, "pay"); err != nil {
		t.Fatal(err)
	}
	if workflow, err := w.Workflow(ctx, w.ann, "pay"); err != nil || workflow.PublishedVersion != nil {
		t.Errorf("workflow %+v, %v", workflow, err)
	}
	wantRefusal(t, w.Unpublish(ctx, w.ann, "nonesuch"), "not_found")
	if again, created := w.publish("pay"); created || again.Version != 1 {
		t.Errorf("published again: %v %+v", created, again)
	}
	w.save("pay", definition("pay", 2))
	w.publish("pay")
	draft, err := w.Restore(ctx, w.ann, "pay", 1)
	if err != nil || draft.Text != string(definition("pay", 1)) {
		t.Errorf("restored %q, %v", draft.Text, err)
	}
	_, err = w.Restore(ctx, w.ann, "pay", 5)
	wantRefusal(t, err, "not_found")
}

func TestWorkflowList(t *testing.T) {
	w := newCatalogWorld(t)
	for _, name := range []string{"c", "a", "b"} {
		w.save(name, definition(name, 1))
	}
	w.publish("b")
	w.save("plain", []byte("half done"))
	for name, c := range map[string]struct {
		filter WorkflowFilter
		want   []string
	}{
		"all":           {WorkflowFilter{}, []string{"a", "b", "c", "plain"}},
		"page by page":  {WorkflowFilter{PageRequest: PageRequest{Limit: 1}}, []string{"a", "b", "c", "plain"}},
		"label":         {WorkflowFilter{Labels: map[string]string{"team": "money"}}, []string{"a", "b", "c"}},
		"other label":   {WorkflowFilter{Labels: map[string]string{"team": "law"}}, nil},
		"search":        {WorkflowFilter{Query: "pays WHAT"}, []string{"a", "b", "c"}},
		"search a name": {WorkflowFilter{Query: "plai"}, []string{"plain"}},
	} {
		var got []string
		filter := c.filter
		for {
			page, err := w.Workflows(t.Context(), w.ann, filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, workflow := range page.Items {
				got = append(got, workflow.Name)
				if workflow.HasDraft == (workflow.Name == "b") {
					t.Errorf("%s: hasDraft %v", workflow.Name, workflow.HasDraft)
				}
			}
			if page.NextCursor == nil {
				break
			}
			filter.Cursor = *page.NextCursor
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestDiffAndWhatItAffects(t *testing.T) {
	w := newCatalogWorld(t)
	ctx := t.Context()
	w.save("pay", definition("pay", 1))
	fresh, err := w.Diff(ctx, w.ann, "pay", "published", "draft")
	if err != nil || fresh.FromText != "" || fresh.ToText == "" {
		t.Errorf("against nothing: %+v, %v", fresh, err)
	}
	w.publish("pay")
	w.save("pay", definition("pay", 2))
	const running = `insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status, correlation_id, priority, started_by, created_at, updated_at)
		values (gen_random_uuid(), $1, 0, 'pay', 1, '', '', $2, '', 'normal', 'ann', now(), now())`
	for _, status := range []string{"running", "waiting", "waiting"} {
		if _, err := w.db.Exec(ctx, running, w.ann.Team, status); err != nil {
			t.Fatal(err)
		}
	}
	const task = `insert into tasks (id, team_id, execution_id, workflow, activity, title, outcomes, requester, created_at, updated_at)
		select gen_random_uuid(), $1, id, 'pay', 'step', '', '{ok}', '', now(), now() from executions where status = 'waiting'`
	if _, err := w.db.Exec(ctx, task, w.ann.Team); err != nil {
		t.Fatal(err)
	}
	diff, err := w.Diff(ctx, w.ann, "pay", "published", "draft")
	if err != nil {
		t.Fatal(err)
	}
	if len(diff.Changes) == 0 || diff.Changes[0].ID != "step" || !strings.Contains(diff.Text, `-      outputs: {total: "1"}`) || diff.From != "1" {
		t.Errorf("diff %+v", diff)
	}
	affects := diff.Affects
	if affects.Running != 1 || affects.Waiting != 2 || affects.OpenTasks != 2 || affects.PerActivity["step"] != 2 {
		t.Errorf("affects %+v", affects)
	}
	w.save("pay", []byte("half done"))
	if broken, err := w.Diff(ctx, w.ann, "pay", "1", "draft"); err != nil || broken.Changes == nil || broken.Text == "" {
		t.Errorf("against a broken draft: %+v, %v", broken, err)
	}
	_, err = w.Diff(ctx, w.ann, "pay", "1", "yesterday")
	wantRefusal(t, err, "bad_request")
	_, err = w.Diff(ctx, w.ann, "nonesuch", "1", "draft")
	wantRefusal(t, err, "not_found")
}

func TestOtherTeamsSeeNothing(t *testing.T) {
	w := newCatalogWorld(t)
	w.save("pay", definition("pay", 1))
	w.publish("pay")
	stranger := w.ann
	stranger.Team = uuid.New()
	page, err := w.Workflows(t.Context(), stranger, WorkflowFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("workflows %+v, %v", page.Items, err)
	}
	for name, ask := range map[string]func() error{
		"workflow":  func() error { _, err := w.Workflow(t.Context(), stranger, "pay"); return err },
		"draft":     func() error { _, err := w.Draft(t.Context(), stranger, "pay"); return err },
		"versions":  func() error { _, err := w.Versions(t.Context(), stranger, "pay", PageRequest{}); return err },
		"version":   func() error { _, err := w.Version(t.Context(), stranger, "pay", 1); return err },
		"publish":   func() error { _, _, err := w.Publish(t.Context(), stranger, "pay", ""); return err },
		"unpublish": func() error { return w.Unpublish(t.Context(), stranger, "pay") },
		"restore":   func() error { _, err := w.Restore(t.Context(), stranger, "pay", 1); return err },
		"diff":      func() error { _, err := w.Diff(t.Context(), stranger, "pay", "1", "draft"); return err },
	} {
		var refusal *Error
		if err := ask(); !errors.As(err, &refusal) || refusal.Code != "not_found" {
			t.Errorf("%s: %v, want not_found", name, err)
		}
	}
}
