package expr_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"weftline/engine/expr"
)

const world = `{
  "inputs": {"n": 3, "big": 9007199254740993, "ratio": 0.25, "flag": true, "name": "ann", "none": null,
             "list": [3, 1, 2], "rows": [{"k": "b", "v": 2}, {"k": "a", "v": 1}, {"k": "b", "v": 5}],
             "tags": {"z": 1, "a": 2, "m": 3}, "when": "2026-03-29T01:30:00+01:00"},
  "activities": {"load": {"status": "completed", "outputs": {"body": {"city": "Ulm"}}},
                 "skipped": {"status": "skipped", "outputs": null}}
}`

func environment(t testing.TB) expr.Roots {
	t.Helper()
	value, err := expr.DecodeJSON([]byte(world))
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func TestExpressionsGiveExactlyThisJSON(t *testing.T) {
	envs := environments(t)
	for _, c := range []struct{ source, want string }{
		{`1 + 1`, `2`},
		{`1 / 2`, `0.5`},
		{`4 / 2`, `2`},
		{`7 % 3 + 2 ** 3`, `9`},
		{`inputs.big + 1`, `9007199254740994`},
		{`inputs.big == 9007199254740992.0`, `false`},
		{`inputs.ratio * 2`, `0.5`},
		{`-inputs.n`, `-3`},
		{`inputs.n > 2 and not inputs.flag`, `false`},
		{`inputs.n > 2 && !inputs.flag || true`, `true`},
		{`inputs.none == null`, `true`},
		{`inputs.none != "x"`, `true`},
		{`inputs.n == nil`, `false`},
		{`inputs.flag ? "yes" : "no"`, `"yes"`},
		{`if inputs.n > 5 { 1 } else if inputs.n > 2 { 2 } else { 3 }`, `2`},
		{`let a = inputs.n; let b = a * 2; map([1, 2], # + b)`, `[7,8]`},
		{`inputs.tags?.z`, `1`},
		{`inputs.tags ?? 1`, `{"a":2,"m":3,"z":1}`},
		{`inputs.tags?.x`, `null`},
		{`inputs.tags.x ?? "d"`, `"d"`},
		{`inputs.nothing.at.all ?? "d"`, `"d"`},
		{`activities.skipped.outputs.body.city ?? "unknown"`, `"unknown"`},
		{`activities.load.outputs.address?.city ?? "unknown"`, `"unknown"`},
		{`activities.skipped.outputs?.body.city`, `null`},
		{`activities.load.outputs.body.city`, `"Ulm"`},
		{`default(inputs.gone, 7)`, `7`},
		{`inputs.list[0] + inputs.list[-1]`, `5`},
		{`inputs.list[1:]`, `[1,2]`},
		{`"hello"[1:3]`, `"el"`},
		{`2 in inputs.list`, `true`},
		{`"z" in inputs.tags`, `true`},
		{`"x" not in ["a", "b"]`, `true`},
		{`"release" startsWith "rel" and contains("abc", "b") and matches("a1", "^[a-z][0-9]$")`, `true`},
		{`inputs.name contains ("n")`, `true`},
		{`[1, [2, "a"]] == [1, [2, "a"]]`, `true`},
		{`{"b": 1, "a": [2]}`, `{"a":[2],"b":1}`},
		{`map(inputs.rows, ({"k": .k, "i": #index}))`, `[{"i":0,"k":"b"},{"i":1,"k":"a"},{"i":2,"k":"b"}]`},
		{`count(inputs.rows, .v > 1)`, `2`},
		{`sum(inputs.rows, .v)`, `8`},
		{`sum([])`, `0`},
		{`filter(inputs.list, # > 1) | len()`, `2`},
		{`find(inputs.rows, .k == "b").v`, `2`},
		{`find(inputs.rows, .k == "q")`, `null`},
		{`findIndex(inputs.rows, .k == "q")`, `-1`},
		{`[all([], # > 1), any([], # > 1), none([], # > 1), one([1, 2], # > 1)]`, `[true,false,true,true]`},
		{`reduce(inputs.list, #acc + #, 10)`, `16`},
		{`reduce(inputs.list, #acc * #)`, `6`},
		{`groupBy(inputs.rows, .k)`, `{"a":[{"k":"a","v":1}],"b":[{"k":"b","v":2},{"k":"b","v":5}]}`},
		{`map(sortBy(inputs.rows, .v, "desc"), .v)`, `[5,2,1]`},
		{`sort(inputs.list)`, `[1,2,3]`},
		{`sort(["b", "a"], "desc")`, `["b","a"]`},
		{`keys(inputs.tags)`, `["a","m","z"]`},
		{`values(inputs.tags)`, `[2,3,1]`},
		{`toPairs(inputs.tags)`, `[["a",2],["m",3],["z",1]]`},
		{`fromPairs([["x", 1]])`, `{"x":1}`},
		{`merge({"a": 1, "b": 1}, {"b": 2})`, `{"a":1,"b":2}`},
		{`toJSON({"b": 1, "a": "<é>"})`, `"{\"a\":\"<é>\",\"b\":1}"`},
		{`fromJSON("{\"n\": 9007199254740993}").n`, `9007199254740993`},
		{`[min(2, 1), max([1, 2.5]), abs(-2), ceil(1.2), floor(-1.2), round(2.5), round(-2.5)]`, `[1,2.5,2,2,-2,3,-3]`},
		{`[round(2.675, 2), formatNumber(2.675, 2), formatNumber(3, 2), int("42"), int(2.9), float("1.5"), string(2.0)]`, `[2.68,"2.68","3.00",42,2,1.5,"2"]`},
		{`[mean([1, 2]), median([3, 1, 2]), median([1, 2])]`, `[1.5,2,1.5]`},
		{`[type(null), type(true), type(1), type("x"), type([]), type({})]`, `["null","boolean","number","string","array","object"]`},
		{`[upper("aé"), lower("AB"), trim(" x "), trim("--x-", "-"), replace("aXa", "a", "b"), indexOf("aéx", "x")]`, `["AÉ","ab","x","x","bXb",2]`},
		{`[split("a,b", ","), join(["a", 1, true], "-"), len("é漢"), indexOf([1, 2], 2)]`, `[["a","b"],"a-1-true",2,1]`},
		{`[first([]), last([1, 2]), take([1, 2, 3], 2), flatten([1, [2, [3]]]), uniq([1, 1.0, "1", [1], [1]]), reverse([1, 2]), concat([1], [2])]`, `[null,2,[1,2],[1,2,3],[1,"1",[1]],[2,1],[1,2]]`},
		{`[base64("hi"), sha256(""), urlEncode("a b&c")]`, `["aGk=","e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","a%20b%26c"]`},
		{`uuid5("dns", "example.com")`, `"cfbff0d1-9375-5685-968c-48ce8b15ae17"`},
		{`parseTime(inputs.when)`, `"2026-03-29T00:30:00.000Z"`},
		{`parseTime("2026-07-01T09:00", "Europe/Berlin")`, `"2026-07-01T07:00:00.000Z"`},
		{`formatTime("2026-03-28T13:00:00Z", "2006-01-02 15:04", "Pacific/Auckland")`, `"2026-03-29 02:00"`},
		{`addDuration("2026-01-31T00:00:00Z", "P1DT2H")`, `"2026-02-01T02:00:00.000Z"`},
		{`addDuration("2026-01-31T00:00:00Z", "-1h")`, `"2026-01-30T23:00:00.000Z"`},
		{`[duration("1h30m"), duration("1500ms"), duration("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")]`, `[5400,1.5,86400]`},
		{`parseTime("2026-01-01T00:00:00.5Z") > parseTime("2026-01-01T00:00:00Z")`, `true`},
	} {
		program, err := expr.Compile(c.source)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		for made, env := range envs {
			got, err := program.Eval(env)
			if err != nil {
				t.Errorf("%s of %s: %v", c.source, made, err)
				continue
			}
			if text, _ := json.Marshal(got); strings.ReplaceAll(strings.ReplaceAll(string(text), `\u003c`, "<"), `\u003e`, ">") != c.want {
				t.Errorf("%s of %s = %s, want %s", c.source, made, text, c.want)
			}
		}
	}
}

func TestRunTimeErrorsNameTheCauseAndThePlace(t *testing.T) {
	envs := environments(t)
	for _, c := range []struct {
		source, words string
		column        int
	}{
		{`inputs.tags.x`, `no key "x"`, 13},
		{`activities.load.outputs.body.address.city`, `"address"`, 30},
		{`inputs.none.x`, `is null`, 13},
		{`inputs.list[9]`, `3 items`, 13},
		{`inputs.list.k`, `a list has no key "k"`, 13},
		{`inputs.name.x`, `a text has no key`, 13},
		{`inputs.naem`, `did you mean "name"`, 8},
		{`nowhere.x`, `"nowhere" is not known`, 1},
		{`1 + "a"`, `a number and a text`, 3},
		{`"n=" + 5`, `string(x)`, 6},
		{`inputs.none + 1`, `null`, 13},
		{`inputs.none < 1`, `null`, 13},
		{`1 == "1"`, `a number and a text`, 3},
		{`inputs.n and true`, `not true or false`, 8},
		{`not inputs.n`, `not true or false`, 12},
		{`inputs.n ? 1 : 2`, `not true or false`, 8},
		{`filter(inputs.list, #)`, `not true or false`, 1},
		{`count("none", # > 1)`, `argument 1 of count is a text`, 1},
		{`map(inputs.tags, #)`, `values(x)`, 1},
		{`1 / 0`, `division by zero`, 3},
		{`9223372036854775807 + 1`, `too large`, 21},
		{`3 ** 100`, `too large`, 3},
		{`1e308 * 10`, `too large`, 7},
		{`upper(1)`, `argument 1 of upper is a number`, 1},
		{`min([])`, `empty list`, 1},
		{`sort([1, "a"])`, `only numbers or only texts`, 1},
		{`join([[1]])`, `toJSON`, 1},
		{`parseTime("tomorrow")`, `not an instant`, 1},
		{`addDuration("2026-01-01T00:00:00Z", "5")`, `write 5s`, 1},
		{`"a" matches inputs.name + "("`, `pattern`, 5},
		{`{"x": 1}.y`, `"y"`, 10},
	} {
		program, err := expr.Compile(c.source)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		for made, env := range envs {
			got, err := program.Eval(env)
			var e *expr.Error
			if !errors.As(err, &e) {
				t.Errorf("%s of %s = %v, %v; want an error", c.source, made, got, err)
				continue
			}
			if !strings.Contains(e.Error(), c.words) || (c.column > 0 && e.Column != c.column) {
				t.Errorf("%s of %s: column %d %v; want column %d and %q", c.source, made, e.Column, e, c.column, c.words)
			}
		}
	}
}

func TestCompileErrorsHaveACodeAndAWayOut(t *testing.T) {
	for _, c := range []struct{ source, code, words string }{
		{`(1 + 2 == 3`, "E301", "too early"},
		{``, "E301", "empty"},
		{`a = 1`, "E301", "=="},
		{`1..5`, "E301", ".."},
		{`x.upper()`, "E309", "methods"},
		{`uper("x")`, "E309", "upper"},
		{`round()`, "E309", "1 to 2"},
		{`now()`, "E310", "execution.startedAt"},
		{`random()`, "E310", "uuid5"},
		{`"a" matches "("`, "E301", "pattern"},
		{`findLast([1], # > 0)`, "E309", "findLast"},
		{strings.Repeat("1+", 3000) + "1", "E306", "bytes"},
		{strings.Repeat("1+", 1500) + "1", "E306", "1000"},
		{`map([1], #foo)`, "E302", "#index"},
		{strings.Repeat("1 < (", 500) + "1" + strings.Repeat(") < 1", 500), "E306", "bytes"},
		{strings.Repeat("1<(", 300) + "1" + strings.Repeat(")<1", 300), "E306", "parts"},
	} {
		_, err := expr.Compile(c.source)
		var e *expr.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Error(), c.words) {
			t.Errorf("%.30s: %v, want %s with %q", c.source, err, c.code, c.words)
		}
	}
}

