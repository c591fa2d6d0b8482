package flow_test

import (
	"strconv"
	"strings"
	"testing"

	"weftline/engine/flow"
)

const set = "type: set, outputs: {x: 1 + 1}"

// Every wrong definition is refused with the code, the words and the very place of the mistake.
func TestMistakesAreFoundAtTheirPlace(t *testing.T) {
	for _, c := range []struct {
		name, code string
		text       []byte
		at         string // the marked text
		words      string
	}{
		{"unknown key", "E401", activities(`{id: a, type: http, whne: 1 == 1, inputs: {url: "http://x.test"}}`), "whne", `"when"`},
		{"unknown input", "E401", activities(`{id: a, type: http, inputs: {url: "http://x.test", heders: {}}}`), "heders", "headers"},
		{"unknown key of spec", "E401", definition("  limit: {}\n  activities:\n    - {id: a, " + set + "}\n"), "limit", "limits"},
		{"missing input", "E402", activities(`{id: a, type: sql, inputs: {connection: c}}`), "", "query"},
		{"missing block", "E402", activities(`{id: a, type: emit}`), "", "emit"},
		{"set without outputs", "E402", activities(`{id: a, type: set}`), "", "outputs"},
		{"wrong type", "E403", activities(`{id: a, type: http, once: 1, inputs: {url: "http://x.test"}}`), "1", "true or false"},
		{"number as text", "E403", definition("  activities:\n    - {id: a, name: 5, " + set + "}\n"), "5", `"5"`},
		{"word", "E404", activities(`{id: a, onSkip: stop, ` + set + `}`), "stop", "propagate"},
		{"bare duration", "E405", activities(`{id: a, type: http, timeout: 30, inputs: {url: "http://x.test"}}`), "30", "30s"},
		{"bad duration", "E405", activities(`{id: a, type: wait, wait: {timer: {after: 5 min}}}`), "5 min", "10m"},
		{"type", "E406", activities(`{id: a, type: sett}`), "sett", `"set"`},
		{"foreign block", "E407", activities(`{id: a, wait: {timer: {after: 1s}}, ` + set + `}`), "wait", "set"},
		{"inputs of a decision", "E407", activities(`{id: a, type: switch, inputs: {}, switch: {cases: [{name: c, when: "1 == 1"}]}}`), "inputs", "switch"},
		{"name", "E408", []byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: My Flow}\nspec:\n  activities:\n    - {id: a, " + set + "}\n"), "My Flow", "my-flow"},
		{"schema", "E409", definition("  input: {type: objekt}\n  activities:\n    - {id: a, " + set + "}\n"), "objekt", "JSON Schema"},
		{"remote schema", "E409", definition("  input: {$ref: \"http://x.test/schema\"}\n  activities:\n    - {id: a, " + set + "}\n"), "", "remote"},
		{"cron", "E410", definition("  schedule: [{cron: \"0 24 * * *\", timezone: UTC}]\n  activities:\n    - {id: a, " + set + "}\n"), `"0 24 * * *"`, "hour"},
		{"zone", "E411", definition("  schedule: [{cron: \"0 2 * * *\", timezone: Mars/Base}]\n  activities:\n    - {id: a, " + set + "}\n"), "Mars/Base", "IANA"},
		{"size", "E412", definition("  limits: {maxMemory: 5GB}\n  activities:\n    - {id: a, " + set + "}\n"), "5GB", "GiB"},
		{"version", "E413", []byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: v, version: \"1\"}\nspec:\n  activities:\n    - {id: a, " + set + "}\n"), `"1"`, "1.2.0"},
		{"bounds", "E414", activities(`{id: a, type: http, retry: 0, inputs: {url: "http://x.test"}}`), "0", "from 1"},
		{"no address", "E414", activities(`{id: a, type: http, inputs: {url: " "}}`), `" "`, "write it out"},
		{"no people", "E402", activities(`{id: a, type: human, human: {title: T, due: 1h}}`), "", "candidates"},
		{"list", "E403", activities(`{id: a, `+set+`}`, `{id: b, needs: a, `+set+`}`), "a", "[a]"},
		{"yes", "E403", activities(`{id: a, once: yes, ` + set + `}`), "yes", "write true"},
		{"case twice", "E404", activities(`{id: s, type: switch, switch: {cases: [{name: c, when: inputs.flag}, {name: c, when: inputs.flag}]}}`), "c", "twice"},
		{"item named like a root", "E210", activities(`{id: l, type: for_each, for_each: {items: [1], as: inputs, activity: {` + set + `}}}`), "inputs", "item"},
		{"duration as instant", "E405", activities(`{id: a, type: wait, wait: {timer: {at: 10m}}}`), "10m", "2027"},
		{"bad instant", "E405", activities(`{id: a, type: wait, wait: {timer: {at: "2026-13-01T00:00:00Z"}}}`), "", "2027"},
		{"list in a text", "E312", activities(`{id: a, type: http, inputs: {url: "http://x.test/${{ inputs.list }}"}}`), "", "toJSON"},
		{"expression in a name", "E314", activities(`{id: a, name: "x ${{ inputs.n }}", ` + set + `}`), "", "as it stands"},
		{"onDue", "E415", activities(`{id: a, type: human, human: {title: T, assignee: ann, due: 1h, onDue: rejectd}}`), "rejectd", "rejected"},
		{"two timers", "E417", activities(`{id: a, type: wait, wait: {timer: {after: 1s, at: "2027-01-01T00:00:00Z"}}}`), "at", "only one"},
		{"own error", "E418", activities(`{id: a, type: fail, fail: {error: http.404}}`), "http.404", "engine's own"},

		{"id twice", "E201", activities(`{id: a, `+set+`}`, `{id: a, `+set+`}`), "a", "twice"},
		{"circle", "E202", activities(`{id: a, needs: [b], `+set+`}`, `{id: b, needs: [a], `+set+`}`), "", "a → b → a"},
		{"itself", "E203", activities(`{id: a, needs: [a], ` + set + `}`), "a", "itself"},
		{"unknown need", "E204", activities(`{id: load, `+set+`}`, `{id: b, needs: [laod], `+set+`}`), "laod", `"load"`},
		{"unknown port", "E205", activities(`{id: a, `+set+`}`, `{id: b, needs: [a.sucess], `+set+`}`), "a.sucess", "success"},
		{"n of m", "E206", activities(`{id: a, `+set+`}`, `{id: b, needs: [a], join: {n_of_m: 2}, `+set+`}`), "", "2 edges"},
		{"never runs", "E207", activities(`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: a, needs: [s.l, s.r], join: every, `+set+`}`, `{id: b, needs: [s.l], `+set+`}`, `{id: c, needs: [s.r], `+set+`}`,
			`{id: d, needs: [b, c], join: every, `+set+`}`), "every", `"d" can never run`},
		{"plain switch", "E207", activities(`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`, `{id: a, needs: [s], `+set+`}`), "", "s.l"},
		{"errors", "E208", activities(`{id: a, `+set+`}`, `{id: b, needs: [{id: a, errors: [http.404]}], `+set+`}`), "a", "failure"},
		{"boolean id", "E210", activities(`{id: "no", ` + set + `}`), `"no"`, "boolean"},
		{"dashed id", "E210", activities(`{id: a-b, ` + set + `}`), "a-b", "a_b"},
		{"case named like a port", "E210", activities(`{id: s, type: switch, switch: {cases: [{name: done, when: "1 == 1"}]}}`), "done", "port"},
		{"need into a loop", "E212", activities(`{id: l, type: for_each, for_each: {items: [1], activities: [{id: inner, `+set+`}]}}`, `{id: b, needs: [inner], `+set+`}`), "inner", "same list"},

		{"syntax", "E301", activities(`{id: a, type: set, outputs: {x: "1 +"}}`), "", "too early"},
		{"name", "E302", activities(`{id: a, type: set, outputs: {x: input.n}}`), "input", `"inputs"`},
		{"key", "E303", activities(`{id: a, type: set, outputs: {x: inputs.naem}}`), "naem", `"name"`},
		{"all activities", "E303", activities(`{id: a, type: set, outputs: {x: len(activities)}}`), "activities", "by name"},
		{"activity by a computed name", "E303", activities(`{id: a, type: set, outputs: {x: "activities[inputs.name].status"}}`), "activities", "by name"},
		{"activity", "E304", activities(`{id: a, type: set, outputs: {x: activities.z.status}}`), "z", "no activity"},
		{"operator", "E305", activities(`{id: a, type: set, outputs: {x: inputs.n + inputs.name}}`), "+", "number"},
		{"output key", "E303", activities(`{id: a, type: set, outputs: {total: 1 + 1}}`, `{id: b, needs: [a], type: set, outputs: {x: activities.a.outputs.totl}}`), "totl", `"total"`},
		{"not before", "E307", activities(`{id: a, `+set+`}`, `{id: b, type: set, outputs: {x: activities.a.outputs.x}}`), "a", "needs: [a]"},
		{"inside a loop", "E307", activities(`{id: l, type: for_each, for_each: {items: [1], activities: [{id: inner, `+set+`}]}}`, `{id: b, needs: [l], type: set, outputs: {x: activities.inner.status}}`), "inner", "loop"},
		{"result outside", "E308", activities(`{id: a, when: result.x == 1, ` + set + `}`), "result", "outputs"},
		{"status outside", "E308", activities(`{id: a, type: set, outputs: {x: execution.status}}`), "status", "onError"},
		{"error outside", "E308", activities(`{id: a, type: set, outputs: {x: error.type}}`), "error", "failure"},
		{"function", "E309", activities(`{id: a, type: set, outputs: {x: "uper(inputs.name)"}}`), "uper", "upper"},
		{"clock", "E310", activities(`{id: a, type: set, outputs: {x: "now()"}}`), "now", "execution.startedAt"},
		{"partly wrapped", "E311", activities(`{id: a, when: "${{ inputs.n }} > 1", ` + set + `}`), "${{", "without"},
		{"condition", "E313", activities(`{id: a, when: inputs.n, ` + set + `}`), "inputs.n", "boolean"},
		{"foreign code", "E314", activities(`{id: a, type: sql, inputs: {connection: c, query: "select ${{ inputs.n }}"}}`), `"select ${{ inputs.n }}"`, "params"},
		{"query without a value", "E317", activities(`{id: a, type: sql, inputs: {connection: c, query: "select ':no', a::text, :day", params: {}}}`), ":day", "params: {day"},
		{"query without params", "E317", activities(`{id: a, type: sql, inputs: {connection: c, query: "select :day"}}`), ":day", ":day"},
		{"query with a list", "E317", activities(`{id: a, type: sql, inputs: {connection: c, query: "select :day", params: [1]}}`), ":day", ":day"},
		{"parameter of no query", "E317", activities(`{id: a, type: sql, inputs: {connection: c, query: "select :day", params: {day: 1, dya: 2}}}`), "dya", `"day"`},
		{"batch without a value", "E317", activities(`{id: a, type: sql, inputs: {connection: c, query: "select :day", mode: batch, params: [{day: 1}, {}]}}`), ":day", ":day"},
		{"variables", "E315", definition("  variables: {a: \"${{ vars.b }}\", b: \"${{ vars.a }}\"}\n  activities:\n    - {id: a, " + set + "}\n"), "", "a → b → a"},
		{"secret", "E502", activities(`{id: a, type: set, outputs: {x: secrets.KEY}}`), "secrets", "stored"},
		{"sensitive correlation", "E503", sensitive(`{id: a, type: event, event: {name: x, correlation: inputs.person.card}}`), "inputs", "correlation"},
		{"sensitive candidate", "E503", sensitive(`{id: a, type: human, human: {title: x, candidates: {users: ["${{ inputs.mail }}"]}}}`), "inputs", "candidates"},
		{"sensitive variable", "E503", sensitive(`{id: a, type: emit, emit: {name: x, key: '"k" + upper(vars.copy)'}}`), "vars", "not sensitive"},
		{"sensitive form", "E503", sensitive(`{id: a, type: human, human: {title: x, candidates: {users: [u]}, form: {type: object, properties: {pin: {type: string, x-sensitive: true}}}}}`,
			`{id: b, needs: [a], type: set, semaphore: {name: s, permits: 1, key: "${{ activities.a.output.form?.pin ?? '' }}"}, outputs: {x: "1"}}`), "activities", "semaphore"},
		{"secret in a loop key", "E502", activities(`{id: a, type: for_each, for_each: {items: [1], key: secrets.K, activity: {` + set + `}}}`), "secrets", "stored"},
	} {
		report := flow.Validate(c.text)
		p := find(report.Errors, c.code)
		switch {
		case report.Valid || p == nil:
			t.Errorf("%s: want %s, got %v", c.name, c.code, report.Errors)
		case !strings.Contains(p.Message+" "+p.Hint, c.words):
			t.Errorf("%s: %q (%s) does not say %q", c.name, p.Message, p.Hint, c.words)
		case c.at != "" && marked(c.text, p.Pos) != c.at:
			t.Errorf("%s: marks %q, want %q", c.name, marked(c.text, p.Pos), c.at)
		case p.Severity != "error" || p.Line < 1 || p.Column < 1:
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// A query whose values are not written out is left to the run, and so is one with $1; what was published before loads.
func TestOnlySureParametersAreRefused(t *testing.T) {
	for _, inputs := range []string{
		`query: "select :day", params: {day: null}`, `query: "select :day", params: "${{ inputs.person }}"`, `query: "select $1", params: [1]`,
		`query: "select $1"`, `query: "select 1"`, `query: "select :day", mode: batch, params: "${{ inputs.list }}"`, `query: "select :day, :day", params: {day: 1}`,
	} {
		text := activities(`{id: a, type: sql, inputs: {connection: c, ` + inputs + `}}`)
		if p := find(flow.Validate(text).Errors, "E317"); p != nil {
			t.Errorf("%s: %+v", inputs, p)
		}
	}
	inherited := definition("  defaults: {sql: {params: {day: 1}}}\n  activities:\n    - {id: a, type: sql, inputs: {connection: c, query: \"select :day\"}}\n")
	if p := find(flow.Validate(inherited).Errors, "E317"); p != nil {
		t.Errorf("inherited: %+v", p)
	}
	text := activities(`{id: a, type: sql, inputs: {connection: c, query: "select :day"}}`)
	if _, err := flow.Load(text); err != nil || flow.Validate(text).Valid {
		t.Errorf("loading: %v", err)
	}
}

// A mistake in code is placed where its line and column stand in the YAML, in every style of writing a text.
func TestMistakesInCodeHaveTheirPlaceInTheText(t *testing.T) {
	for _, c := range []struct {
		source       string
		line, column int
		at           string
	}{
		{`"const ä = 1; return ä ?"`, 1, len("const ä = 1; return ä ") + 1, "?"},
		{`'it''s?'`, 1, len("it's") + 1, "?"},
		{`"a\nb ?"`, 2, 3, "?"},
		{"|\n          a\n            b ?\n", 2, 5, "?"},
		{`"if (a) { }"`, 9, 1, `"`},
	} {
		text := definition("  activities:\n    - id: a\n      type: script\n      inputs:\n        language: javascript\n        source: " + c.source + "\n")
		reading := flow.Read(text)
		if !reading.Valid || len(reading.Code) != 1 {
			t.Fatalf("%s: %+v", c.source, reading.Errors)
		}
		p := reading.Code[0].Mistake(c.line, c.column, "no")
		if marked(text, p.Pos) != c.at || p.Path != "spec.activities[0].inputs.source" {
			t.Errorf("%s: marks %q in %s, want %q", c.source, marked(text, p.Pos), p.Path, c.at)
		}
		reading.Add([]flow.Problem{p})
		if reading.Valid || find(reading.Errors, "E316") == nil {
			t.Errorf("%s: still valid", c.source)
		}
	}
}

// Scripts stand everywhere activities do, and take their language from the defaults.
func TestCodeIsFoundEverywhere(t *testing.T) {
	text := definition(`  defaults: {script: {language: javascript}}
  activities:
    - {id: a, type: script, inputs: {source: one}, compensate: {type: script, inputs: {language: python, source: two}}}
    - {id: l, type: for_each, for_each: {items: [1], activity: {type: script, inputs: {source: three}}}}
    - {id: s, type: set, outputs: {x: "'type: script'"}}
  onExit:
    - {id: h, type: script, inputs: {source: four}}
`)
	var got []string
	for _, code := range flow.Read(text).Code {
		got = append(got, code.Language+" "+code.Text)
	}
	if want := "javascript one, python two, javascript three, javascript four"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s: %v", got, want, flow.Validate(text).Errors)
	}
}

// What only may tell something sensitive is left to the run, and what was published before still loads.
func TestOnlySureSensitiveValuesAreRefused(t *testing.T) {
	for _, key := range []string{`inputs.mail == "a"`, `len(inputs.mail)`, `inputs.person.name`, `inputs.mail == "" ? "a" : "b"`, `uuid5("dns", inputs.mail)`} {
		text := sensitive(`{id: a, type: emit, emit: {name: x, key: ` + strconv.Quote(key) + `}}`)
		if p := find(flow.Validate(text).Errors, "E503"); p != nil {
			t.Errorf("%s: %+v", key, p)
		}
	}
	text := sensitive(`{id: a, type: emit, emit: {name: x, key: inputs.mail}}`)
	if _, err := flow.Load(text); err != nil || flow.Validate(text).Valid {
		t.Errorf("loading: %v", err)
	}
}

// A sensitive value stays one as the item of a loop, as an output and as a variable, and as a part of those.
func TestSensitiveValuesAreFollowed(t *testing.T) {
	loop := func(items, body string) string {
		return `{id: l, type: for_each, for_each: {items: ` + strconv.Quote(items) + `, ` + body + `}}`
	}
	emit := func(key string) string {
		return `{id: e, needs: [l], type: emit, emit: {name: x, key: ` + strconv.Quote(key) + `}}`
	}
	inLoop := func(key string) string {
		return `activity: {type: emit, emit: {name: x, key: ` + strconv.Quote(key) + `}}`
	}
	copies := `{id: l, type: set, outputs: {mail: inputs.mail, who: inputs.person, text: '"for " + inputs.mail', deep: '${{ {a: inputs.person} }}', size: len(inputs.mail)}}`
	ask := `{id: l, type: human, human: {title: x, candidates: {users: [u]}, form: {type: object, properties: {pin: {type: string, x-sensitive: true}, size: {type: string}}}}, outputs: {pin: result.form?.pin, size: result.form?.size}}`
	for name, c := range map[string]struct {
		steps []string
		want  bool
	}{
		"an item":                      {[]string{loop(`inputs.mails`, inLoop(`item`))}, true},
		"a field of an item":           {[]string{loop(`inputs.people`, inLoop(`item.card`))}, true},
		"another field of an item":     {[]string{loop(`inputs.people`, inLoop(`item.name`))}, false},
		"the key of an item":           {[]string{loop(`inputs.people`, `key: item.card, activity: {type: set, outputs: {x: "1"}}`)}, true},
		"an item under its name":       {[]string{loop(`inputs.people`, `as: person, activities: [{id: b, type: emit, emit: {name: x, key: person.card}}]`)}, true},
		"an item of an item":           {[]string{loop(`inputs.people`, `activities: [{id: inner, type: for_each, for_each: {items: item.cards, as: one, `+inLoop(`one`)+`}}]`)}, true},
		"an output in the same loop":   {[]string{loop(`inputs.people`, `activities: [{id: a, type: set, outputs: {c: item.card}}, {id: b, needs: [a], type: emit, emit: {name: x, key: activities.a.outputs.c}}]`)}, true},
		"one of a list":                {[]string{copies, emit(`inputs.people[0].card`)}, true},
		"an output":                    {[]string{copies, emit(`activities.l.outputs.mail`)}, true},
		"a text as an output":          {[]string{copies, emit(`activities.l.outputs.text`)}, true},
		"a field of an output":         {[]string{copies, emit(`activities.l.output.who.card`)}, true},
		"another field of an output":   {[]string{copies, emit(`activities.l.outputs.who.name`)}, false},
		"what depends on it":           {[]string{copies, emit(`string(activities.l.outputs.size)`)}, false},
		"a field of a form, renamed":   {[]string{ask, emit(`activities.l.outputs.pin`)}, true},
		"another field of the form":    {[]string{ask, emit(`activities.l.outputs.size`)}, false},
		"a field of a variable":        {[]string{copies, emit(`vars.someone.card`)}, true},
		"another field of a variable":  {[]string{copies, emit(`vars.someone.name`)}, false},
		"what a loop collects":         {[]string{loop(`inputs.people`, `activity: {type: set, outputs: {x: "1"}}, collect: {c: item.card, n: item.name}`), emit(`activities.l.outputs.results[0].c`)}, true},
		"what else a loop collects":    {[]string{loop(`inputs.people`, `activity: {type: set, outputs: {x: "1"}}, collect: {c: item.card, n: item.name}`), emit(`activities.l.outputs.results[0].n`)}, false},
		"what a loop's activity gives": {[]string{loop(`inputs.people`, `activity: {type: set, outputs: {c: item.card}}`), emit(`activities.l.outputs.results[0].c`)}, true},
	} {
		report := flow.Validate(sensitive(c.steps...))
		p := find(report.Errors, "E503")
		if (p != nil) != c.want || len(report.Errors) > 0 && p == nil {
			t.Errorf("%s: %+v", name, report.Errors)
		}
	}
}

// sensitive is a definition with sensitive inputs and a variable that holds one.
func sensitive(steps ...string) []byte {
	return definition("  input: {type: object, required: [mail, person], properties: {mail: {type: string, x-sensitive: true}, person: {type: object, required: [card, name], properties: {card: {type: string, x-sensitive: true}, name: {type: string}}},\n" +
		"    mails: {type: array, items: {type: string, x-sensitive: true}}, people: {type: array, items: {type: object, properties: {card: {type: string, x-sensitive: true}, name: {type: string}, cards: {type: array, items: {type: string, x-sensitive: true}}}}}}}\n" +
		"  variables: {copy: \"${{ inputs.mail }}\", someone: \"${{ inputs.person }}\"}\n  activities:\n    - " + strings.Join(steps, "\n    - ") + "\n")
}

func TestTextsThatAreNoYAMLAreRefusedWithAWayOut(t *testing.T) {
	good := string(activities(`{id: a, ` + set + `}`))
	for _, c := range []struct{ name, code, text, words string }{
		{"tab", "E102", strings.Replace(good, "    - {", "\t- {", 1), "spaces"},
		{"key twice", "E103", good + "  output: {}\n  output: {}\n", "twice"},
		{"tag", "E104", strings.Replace(good, "x: 1 + 1", "x: !inputs.flag", 1), "not inputs.flag"},
		{"directive", "E105", "%YAML 1.2\n---\n" + good, "directive"},
		{"merge key", "E106", good + "  output: {<<: {a: 1 + 1}}\n", "spec.defaults"},
		{"not UTF-8", "E109", good + "# \xff\n", "UTF-8"},
		{"two workflows", "E110", good + "---\n" + good, "second"},
		{"no workflow", "E110", "", "apiVersion"},
		{"list", "E113", "- a\n- b\n", "map"},
		{"version", "E111", strings.Replace(good, "weftline/v1", "weftline/v9", 1), "weftline/v1"},
		{"kind", "E112", strings.Replace(good, "kind: Workflow", "kind: Flow", 1), "Workflow"},
		{"unclosed", "E101", good + "  output: {a: [\n", "bracket"},
		{"too large", "E108", good + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 11_000), "1048576"},
		{"deep", "E107", good + "  output: {a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", "deeper"},
	} {
		report := flow.Validate([]byte(c.text))
		p := find(report.Errors, c.code)
		if report.Valid || p == nil || !strings.Contains(p.Message+p.Hint, c.words) {
			t.Errorf("%s: want %s with %q, got %v", c.name, c.code, c.words, report.Errors)
		}
	}
}

