package execution

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// leaks are spellings of the sentinel, or of what an expression made of it.
var leaks = []string{"sentinel-4711", "SENTINEL-4711", "inel-47", "4242", "c2VudGluZWwtNDcxMQ", "sentinel-form"}

// quiet checks that nothing people may see of an execution tells a sensitive value, and that the tables beside
// the history hold none.
func (s *sim) quiet() {
	s.t.Helper()
	shown := map[string]any{"detail": Describe(s.wf, s.st), "beside": s.all.Tasks, "waits": s.all.Waits, "permits": s.all.Permits}
	var events []Event
	for _, ev := range s.history {
		events = append(events, Masked(s.wf, ev))
	}
	shown["events"] = events
	for what, value := range shown {
		content, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			s.t.Fatal(err)
		}
		for number, line := range strings.Split(string(content), "\n") {
			for _, leak := range leaks {
				if strings.Contains(line, leak) {
					s.t.Errorf("%s, line %d tells %s: %s", what, number+1, leak, strings.TrimSpace(line))
				}
			}
		}
	}
	if len(events) > 0 {
		again := &State{}
		for _, ev := range events {
			if err := Apply(s.wf, again, ev); err != nil {
				s.t.Fatalf("what is shown does not fold: %v", err)
			}
		}
	}
}

const sensitiveInput = `
  input: {type: object, properties: {card: {type: string, x-sensitive: true}, pin: {type: integer, x-sensitive: true}, note: {type: string}}}
`

func sensitive() map[string]any {
	return obj("card", "sentinel-4711", "pin", int64(4242), "note", "public")
}

// A value that depends on a sensitive one is hidden wherever it goes, whatever an expression makes of it.
func TestSensitiveValuesAreHiddenWhereverTheyGo(t *testing.T) {
	s := simulate(t, sensitiveInput+`
  variables:
    copy: ${{ inputs.card }}
    loud: ${{ upper(vars.copy) }}
    part: ${{ inputs.card[4:11] }}
    open: ${{ inputs.note }}
  activities:
    - id: set
      type: set
      outputs: {x: vars.loud, next: inputs.pin + 1, pin: inputs.pin, deep: '{"deep": [inputs.card, "fine"]}', note: inputs.note}
    - id: each
      needs: [set]
      type: for_each
      for_each:
        items: '[inputs.card, vars.part, "open item"]'
        activity: {type: set, outputs: {got: item, also: activities.set.outputs.x}}
    - id: call
      needs: [each]
      type: http
      inputs: {url: http://x, method: POST, body: {card: "${{ activities.set.outputs.x }}", note: "${{ inputs.note }}"}}
    - id: script
      needs: [call]
      type: script
      inputs: {language: javascript, source: "1", input: {card: "${{ vars.part }}"}}
    - id: done
      needs: [script]
      type: end
      end: {output: {card: inputs.card, note: inputs.note, text: '"card " + vars.copy + "!"', script: activities.script.outputs.output}}
`, sensitive()).
		answer("call", fine(obj("status", int64(200), "body", obj("echo", "you sent sentinel-4711", "basic", "c2VudGluZWwtNDcxMQ==", "ok", true)))).
		answer("script", fine(obj("output", "inel-47 reversed", "stdout", "sentinel-4711", "stderr", "", "exitCode", int64(0), "files", obj()))).
		run().is("completed")
	s.quiet()
	d := Describe(s.wf, s.st)
	for what, want := range map[string]any{
		"variables": obj("copy", "***", "loud", "***", "part", "***", "open", "public"),
		"set":       obj("x", "***", "next", "***", "pin", "***", "deep", obj("deep", []any{"***", "fine"}), "note", "public"),
		"call":      obj("status", int64(200), "body", obj("echo", "you sent ***", "basic", "***", "ok", true)),
		"output":    obj("card", "***", "note", "public", "text", "card ***!", "script", "***"),
	} {
		got := map[string]any{"variables": d.Variables, "output": d.Output}[what]
		if got == nil {
			got = d.Activities[what].Output
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: shown %v, want %v", what, got, want)
		}
	}
	// The values themselves go on: what an activity is given, and what the parent or caller inside gets.
	if out := s.st.Result.Output.(map[string]any); out["card"] != "sentinel-4711" || out["text"] != "card sentinel-4711!" {
		t.Errorf("the output itself is %v", out)
	}
}

