package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// A form that is sent twice keeps its file twice: the key still means the first start, as long as the bytes are the
// same ones.
func TestAKeyCountsWhatAFileHoldsNotUnderWhichIDItIsKept(t *testing.T) {
	w := newWorld(t)
	w.publish("signs", "  input: {type: object, properties: {paper: {type: object, x-file: true}}}\n  activities:\n    - {id: go, type: set, outputs: {a: \"1\"}}\n")
	start := func(content string) (engine.Started, error) {
		file, err := w.SaveFile(t.Context(), w.who, "paper.txt", "text/plain", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "signs", IdempotencyKey: "form", Input: map[string]any{"paper": file.Value()}})
	}
	first, err := start("we agree")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := start("we agree"); err != nil || second.ID != first.ID {
		t.Errorf("the same form started %s and %s: %v", first.ID, second.ID, err)
	}
	var refusal *engine.Error
	if _, err := start("we do not"); !errors.As(err, &refusal) || refusal.Code != "idempotency_mismatch" {
		t.Errorf("another file answered %v", err)
	}
}

// TestFilesBelongToATeamAndLiveWithWhatNamesThem: another team does not see a file; one that an execution names
// is kept as long as that is, one that none names for a day.
func TestFilesBelongToATeamAndLiveWithWhatNamesThem(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.FileLimit = 3 << 20 })
	content := bytes.Repeat([]byte("0123456789abcde\x00"), 150_000) // several parts
	used, err := w.SaveFile(t.Context(), w.who, `..\folder/invoice "7".pdf`, "application/pdf", content)
	if err != nil {
		t.Fatal(err)
	}
	unused, err := w.SaveFile(t.Context(), w.who, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if used.Name != "invoice _7_.pdf" || used.Size != int64(len(content)) || unused.Name != "file" || unused.Type != "application/octet-stream" {
		t.Errorf("kept as %+v and %+v", used, unused)
	}
	file, got, err := w.File(t.Context(), w.who, used.ID)
	if err != nil || !bytes.Equal(got, content) || file.SHA256 != used.SHA256 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	refused := func(who engine.Who, id uuid.UUID) bool {
		_, _, err := w.File(t.Context(), who, id)
		var refusal *engine.Error
		return errors.As(err, &refusal) && refusal.Code == "not_found"
	}
	if !refused(engine.Who{Team: uuid.New()}, used.ID) {
		t.Error("another team reads the file")
	}
	if _, err := w.SaveFile(t.Context(), w.who, "x", "", make([]byte, 3<<20+1)); err == nil || !strings.Contains(err.Error(), "3145728") {
		t.Errorf("a file that is too large: %v", err)
	}

	w.publish("names", "  input: {type: object, properties: {paper: {type: object}}}\n  limits: {historyRetention: 1h}\n  activities:\n    - {id: a, type: set, outputs: {paper: inputs.paper}}\n")
	id := w.start("names", map[string]any{"paper": used.Value()})
	w.ends(id, "completed")
	w.exec("update files set created_at = created_at - interval '2 days'")
	w.tidy()
	if refused(w.who, used.ID) || !refused(w.who, unused.ID) {
		t.Error("what is named has to stay, what is not has to go")
	}
	w.exec("update executions set keep_until = keep_until - interval '2 days', finished_at = finished_at - interval '2 days'")
	w.tidy()
	if !refused(w.who, used.ID) {
		t.Error("the file outlived its execution")
	}
}