// One branch that leads nowhere makes what follows doubtful.
func TestABranchThatLeadsNowhereIsSeen(t *testing.T) {
	text := append(activities(
		`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}, {name: m, when: inputs.flag}], default: r}}`,
		`{id: a, needs: [s.l, s.r], `+set+`}`), "  output: {z: activities.a.outputs.x}\n"...)
	if find(flow.Validate(text).Warnings, "W701") == nil {
		t.Error("case m leads nowhere, but a counts as sure")
	}
}

// A branch that ends in a fail makes nothing doubtful: then the execution fails.
func TestABranchThatEndsInAFailIsNoWayToTheEnd(t *testing.T) {
	with := func(last string) []byte {
		return append(activities(
			`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: a, needs: [s.l], `+set+`}`, last), "  output: {z: activities.a.outputs.x}\n"...)
	}
	if p := find(flow.Validate(with(`{id: no, type: fail, needs: [s.r], fail: {error: own.no, message: M}}`)).Warnings, "W701"); p != nil {
		t.Errorf("a fail on the other branch: %v", p)
	}
	if find(flow.Validate(with(`{id: no, type: fail, needs: [s.r], onFailure: continue, fail: {error: own.no, message: M}}`)).Warnings, "W701") == nil {
		t.Error("a failure that is handled is a way to the end")
	}
}