func TestWorkIsBounded(t *testing.T) {
	list := make([]any, 400)
	for i := range list {
		list[i] = int64(i)
	}
	env := expr.Roots{"xs": list, "text": strings.Repeat("ab", 1<<19)}
	double := "let a = [1,1,1,1,1,1,1,1,1,1];"
	for i := range 12 {
		from, to := string(rune('a'+i)), string(rune('b'+i))
		double += "let " + to + " = [" + strings.Repeat(from+",", 9) + from + "];"
	}
	for _, source := range []string{
		`count(xs, count(xs, count(xs, # > 0) > 0) > 0)`,
		`replace(text, "a", text)`,
		double + "m", double + "toJSON(m)", double + "flatten(m)", double + "m == m",
		`let t = text + text; let u = t + t; let v = u + u; let w = v + v; let x = w + w; let y = x + x; let z = y + y; z`,
	} {
		program, err := expr.Compile(source)
		if err != nil {
			t.Fatalf("%.40s: %v", source, err)
		}
		var e *expr.Error
		if _, err := program.Eval(env); !errors.As(err, &e) || e.Code != "E306" {
			t.Errorf("%.40s: %v, want E306", source, err)
		}
	}
}

func TestTemplatesKeepTypesAndEmbedScalars(t *testing.T) {
	env := environment(t)
	for _, c := range []struct{ template, want string }{
		{`${{ inputs.big }}`, `9007199254740993`},
		{`${{ inputs.list }}`, `[3,1,2]`},
		{`id ${{ inputs.n }} ${{ inputs.flag }} ${{ inputs.ratio }}`, `"id 3 true 0.25"`},
		{`$${{ not an expression }}`, `"${{ not an expression }}"`},
		{`a $${{ b ${{ inputs.n }} $`, `"a ${{ b 3 $"`},
		{`${{ {"a": {"b": 1}}.a.b }}`, `1`},
		{`${{ "}}" }}`, `"}}"`},
		{`${{ inputs.n }}${{ inputs.n }}`, `"33"`},
		{`{{ plain }} $x`, `"{{ plain }} $x"`},
	} {
		value, err := expr.CompileTemplate(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		got, err := value.Eval(env)
		if text, _ := json.Marshal(got); err != nil || string(text) != c.want {
			t.Errorf("%s = %s, %v; want %s", c.template, text, err, c.want)
		}
	}
	for template, words := range map[string]string{
		`x ${{ inputs.list }}`: "toJSON", `x ${{ inputs.none }}`: `?? ""`, `x ${{ inputs.tags }}`: "toJSON",
	} {
		value, err := expr.CompileTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = value.Eval(env); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", template, err, words)
		}
	}
	if _, err := expr.CompileTemplate("a ${{ 1 + }} b"); err == nil || err.(*expr.Error).Column < 6 {
		t.Errorf("position within the template is lost: %v", err)
	}
	if _, err := expr.CompileTemplate("a ${{ 1"); err == nil {
		t.Error("an open ${{ is accepted")
	}
}

