package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/seal"
)

// sentinels are what must be found nowhere. They hold characters that every encoding writes in its own way.
const (
	sentinelInput  = `se"nti/nel+in?put&<1>`
	sentinelSecret = `se"nti/nel+sec?ret&<2>`
	sentinelForm   = `se"nti/nel+fo?rm&<3>`
)

// spelledOut are the ways in which a sentinel could be written somewhere.
func spelledOut(sentinel string) map[string]string {
	inJSON, _ := json.Marshal(sentinel)
	core := base64.StdEncoding.EncodeToString([]byte(sentinel))
	return map[string]string{
		"plain": sentinel, "JSON": strings.Trim(string(inJSON), `"`), "JSON in JSON": strings.ReplaceAll(strings.Trim(string(inJSON), `"`), `\`, `\\`),
		"URL": url.QueryEscape(sentinel), "path": url.PathEscape(sentinel), "base64": core[:len(core)-4],
		"hex": hex.EncodeToString([]byte(sentinel)), "upper case": strings.ToUpper(sentinel), "a part": sentinel[4:16],
	}
}

// mustNotTell fails for every sentinel in a text.
func mustNotTell(t *testing.T, where string, text []byte) {
	t.Helper()
	for _, sentinel := range []string{sentinelInput, sentinelSecret, sentinelForm} {
		for way, form := range spelledOut(sentinel) {
			if at := bytes.Index(text, []byte(form)); at >= 0 {
				t.Errorf("%s tells %q (%s): …%s…", where, sentinel, way, text[max(0, at-120):min(len(text), at+len(form)+60)])
			}
		}
	}
}

// dump is everything in the database as text. What is packed has to be encrypted: every execution of these tests
// holds something sensitive.
func (w *world) dump() []byte {
	w.t.Helper()
	var all bytes.Buffer
	w.connected(func(conn *pgx.Conn) error {
		rows, err := conn.Query(w.t.Context(), `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, ordinal_position`)
		if err != nil {
			return err
		}
		type column struct{ table, name, kind string }
		columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) { return c, row.Scan(&c.table, &c.name, &c.kind) })
		if err != nil {
			return err
		}
		for _, c := range columns {
			expression := c.name + "::text"
			if c.kind == "bytea" {
				expression = c.name
			}
			rows, err := conn.Query(w.t.Context(), fmt.Sprintf("select %s from %s where %s is not null", expression, pgx.Identifier{c.table}.Sanitize(), c.name))
			if err != nil {
				return err
			}
			values, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
			if err != nil {
				return fmt.Errorf("%s.%s: %w", c.table, c.name, err)
			}
			for _, value := range values {
				if packed := map[string]bool{"history.events": true, "checkpoints.state": true, "inbox.message": true, "kept_events.signal": true, "file_parts.content": true}; packed[c.table+"."+c.name] && !seal.IsBox(value) {
					w.t.Errorf("a value of %s.%s is not encrypted: %.80q", c.table, c.name, value)
				}
				fmt.Fprintf(&all, "%s.%s: %s\n", c.table, c.name, value)
			}
		}
		return nil
	})
	return all.Bytes()
}

// logged gathers what the engine writes to its log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

const sentinelWorkflow = `  input:
    type: object
    properties:
      card: {type: string, x-sensitive: true}
      how: {type: string}
  webhooks:
    - {path: pay, auth: {type: bearer, secret: HOOK}, input: "{card: trigger.body.raw, how: 'good'}"}
  variables:
    copy: ${{ upper(inputs.card) }}
  activities:
    - {id: set, type: set, outputs: {x: vars.copy, part: "inputs.card[4:16]"}}
    - id: call
      needs: [set]
      type: http
      inputs:
        method: POST
        url: http://x
        headers: {X-Key: "${{ secrets.KEY }}"}
        body: {card: "${{ inputs.card }}", loud: "${{ activities.set.outputs.x }}"}
    - id: each
      needs: [call]
      type: for_each
      onFailure: continue
      for_each: {items: "[inputs.card, 'other']", activity: {type: http, inputs: {url: http://x, method: POST, body: "${{ item }}"}}}
    - id: child
      needs: [each]
      type: workflow
      workflow: {name: child}
      inputs: {number: "${{ inputs.card }}"}
    - id: tell
      needs: [child]
      type: emit
      emit: {name: paid, key: '"k"', payload: {card: "${{ vars.copy }}"}}
    - id: ask
      needs: [tell]
      type: human
      human:
        title: Pay with ${{ inputs.card }}?
        data: {card: "${{ inputs.card }}"}
        candidates: {groups: [everybody]}
        form: {type: object, properties: {code: {type: string, x-sensitive: true}, why: {type: string}}}
    - id: hear
      needs: [ask]
      type: event
      event: {name: told, correlation: '"k"'}
    - id: broken
      needs: [hear]
      type: fail
      onFailure: continue
      fail: {error: own.kind, message: "card ${{ inputs.card }} refused", detail: {form: "${{ activities.ask.outputs.form.code }}"}}
    - id: last
      needs: [broken]
      type: switch
      switch: {cases: [{name: good, when: inputs.how == "good"}], default: bad}
    - {id: stop, needs: ["last.bad"], type: fail, fail: {error: own.end, message: "no card ${{ upper(inputs.card) }}"}}
  output: {card: inputs.card, code: activities.ask.outputs.form.code, all: activities.each.outputs.results}
`

// One value is put in as a secret, as a sensitive input and as the answer to a form, and goes through every
// kind of activity that can carry it: it is found nowhere in the database, in nothing that is shown and in no
// log, however it is written.
func TestSentinelIsFoundNowhere(t *testing.T) {
	var log logged
	w := newWorld(t, func(o *engine.Options) {
		o.SecretKeys = [][]byte{bytes.Repeat([]byte{7}, 32)}
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for name, value := range map[string]string{"KEY": sentinelSecret, "HOOK": "hook-secret"} {
		if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: name, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		echo := map[string]any{"input": call.Input, "text": fmt.Sprintf("you sent %v", call.Input),
			"basic": "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+sentinelSecret))}
		if call.Item == "1" {
			return activity.Outcome{Err: &execution.Error{Type: "http.400", Class: "external", Message: fmt.Sprint("refused, you sent ", sentinelInput), Detail: echo}}
		}
		return activity.Outcome{Value: map[string]any{"status": int64(200), "headers": map[string]any{"x": sentinelInput}, "body": echo, "file": nil}}
	})
	w.publish("child", `  input: {type: object, properties: {number: {type: string}}}
  activities:
    - {id: use, type: http, inputs: {url: http://x, method: POST, body: "${{ inputs.number }}"}}
    - {id: wait, needs: [use], type: wait, wait: {timer: {after: 50ms}}}
  output: {made: upper(inputs.number)}
`)
	w.publish("listener", `  events:
    - {name: paid, input: "{got: trigger.payload.card}"}
  input: {type: object, properties: {got: {type: string}}}
  activities: [{id: use, type: set, outputs: {x: inputs.got, also: trigger.payload.card}}]
`)
	w.publish("pay", sentinelWorkflow)
	good := w.start("pay", map[string]any{"card": sentinelInput, "how": "good"})
	bad := w.start("pay", map[string]any{"card": sentinelInput, "how": "bad"})
	hook := w.hook("pay", `{"raw": `+quoted(sentinelInput)+`}`)
	schedule, err := w.CreateSchedule(t.Context(), w.who, engine.ScheduleRequest{Workflow: "pay", Every: "1h", Input: map[string]any{"card": sentinelInput, "how": "bad"}})
	if err != nil {
		t.Fatal(err)
	}
	var shown []any
	for _, id := range []([16]byte){good, bad, hook} {
		w.waiting(id, "ask")
		tasks, err := w.Tasks(t.Context(), w.who, engine.TaskFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks.Items {
			if task.Execution != id {
				continue
			}
			form := map[string]any{"code": sentinelForm, "why": "fine"}
			if err := w.DraftTask(t.Context(), w.who, task.ID, form); err != nil {
				t.Fatal(err)
			}
			drafted, err := w.Task(t.Context(), w.who, task.ID)
			if err != nil {
				t.Fatal(err)
			}
			mustNotTell(t, "the database with an open task", w.dump())
			if _, err := w.CompleteTask(t.Context(), w.who, task.ID, engine.Answer{Decision: "approved", Form: form}); err != nil {
				t.Fatal(err)
			}
			done, err := w.Task(t.Context(), w.who, task.ID)
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, task, drafted, done)
		}
		w.waiting(id, "hear")
		if _, err := w.PostEvent(t.Context(), w.who, engine.PostedEvent{Name: "told", Correlation: "k", Payload: map[string]any{"n": int64(1)}}); err != nil {
			t.Fatal(err)
		}
		detail := w.until(id, "over", func(d engine.ExecutionDetail) bool { return execution.IsTerminal(d.Status) })
		if want := map[bool]string{true: "failed", false: "completed"}[id == bad]; detail.Status != want {
			t.Fatalf("%s: %+v", detail.Status, detail.Error)
		}
		early, err := w.StateAt(t.Context(), w.who, id, 30)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, detail, early, w.events(id))
	}
	again, err := w.Schedule(t.Context(), w.who, schedule.ID)
	if err != nil {
		t.Fatal(err)
	}
	tick, err := w.TriggerSchedule(t.Context(), w.who, schedule.ID)
	if err != nil || tick.Execution == nil {
		t.Fatalf("%+v, %v", tick, err)
	}
	w.waiting(*tick.Execution, "ask")
	list, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	audit, err := w.Identity().Audit(t.Context(), w.who, engine.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, execution := range list.Items {
		detail, err := w.Execution(t.Context(), w.who, execution.ID)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, detail, w.events(execution.ID))
	}
	for i, value := range append(shown, schedule, again, tick, list, audit) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		mustNotTell(t, fmt.Sprintf("what is shown (%d, %T)", i, value), text)
		mustNotTell(t, fmt.Sprintf("what is shown (%d, %T)", i, value), fmt.Appendf(nil, "%+v", value))
	}
	mustNotTell(t, "the database", w.dump())
	log.mu.Lock()
	defer log.mu.Unlock()
	mustNotTell(t, "the log", log.text.Bytes())
	// The values did reach what was to use them.
	reached := fmt.Sprintf("%+v", w.http.made())
	for _, value := range []string{sentinelInput, sentinelSecret, strings.ToUpper(sentinelInput)} {
		if !strings.Contains(reached, value) {
			t.Errorf("no call got %q", value)
		}
	}
}

func quoted(text string) string {
	content, _ := json.Marshal(text)
	return string(content)
}

// hook starts a workflow by its webhook.
func (w *world) hook(path, body string) [16]byte {
	w.t.Helper()
	answer, err := w.Hook(w.t.Context(), engine.HookRequest{Team: engine.DefaultTeam, Path: "/" + path, Method: "POST", Raw: []byte(body),
		Headers: map[string]string{"authorization": "Bearer hook-secret", "x-other": sentinelInput}, Query: map[string]string{"q": sentinelInput},
		Body: func() (any, error) {
			var value any
			return value, json.Unmarshal([]byte(body), &value)
		}})
	if err != nil || answer.ID == nil {
		w.t.Fatalf("%+v, %v", answer, err)
	}
	return *answer.ID
}

// Without a key nothing sensitive is taken.
func TestSensitiveInputNeedsAKey(t *testing.T) {
	w := newWorld(t)
	w.publish("pay", "  input: {type: object, properties: {card: {type: string, x-sensitive: true}}}\n  activities: [{id: a, type: set, outputs: {x: 1}}]\n")
	_, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "pay", Input: map[string]any{"card": "4711"}})
	if refused := new(engine.Error); !errors.As(err, &refused) || refused.Code != "conflict" {
		t.Errorf("%v", err)
	}
}

// A new key takes over while executions with sensitive values are open, and the old one is not needed any more.
func TestKeyRotationReachesHistories(t *testing.T) {
	older, newer := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	w := newWorld(t, func(o *engine.Options) { o.SecretKeys = [][]byte{older} })
	w.publish("pay", "  input: {type: object, properties: {card: {type: string, x-sensitive: true}}}\n"+
		"  activities:\n    - {id: hear, type: event, event: {name: told}}\n    - {id: a, needs: [hear], type: http, inputs: {url: http://x, method: POST, body: \"${{ inputs.card }}\"}}\n")
	if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "KEY", Value: sentinelSecret}); err != nil {
		t.Fatal(err)
	}
	id := w.start("pay", map[string]any{"card": sentinelInput})
	w.waiting(id, "hear")
	schedule, err := w.CreateSchedule(t.Context(), w.who, engine.ScheduleRequest{Workflow: "pay", Every: "1h", Input: map[string]any{"card": sentinelInput}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := w.SaveFile(t.Context(), w.who, "card.txt", "text/plain", []byte(sentinelInput))
	if err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.http = &fakeHTTP{}
	w.open(func(o *engine.Options) { o.SecretKeys = [][]byte{newer, older} })
	changed, err := w.Vault().Reseal(t.Context())
	if err != nil || changed < 3 {
		t.Fatalf("%d values, %v", changed, err)
	}
	if again, err := w.Vault().Reseal(t.Context()); err != nil || again != 0 {
		t.Errorf("a second time: %d values, %v", again, err)
	}
	w.stop()
	w.http = &fakeHTTP{}
	w.open(func(o *engine.Options) { o.SecretKeys = [][]byte{newer} })
	if _, content, err := w.File(t.Context(), w.who, file.ID); err != nil || string(content) != sentinelInput {
		t.Errorf("the file after the rotation: %q, %v", content, err)
	}
	if err := w.Signal(t.Context(), w.who, id, "told", nil, ""); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "completed")
	if tick, err := w.TriggerSchedule(t.Context(), w.who, schedule.ID); err != nil || tick.Execution == nil {
		t.Errorf("the schedule after the rotation: %+v, %v", tick, err)
	}
	if calls := w.http.made(); len(calls) != 1 || !strings.Contains(fmt.Sprint(calls[0].Input), sentinelInput) {
		t.Errorf("%+v", calls)
	}
}