func TestAdviceDoesNotRefuse(t *testing.T) {
	for _, c := range []struct {
		code string
		text []byte
		at   string
	}{
		{"W701", activities(`{id: a, when: inputs.flag, `+set+`}`, `{id: b, needs: [a.done], type: set, outputs: {z: activities.a.outputs.x}}`), "x"},
		{"W702", activities(`{id: a, type: human, human: {title: T, assignee: ann}}`), ""},
		{"W703", activities(`{id: a, type: event, event: {name: x.y}}`), ""},
		{"W704", definition("  schedule: [{cron: \"0 2 * * *\"}]\n  activities:\n    - {id: a, " + set + "}\n"), `"0 2 * * *"`},
		{"W705", activities(`{id: a, type: http, retry: 3, idempotencyKey: "", inputs: {method: POST, url: "http://x.test"}}`), `""`},
		{"W706", definition("  execution: {mode: local_async}\n  activities:\n    - {id: a, type: email, inputs: {to: [a@x.test], subject: S}}\n"), "a"},
		{"W707", definition("  limits: {timeout: 1h}\n  activities:\n    - {id: a, type: wait, wait: {timer: {after: 2h}}}\n"), "2h"},
		{"W713", activities(`{id: a, type: http, inputs: {url: "http://x.test", body: {to: inputs.flag}}}`), "inputs.flag"},
		{"W713", activities(`{id: a, type: http, inputs: {url: "http://x.test/{{ inputs.flag }}"}}`), `"http://x.test/{{ inputs.flag }}"`},
		{"W711", activities(`{id: a, join: any, ` + set + `}`), "any"},
	} {
		report := flow.Validate(c.text)
		p := find(report.Warnings, c.code)
		if !report.Valid || p == nil {
			t.Errorf("%s: %v %v", c.code, report.Errors, report.Warnings)
			continue
		}
		if c.at != "" && marked(c.text, p.Pos) != c.at {
			t.Errorf("%s marks %q, want %q", c.code, marked(c.text, p.Pos), c.at)
		}
	}
}