func TestSensitiveValuesInErrorsTasksAndChildren(t *testing.T) {
	s := simulateStart(t, sensitiveInput+`
  activities:
    - id: ask
      type: human
      human:
        title: Pay with ${{ inputs.card }}?
        description: pin ${{ inputs.pin }}
        data: {card: "${{ inputs.card }}", note: "${{ inputs.note }}"}
        candidates: {users: [ann]}
        form: {type: object, properties: {code: {type: string, x-sensitive: true}, why: {type: string}}}
    - id: call
      needs: [ask]
      type: workflow
      workflow: {name: child}
      inputs: {number: "${{ inputs.card }}", note: "${{ inputs.note }}"}
    - id: broken
      needs: [call]
      type: fail
      onFailure: continue
      fail: {error: own.kind, message: "card ${{ inputs.card }} refused", detail: {card: "${{ activities.call.outputs.output }}"}}
    - id: wrong
      needs: [broken]
      type: set
      outputs: {x: 'int(inputs.card)'}
`, Start{Input: sensitive(), StartedBy: "bob", Children: map[string]ChildVersion{"call": {"child", 1}}})
	s.run()
	vote := s.voteOf("ask", "ann", "approved")
	vote.Form, vote.Decides = obj("code", "sentinel-form", "why", "fine"), true
	vote.Shown = ShownBySchema(s.wf.Graph.ByID["ask"].Human.Form, vote.Form)
	s.receive(Message{Vote: vote})
	s.run()
	child := s.all.Children[0]
	if child.Input["number"] != "sentinel-4711" || fmt.Sprint(child.Hidden) != "[number]" {
		t.Errorf("the child gets %v, hidden %v", child.Input, child.Hidden)
	}
	s.receive(Message{ChildEnded: &ChildEnded{Execution: child.Execution, Activity: "call", Status: "completed",
		Output: obj("made", "SENTINEL-4711"), Shown: obj("made", "***")}})
	s.run().is("failed")
	s.quiet()
	row := s.all.Tasks[0]
	if row.Title != "Pay with ***?" || fmt.Sprint(row.Data) != fmt.Sprint(obj("card", "***", "note", "public")) {
		t.Errorf("the task says %q, %v", row.Title, row.Data)
	}
	if got := Describe(s.wf, s.st).Activities["broken"].Error; got == nil || got.Message != "card *** refused" {
		t.Errorf("the failure says %+v", got)
	}
}

// A child hides what its parent says is sensitive, although its own schema does not.
func TestChildHidesWhatItsParentMarks(t *testing.T) {
	s := simulateStart(t, `
  input: {type: object, properties: {number: {type: string}}}
  activities:
    - {id: set, type: set, outputs: {x: upper(inputs.number)}}
  output: {x: activities.set.outputs.x}
`, Start{Input: obj("number", "sentinel-4711"), Hidden: []string{"number"}}).run().is("completed")
	s.quiet()
	if !Hides(s.wf, s.st) {
		t.Error("its history would be stored in plain")
	}
}

// An event that another execution emitted keeps its twin.
func TestEventsKeepWhatIsHidden(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: hear, type: event, event: {name: paid}}
    - {id: use, needs: [hear], type: set, outputs: {x: lower(activities.hear.outputs.payload.card)}}
`, nil).run()
	s.receive(Message{Signal: &Signal{ID: "1", Name: "paid", Direct: true, Payload: obj("card", "SENTINEL-4711", "n", int64(1)), Shown: obj("card", "***", "n", int64(1))}})
	s.run().is("completed")
	s.quiet()
	if !Hides(s.wf, s.st) {
		t.Error("its history would be stored in plain")
	}
}

func TestTriggerOfASensitiveExecutionIsHidden(t *testing.T) {
	s := simulateStart(t, sensitiveInput+`
  activities:
    - {id: set, type: set, outputs: {x: trigger.body.raw, kind: trigger.type}}