func TestValuesResolveTreesAndKnowTheirReferences(t *testing.T) {
	value, err := expr.CompileValue(map[string]any{
		"a": []any{"${{ inputs.n }}", int64(1)}, "b": "${{ secrets.KEY }}", "c": map[string]any{"d": "${{ activities.load.outputs?.x }}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	refs := value.References()
	if strings.Join(refs.Roots, ",") != "activities,inputs,secrets" || refs.Secrets[0] != "KEY" || refs.Activities[0] != "load" {
		t.Errorf("references are %+v", refs)
	}
	if _, literal := value.Literal(); literal {
		t.Error("a value with expressions counts as literal")
	}
	_, err = value.Eval(environment(t))
	var e *expr.Error
	if !errors.As(err, &e) || e.Path != "/b" {
		t.Errorf("error path: %v", err)
	}
	constant, _ := expr.CompileValue([]any{"x", int64(1)})
	if got, literal := constant.Literal(); !literal || got.([]any)[0] != "x" {
		t.Errorf("literal is %v", got)
	}
}

func TestEscapedTemplatesKeepWhatTheAuthorWrote(t *testing.T) {
	for template, want := range map[string]string{
		`<b>${{ "<i>" }}</b>`: "<b>[<i>]</b>", `${{ inputs.n }}`: "[3]", `<b>`: "<b>",
	} {
		value, err := expr.CompileTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.EvalEscaped(environment(t), func(text string) string { return "[" + text + "]" })
		if err != nil || got != want {
			t.Errorf("%s = %v, %v; want %s", template, got, err, want)
		}
	}
}

func TestUnwrapAcceptsOnlyWholeExpressions(t *testing.T) {
	if bare, offset, err := expr.Unwrap("${{ a > 1 }}"); bare != " a > 1 " || offset != 3 || err != nil {
		t.Errorf("%q %d %v", bare, offset, err)
	}
	if _, _, err := expr.Unwrap(`${{ inputs.size }} == "big"`); err == nil || err.(*expr.Error).Code != "E311" {
		t.Errorf("partly wrapped: %v", err)
	}
	if bare, _, err := expr.Unwrap(`a ?? "$${{"`); bare != `a ?? "$${{"` || err != nil {
		t.Errorf("%q %v", bare, err)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]string{
		"10m": "10m", "1m30s": "1m30s", "PT1H30M": "1h30m", "P1DT2H": "1d2h", "1.5h": "1h30m", "1w": "7d", "250ms": "250ms",
		"PT0.5S": "500ms", "0s": "0s", "90s": "1m30s",
	} {
		d, err := expr.ParseDuration(text)
		if err != nil || expr.FormatDuration(d) != want {
			t.Errorf("%s = %s, %v; want %s", text, expr.FormatDuration(d), err, want)
		}
	}
	for text, words := range map[string]string{"30": "30s", "10 minutes": "10m", "P1Y": "years", "P": "", "PT": "", "": "", "-5s": "", "1h ": "", "999999999999w": "too long"} {
		if _, err := expr.ParseDuration(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
	}
}

func BenchmarkComparison(b *testing.B) {
	program, err := expr.Compile(`activities.load.outputs.body.city == "Ulm" and inputs.n > 2`)
	if err != nil {
		b.Fatal(err)
	}
	env := environment(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := program.Eval(env); err != nil {
			b.Fatal(err)
		}
	}
}