// What only looks wrong is accepted without a word.
func TestGoodDefinitionsHaveNoFindings(t *testing.T) {
	for name, text := range map[string][]byte{
		"skipped read with ?.":    activities(`{id: a, when: inputs.flag, `+set+`}`, `{id: b, needs: [a.done], type: set, outputs: {z: activities.a.outputs?.x ?? 0}}`),
		"sure read":               activities(`{id: a, `+set+`}`, `{id: b, needs: [a], type: set, outputs: {z: activities.a.outputs.x}}`),
		"wrapped condition":       activities(`{id: a, when: "${{ inputs.n > 1 }}", ` + set + `}`),
		"error after a failure":   activities(`{id: a, type: http, inputs: {url: "http://x.test"}}`, `{id: b, needs: [a.failure], type: set, outputs: {z: error.type}}`),
		"snake_case":              definition("  limits: {max_concurrent: 3, fail_fast: false}\n  activities:\n    - {id: a, total_timeout: 5s, " + set + "}\n"),
		"transitions":             definition("  activities:\n    - {id: a, " + set + "}\n    - {id: b, " + set + "}\n  transitions: [{from: a, to: b}]\n"),
		"own keys":                activities(`{id: a, x-note: {any: thing}, ` + set + `}`),
		"defaults give the url":   definition("  defaults: {http: {url: \"http://x.test\"}}\n  activities:\n    - {id: a, type: http}\n"),
		"JSON":                    []byte("{\n\t\"apiVersion\": \"weftline/v1\", \"kind\": \"Workflow\", \"metadata\": {\"name\": \"j\"},\n\t\"spec\": {\"activities\": [{\"id\": \"a\", \"type\": \"set\", \"outputs\": {\"x\": \"1 + 1\"}}]}}"),
		"secret in a header":      activities(`{id: a, type: http, inputs: {url: "http://x.test", headers: {X: "${{ secrets.K }}"}}}`),
		"clean-up after a switch": activities(`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`, `{id: a, needs: [s], join: done, `+set+`}`),
		"all branches lead here": activities(
			`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: h, needs: [s.l], type: human, human: {title: T, assignee: ann, due: 1h, outcomes: [fine, bad, worse]}}`,
			`{id: a, needs: [h, s.r], `+set+`}`, `{id: b, needs: [h.bad, h.worse, h.expired], `+set+`}`,
			`{id: c, needs: [a, b], type: set, outputs: {z: 1 + 1}}`, `{id: d, needs: [c.done], type: set, outputs: {z: 1 + 1}}`,
			`{id: e, needs: [d, c], join: every, type: set, outputs: {z: activities.c.outputs.z + activities.d.outputs.z}}`),
		"decisions within decisions": activities(
			`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: s2, needs: [s.l], type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: s3, needs: [s.r], type: switch, switch: {cases: [{name: l, when: inputs.flag}], default: r}}`,
			`{id: m1, needs: [s2.l, s2.r], `+set+`}`, `{id: m2, needs: [s3.l, s3.r], `+set+`}`, `{id: j, needs: [m1, m2], `+set+`}`,
			`{id: last, needs: [j.done], type: set, outputs: {z: 1 + 1}}`,
			`{id: use, needs: [last, j], join: every, type: set, outputs: {z: activities.j.outputs.x}}`),
		"gate":              activities(`{id: s, type: switch, switch: {cases: [{name: l, when: inputs.flag}]}}`, `{id: a, needs: [s], `+set+`}`),
		"undo reads itself": activities(`{id: a, type: http, inputs: {url: "http://x.test"}, compensate: {type: http, inputs: {url: "http://x.test/${{ activities.a.outputs.status }}/${{ activities.a.inputs.url }}"}}}`),
		"tab in a block":    definition("  activities:\n    - id: a\n      type: script\n      inputs:\n        language: bash\n        source: |\n          x\n          \ty\n"),
	} {
		if report := flow.Validate(text); !report.Valid || len(report.Warnings) > 0 {
			t.Errorf("%s: %v %v", name, report.Errors, report.Warnings)
		}
	}
}