`, Start{Input: sensitive(), Trigger: obj("type", "webhook", "body", obj("raw", "sentinel-4711"), "headers", obj("x", "sentinel-4711"), "query", obj())}).run().is("completed")
	s.quiet()
	if d := Describe(s.wf, s.st); fmt.Sprint(d.Activities["set"].Output) != fmt.Sprint(obj("x", "***", "kind", "webhook")) {
		t.Errorf("shown %v", d.Activities["set"].Output)
	}
}

// What others find an execution by is stored in plain: nothing sensitive may go there.
func TestSensitiveValuesAreRefusedWhereTheyWouldBeStored(t *testing.T) {
	for place, activity := range map[string]string{
		"correlation": `{id: a, type: event, event: {name: paid, correlation: inputs.card}}`,
		"event name":  `{id: a, type: event, event: {name: "got-${{ inputs.card }}"}}`,
		"emit key":    `{id: a, type: emit, emit: {name: paid, key: inputs.card}}`,
		"candidates":  `{id: a, type: human, human: {title: t, candidates: {users: ["${{ inputs.card }}"]}}}`,
		"assignee":    `{id: a, type: human, human: {title: t, assignee: "${{ inputs.card }}", candidates: {users: [x]}}}`,
		"item key":    `{id: a, type: for_each, for_each: {items: [1], key: 'inputs.card + string(item)', activity: {type: set, outputs: {x: 1}}}}`,
		"semaphore":   `{id: a, type: set, semaphore: {name: s, permits: 1, key: "${{ inputs.card }}"}, outputs: {x: 1}}`,
		"error type":  `{id: a, type: fail, fail: {error: "${{ inputs.card }}", message: m}}`,
	} {
		t.Run(place, func(t *testing.T) {
			s := simulate(t, sensitiveInput+"  activities:\n    - "+activity+"\n", sensitive()).run().is("failed").failedWith("sensitive.refused")
			s.quiet()
		})
	}
}

// A mark in a part of a schema of which it is not plain what it is about hides the whole value.
func TestMarksAreFoundWhereverTheyStand(t *testing.T) {
	for name, c := range map[string]struct{ schema, value, want string }{
		"property":   {`{"properties": {"a": {"x-sensitive": true}}}`, `{"a": 1, "b": 2}`, `{"a":"***","b":2}`},
		"items":      {`{"items": {"properties": {"a": {"x-sensitive": true}}}}`, `[{"a": 1}, {"b": 2}]`, `[{"a":"***"},{"b":2}]`},
		"prefix":     {`{"prefixItems": [{}, {"x-sensitive": true}]}`, `[1, 2, 3]`, `[1,"***",3]`},
		"additional": {`{"properties": {"a": {}}, "additionalProperties": {"x-sensitive": true}}`, `{"a": 1, "b": 2}`, `{"a":1,"b":"***"}`},
		"pattern":    {`{"patternProperties": {"^s_": {"x-sensitive": true}}}`, `{"s_a": 1}`, `{"s_a":"***"}`},
		"choice":     {`{"properties": {"a": {"oneOf": [{"type": "integer"}, {"x-sensitive": true}]}}}`, `{"a": {"deep": 1}}`, `{"a":"***"}`},
		"reference":  {`{"$defs": {"card": {"x-sensitive": true}}, "properties": {"a": {"$ref": "#/$defs/card"}, "b": {}}}`, `{"a": 1, "b": 2}`, `{"a":"***","b":2}`},
		"condition":  {`{"properties": {"a": {"if": {}, "then": {"properties": {"b": {"x-sensitive": true}}}}}}`, `{"a": {"b": 1}}`, `{"a":"***"}`},
		"null":       {`{"properties": {"a": {"x-sensitive": true}}}`, `{"a": null}`, `{"a":null}`},
	} {
		var schema map[string]any
		var value any
		if err := json.Unmarshal([]byte(c.schema), &schema); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.value), &value); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(MaskBySchema(schema, value)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestScrubberKnowsSpellings(t *testing.T) {
	scrubber := NewScrubber([]string{`p@ss/"w0rd`, "ab", "4711"})
	for text, want := range map[string]string{
		`Bearer p@ss/"w0rd`:                        "Bearer ***",
		`{"a":"p@ss/\"w0rd"}`:                      `{"a":"***"}`,
		"?q=p%40ss%2F%22w0rd&x":                    "?q=***&x",
		"7040737 70407373 704073732f2277307264 70": "7040737 70407373 *** 70",
		"p@ss/&#34;w0rd":                           "***",
		"cabin 47110":                              "cabin ***0",
		`he said "p@ss/\"w0rd"`:                    `he said "***"`,
		`{"log":"{\"a\":\"p@ss/\\\"w0rd\"}"}`:      `{"log":"{\"a\":\"***\"}"}`,
	} {
		if got := scrubber.Text(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for shift := range 6 { // inside a longer text in base64
		encoded := spellings(strings.Repeat("u", shift) + `:p@ss/"w0rd and more`)
		for _, form := range encoded {
			if clean := scrubber.Text(form); clean == form {
				t.Errorf("%q passes", form)
			}
		}
	}
	for _, quotedOnly := range []string{`a<b&c"d`, "one\ttwo&three"} { // as programs quote that leave HTML alone
		if text := strconv.Quote(quotedOnly); NewScrubber([]string{quotedOnly}).Text(text) != `"***"` {
			t.Errorf("%s passes", text)
		}
	}
	pem := NewScrubber([]string{"-----BEGIN KEY-----\nMIIEvgIBADANBgkqhk\n-----END KEY-----\n"})
	if got := pem.Text("read MIIEvgIBADANBgkqhk"); got != "read ***" {
		t.Errorf("a line of a secret with several: %s", got)
	}
	if NewScrubber([]string{"", "a"}).Text("a") != "a" {
		t.Error("one letter is masked")
	}
}