// TestALogIsBoundedAndReadInParts: lines are kept while an attempt runs, 64 KiB of them, each attempt apart, and
// watchers are told.
func TestALogIsBoundedAndReadInParts(t *testing.T) {
	w := newWorld(t)
	told := make(chan engine.Change, 100)
	defer w.Watch(w.who.Team, func(c engine.Change) {
		if c.Log != "" {
			select {
			case told <- c:
			default:
			}
		}
	})()
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		for i := range 3000 {
			call.Log("stdout", fmt.Sprintf("attempt %d line %d %s", call.Attempt, i+1, strings.Repeat("x", 40)))
		}
		if call.Attempt == 1 {
			return activity.Outcome{Err: &execution.Error{Type: "http.503", Class: "external", Message: "made up"}}
		}
		return activity.Outcome{Value: map[string]any{}}
	})
	w.publish("prints", "  activities:\n    - {id: a, type: http, inputs: {url: http://x}, retry: {attempts: 2, strategy: fixed, delay: 1ms}}\n")
	id := w.start("prints", nil)
	w.ends(id, "completed")
	log, err := w.ActivityLog(t.Context(), w.who, id, "a", engine.LogRequest{})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for i, line := range log.Lines {
		size += len(line.Line)
		if line.N != i+1 {
			t.Fatalf("line %d has the number %d", i+1, line.N)
		}
	}
	last := log.Lines[len(log.Lines)-1]
	if log.Attempt != 2 || len(log.Attempts) != 2 || size > 64<<10+100 || last.Stream != "system" || last.N != log.Last {
		t.Errorf("attempt %d of %v, %d bytes, last %+v", log.Attempt, log.Attempts, size, last)
	}
	part, err := w.ActivityLog(t.Context(), w.who, id, "a", engine.LogRequest{Attempt: 1, After: log.Last - 2})
	if err != nil || len(part.Lines) != 2 || !strings.HasPrefix(part.Lines[0].Line, "attempt 1") {
		t.Errorf("a part: %+v, %v", part, err)
	}
	if c := enginetest.Receive(t, told, "a change"); c.Execution != id || c.Log != "a" {
		t.Errorf("told %+v", c)
	}
	if _, err := w.ActivityLog(t.Context(), engine.Who{Team: uuid.New()}, id, "a", engine.LogRequest{}); err == nil {
		t.Error("another team reads the log")
	}
}

// TestAFileFieldTakesAFileOfTheTeamThatFits: a form and an input name files by their id; type, size and team are
// checked, and what is stored is what the file is, whatever the sender called it.
func TestAFileFieldTakesAFileOfTheTeamThatFits(t *testing.T) {
	w := newWorld(t)
	const field = "{type: object, additionalProperties: false, required: [scan], properties: {scan: {type: object, x-file: {accept: [application/pdf], maxSize: 1KiB}}}}"
	w.publish("signed", "  activities:\n    - {id: sign, type: human, human: {title: Sign it, due: 1h, candidates: {users: ["+w.who.User+"]}, form: "+field+"}}\n  output: {scan: activities.sign.outputs.form.scan}\n")
	w.publish("filed", "  input: "+field+"\n  activities:\n    - {id: a, type: set, outputs: {scan: inputs.scan}}\n  output: {scan: activities.a.outputs.scan}\n")
	save := func(kind string, size int) map[string]any {
		file, err := w.SaveFile(t.Context(), w.who, "contract.pdf", kind, make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		return file.Value()
	}
	id := w.start("signed", nil)
	w.waiting(id, "sign")
	tasks, err := w.Tasks(t.Context(), w.who, engine.TaskFilter{Execution: &id})
	if err != nil {
		t.Fatal(err)
	}
	asForm := func(scan any) error {
		_, err := w.CompleteTask(t.Context(), w.who, tasks.Items[0].ID, engine.Answer{Decision: "approved", Form: map[string]any{"scan": scan}})
		return err
	}
	asInput := func(scan any) error {
		_, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "filed", Input: map[string]any{"scan": scan}})
		return err
	}
	for what, scan := range map[string]any{
		"another type":  save("image/png", 10),
		"too large":     save("application/pdf", 1025),
		"an unknown id": map[string]any{"$file": uuid.NewString()},
		"no id":         map[string]any{"$file": "contract.pdf"},
		"no file":       map[string]any{"name": "contract.pdf"},
	} {
		for path, give := range map[string]func(any) error{"/form/scan": asForm, "/scan": asInput} {
			var refusal *engine.Error
			err := give(scan)
			if !errors.As(err, &refusal) || refusal.Code != "invalid_input" || len(refusal.Problems) != 1 || refusal.Problems[0].Path != path {
				t.Errorf("%s at %s: %v", what, path, err)
			}
		}
	}
	good := save("application/pdf", 1024)
	lie := map[string]any{"$file": good["$file"], "name": "other.exe", "size": int64(3)}
	w.must(asForm(lie))
	w.must(asInput(lie))
	other := w.latest("filed")[0].ID
	for _, ended := range []uuid.UUID{id, other} {
		scan := w.ends(ended, "completed").Output.(map[string]any)["scan"].(map[string]any)
		if scan["name"] != "contract.pdf" || fmt.Sprint(scan["size"]) != "1024" || scan["type"] != "application/pdf" {
			t.Errorf("%s holds %v", ended, scan)
		}
	}
}