func TestAllMistakesComeAtOnceSortedAndAtMostFifty(t *testing.T) {
	lines := make([]string, 80)
	for i := range lines {
		lines[i] = `{id: "no", type: htp, timeout: 5}`
	}
	report := flow.Validate(activities(lines...))
	if len(report.Errors) != 50 {
		t.Fatalf("%d errors", len(report.Errors))
	}
	for i := 1; i < len(report.Errors); i++ {
		a, b := report.Errors[i-1], report.Errors[i]
		if a.Line > b.Line || a.Line == b.Line && a.Column > b.Column {
			t.Fatalf("%d:%d comes before %d:%d", a.Line, a.Column, b.Line, b.Column)
		}
	}
}

// Positions inside an expression are right in every style of YAML text, also after characters of several bytes.
func TestExpressionErrorsPointIntoEveryKindOfText(t *testing.T) {
	for name, spec := range map[string]string{
		"plain":         "    - {id: a, type: set, outputs: {x: inputs.n + wrong}}\n",
		"after umlauts": "    - {id: a, name: äöü 漢字, type: set, outputs: {x: \"inputs.name + 'ä' + wrong\"}}\n",
		"double quoted": "    - {id: a, type: set, outputs: {x: \"\\\"\\u00e4\\\" + wrong\"}}\n",
		"single quoted": "    - {id: a, type: set, outputs: {x: '''its'' + wrong'}}\n",
		"literal":       "    - id: a\n      type: set\n      outputs:\n        x: |\n          inputs.n +\n            wrong\n",
		"folded":        "    - id: a\n      type: set\n      outputs:\n        x: >-\n          inputs.n\n          + wrong\n",
		"plain folded":  "    - id: a\n      type: set\n      outputs:\n        x: inputs.n\n          + wrong\n",
		"template":      "    - id: a\n      type: emit\n      emit:\n        name: x.y\n        payload: ä ${{ inputs.n }} and ${{ wrong }}\n",
	} {
		text := definition("  input: {type: object, properties: {n: {type: integer, default: 1}, name: {type: string, default: x}}}\n  activities:\n" + spec)
		p := find(flow.Validate(text).Errors, "E302")
		if p == nil || marked(text, p.Pos) != "wrong" {
			t.Errorf("%s: %+v in\n%s", name, p, text)
		}
	}
}

func TestEditsRepairWhatTheyMark(t *testing.T) {
	for want, text := range map[string][]byte{
		"timeout: 30s":    activities(`{id: a, type: http, timeout: 30, inputs: {url: "http://x.test"}}`),
		"needs: [load]":   activities(`{id: load, `+set+`}`, `{id: b, needs: [laod], `+set+`}`),
		"onSkip: pass":    activities(`{id: a, onSkip: pas, ` + set + `}`),
		`name: "5"`:       activities(`{id: a, name: 5, ` + set + `}`),
		"repeat: {until:": activities(`{id: a, type: http, repat: {until: self.status == 200, every: 1s, max: 2}, inputs: {url: "http://x.test"}}`),
	} {
		report := flow.Validate(text)
		repaired := string(text)
		for _, p := range report.Errors {
			for _, e := range p.Edits {
				repaired = apply(repaired, e)
			}
		}
		if !strings.Contains(repaired, want) || !flow.Validate([]byte(repaired)).Valid {
			t.Errorf("%s: %v\n%s", want, flow.Validate([]byte(repaired)).Errors, repaired)
		}
	}
}

func apply(text string, e flow.Edit) string {
	lines := strings.Split(text, "\n")
	line := []rune(lines[e.Line-1])
	lines[e.Line-1] = string(line[:e.Column-1]) + e.Text + string(line[e.EndColumn-1:])
	return strings.Join(lines, "\n")
}

func TestEveryCodeIsExplained(t *testing.T) {
	for _, code := range flow.Codes() {
		if text := flow.Explain(code); !strings.Contains(text, "What to do:") || flow.Title(code) == "" {
			t.Errorf("%s: %q", code, text)
		}
	}
	if flow.Explain("E999") != "" {
		t.Error("an unknown code is explained")
	}
}
