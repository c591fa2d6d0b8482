package activity_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"weftline/engine/activity"
	"weftline/engine/expr"
)

// sandboxWord makes the test binary a sandbox process.
const sandboxWord = "be-a-sandbox"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandboxWord {
		if err := activity.ServeSandbox(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newScript(t *testing.T, change ...func(*activity.ScriptOptions)) *activity.Script {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	options := activity.ScriptOptions{Sandbox: []string{program, sandboxWord}}
	for _, f := range change {
		f(&options)
	}
	kind, err := activity.NewScript(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kind.Close)
	return kind
}

func languages(names ...string) func(*activity.ScriptOptions) {
	return func(o *activity.ScriptOptions) { o.Languages = names }
}

func javascript(source string, input any) map[string]any {
	return map[string]any{"language": "javascript", "source": source, "input": input}
}

func TestJavaScriptGivesWhatReturnGives(t *testing.T) {
	kind := newScript(t)
	for _, c := range []struct {
		source string
		input  any
		want   any
	}{
		{"return { total: input.a + input.b }", map[string]any{"a": int64(2), "b": 0.5}, map[string]any{"total": 2.5}},
		{"return input.map(x => x * 2)", []any{int64(1), int64(2)}, []any{int64(2), int64(4)}},
		{"return", nil, nil},
		{"", nil, nil},
		{"return input", "zażółć \u2028 😀", "zażółć \u2028 😀"},
		{"// a comment at the end", nil, nil},
		{"return (async () => { await null; return 7 })()", nil, int64(7)},
		{"JSON.stringify = () => 'forged'; return 1", nil, int64(1)},
		{"return new Date(0).getTimezoneOffset()", nil, int64(0)},
	} {
		if got := result(t, run(t, kind, javascript(c.source, c.input)))["output"]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %#v, want %#v", c.source, got, c.want)
		}
	}
}

func TestConsoleIsStdoutAndStderr(t *testing.T) {
	kind := newScript(t)
	var seen []string
	outcome := kind.Run(t.Context(), activity.Call{
		Input: javascript("console.log('a', 1, {b: [true]}); console.error('two\\nlines'); return null", nil),
		Log:   func(stream, line string) { seen = append(seen, stream+": "+line) }})
	got := result(t, outcome)
	want := map[string]any{"exitCode": int64(0), "stdout": "a 1 {\"b\":[true]}\n", "stderr": "two\nlines\n", "output": nil, "files": map[string]any{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("result %#v", got)
	}
	if lines := strings.Join(seen, "|"); lines != `stdout: a 1 {"b":[true]}|stderr: two|stderr: lines` {
		t.Errorf("log %s", lines)
	}
}

func TestOnlyTheEndOfStdoutIsKept(t *testing.T) {
	got := result(t, run(t, newScript(t), javascript("for (let i = 0; i < 20000; i++) console.log('line ' + i)", nil)))
	stdout := got["stdout"].(string)
	if len(stdout) != 64<<10 || !strings.HasSuffix(stdout, "line 19999\n") {
		t.Errorf("%d bytes kept, ending in %q", len(stdout), stdout[len(stdout)-20:])
	}
}

func TestFaultsOfAScriptNameLineAndColumn(t *testing.T) {
	kind := newScript(t)
	for _, c := range []struct {
		source string
		kind   string
		words  []string
		line   int64
	}{
		{"const a = 1\nnull.x", "script.exit", []string{"TypeError", "line 2"}, 2},
		{"throw new Error('no stock')", "script.exit", []string{"Error: no stock", "line 1"}, 1},
		{"let a = 1\n\nlet b = = 2", "script.exit", []string{"SyntaxError", "line 3, column 9"}, 3},
		{"function f() { return f() }\nf()", "script.exit", []string{"RangeError"}, 1},
		{"const a = {}; a.a = a; return a", "output.invalid", []string{"no JSON form"}, 0},
		{"return 1n", "output.invalid", []string{"no JSON form"}, 0},
		{"return new Promise(() => {})", "script.exit", []string{"never fulfilled"}, 0},
		{"return Promise.reject(new Error('later'))", "script.exit", []string{"later"}, 0},
	} {
		outcome := run(t, kind, javascript(c.source, nil))
		wantError(t, outcome, c.kind, c.words...)
		if detail := outcome.Err.Detail.(map[string]any); c.line != 0 && detail["line"] != c.line {
			t.Errorf("%s: detail %v, want line %d", c.source, detail, c.line)
		}
	}
}

func TestASandboxHasNothingOfItsHost(t *testing.T) {
	t.Setenv("WEFTLINE_TEST_SECRET", "hunter2")
	kind := newScript(t)
	for _, name := range []string{"require", "process", "module", "fetch", "XMLHttpRequest", "setTimeout", "Deno", "Go"} {
		if got := result(t, run(t, kind, javascript("return typeof "+name, nil)))["output"]; got != "undefined" {
			t.Errorf("%s is %v", name, got)
		}
	}
	file := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(file, []byte("not a source map"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"return 1\n//# sourceMappingURL=file://" + file, "return eval('1\\n//# sourceMappingURL=file://" + file + "')"} {
		if got := result(t, run(t, kind, javascript(source, nil)))["output"]; got != int64(1) {
			t.Errorf("a source map was looked for: %v", got)
		}
	}
}

func TestScriptsDoNotMeet(t *testing.T) {
	kind := newScript(t)
	result(t, run(t, kind, javascript("globalThis.left = 1; Array.prototype.map = null; return 1", nil)))
	if got := result(t, run(t, kind, javascript("return [typeof left, typeof [].map]", nil)))["output"]; !reflect.DeepEqual(got, []any{"undefined", "function"}) {
		t.Errorf("the next script sees %v", got)
	}
}

func TestASandboxIsBounded(t *testing.T) {
	roomy := newScript(t, func(o *activity.ScriptOptions) { o.Memory, o.MaxOutput = 32<<20, 1000 })
	quick := newScript(t, func(o *activity.ScriptOptions) { o.CPU = 300 })
	for _, c := range []struct {
		of           *activity.Script
		source, kind string
	}{
		{roomy, "const a = []; for (;;) a.push(new Array(1000).fill(1))", "limit.memory"},
		{roomy, "return 'x'.repeat(2 ** 30).length", "limit.memory"},
		{roomy, "let s = 'x'; for (;;) s += s", "limit.memory"},
		{roomy, "return 'x'.repeat(2000)", "output.too_large"},
		{quick, "for (;;) {}", "limit.cpu"},
		{quick, "return /^(?=(a+)+$)\\1/.test('a'.repeat(40) + 'b')", "limit.cpu"},
	} {
		wantError(t, run(t, c.of, javascript(c.source, nil)), c.kind)
		if got := result(t, run(t, c.of, javascript("return 1", nil)))["output"]; got != int64(1) {
			t.Errorf("after %s, the next script gives %v", c.source, got)
		}
	}
}

func TestTimeoutEndsAScript(t *testing.T) {
	kind := newScript(t, languages("bash"))
	for _, input := range []map[string]any{
		javascript("for (;;) {}", nil),
		{"language": "bash", "source": "sleep 1000 & sleep 1000"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		wantError(t, kind.Run(ctx, activity.Call{Input: input}), "timeout.attempt")
		cancel()
	}
}

func TestManyScriptsAtOnce(t *testing.T) {
	kind := newScript(t)
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			outcome := kind.Run(t.Context(), activity.Call{Team: fmt.Sprint("team-", i%3), Input: javascript("return input", int64(i))})
			if outcome.Err != nil || outcome.Value.(map[string]any)["output"] != int64(i) {
				t.Errorf("script %d: %v", i, outcome)
			}
		})
	}
	group.Wait()
}

func TestProcessGetsWhatItIsGivenAndNothingElse(t *testing.T) {
	t.Setenv("WEFTLINE_TEST_SECRET", "hunter2")
	kind := newScript(t, languages("bash"))
	got := result(t, run(t, kind, map[string]any{
		"language": "bash", "args": []any{"a b", int64(2)}, "stdin": "from stdin", "env": map[string]any{"NAME": "$(id)"},
		"files":  map[string]any{"data/in.txt": "from file"},
		"source": `read -r line; echo "$1|$2|$line|$NAME|$(cat data/in.txt)|$WEFTLINE_TEST_SECRET|$HOME"; echo '{"n": 9007199254740993}' > "$WF_OUTPUT"; pwd >&2`,
	}))
	if got["stdout"] != "a b|2|from stdin|$(id)|from file||\n" {
		t.Errorf("stdout %q", got["stdout"])
	}
	if !reflect.DeepEqual(got["output"], map[string]any{"n": int64(9007199254740993)}) {
		t.Errorf("output %#v", got["output"])
	}
	folder := strings.TrimSpace(got["stderr"].(string))
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the working folder %s is still there: %v", folder, err)
	}
}

func TestProcessThatFails(t *testing.T) {
	kind := newScript(t, languages("bash"))
	for _, c := range []struct {
		source, kind string
		words        []string
	}{
		{"echo 'no stock' >&2; exit 3", "script.exit", []string{"exit code 3", "no stock"}},
		{"kill -9 $$", "script.exit", []string{"exit code 137"}},
		{"echo nonsense > \"$WF_OUTPUT\"", "output.invalid", []string{"WF_OUTPUT"}},
		{"mkfifo \"$WF_OUTPUT\"", "output.invalid", []string{"not a file"}},
	} {
		wantError(t, run(t, kind, map[string]any{"language": "bash", "source": c.source}), c.kind, c.words...)
	}
	outcome := run(t, kind, map[string]any{"language": "bash", "source": "exit 3"})
	if detail := outcome.Err.Detail.(map[string]any); detail["exitCode"] != int64(3) {
		t.Errorf("detail %v", detail)
	}
}

// A file that a background process would make after the script has ended is never made.
func TestWhatAProcessLeavesBehindEndsWithIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late")
	kind := newScript(t, languages("bash"))
	got := result(t, run(t, kind, map[string]any{"language": "bash", "env": map[string]any{"LATE": file},
		"source": `(exec >/dev/null 2>&1; sleep 1000; touch "$LATE") & echo $!`}))
	stat := "/proc/" + strings.TrimSpace(got["stdout"].(string)) + "/stat"
	content, err := os.ReadFile(stat)
	if state := strings.Fields(string(content)); err == nil && len(state) > 2 && state[2] != "Z" {
		for range 200 { // it was told to end; it may take a moment
			if content, err = os.ReadFile(stat); err != nil || strings.Fields(string(content))[2] == "Z" {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the background process runs on: %s", content)
	}
}

func TestScriptInputsThatAreRefused(t *testing.T) {
	kind := newScript(t, languages("bash"))
	for _, c := range []struct {
		input map[string]any
		word  string
	}{
		{map[string]any{"language": "javascript", "source": "", "env": map[string]any{"A": "b"}}, "hand data in by input"},
		{map[string]any{"language": "bash", "source": "", "input": int64(1)}, "args, env, stdin, files"},
		{map[string]any{"language": "bash", "source": "", "files": map[string]any{"../x": ""}}, "within the script's folder"},
		{map[string]any{"language": "bash", "source": "", "files": map[string]any{"script.sh": ""}}, "the script itself"},
		{map[string]any{"language": "bash", "source": "", "args": []any{map[string]any{}}}, "toJSON"},
		{map[string]any{"language": "bash", "source": "", "env": map[string]any{"A=B": ""}}, "no variable"},
		{map[string]any{"language": "javascript"}, "source"},
		{map[string]any{"language": "bash", "source": "", "env": map[string]any{"LONG": strings.Repeat("x", 1<<20)}}, "stdin or files"},
	} {
		wantError(t, run(t, kind, c.input), "input.invalid", c.word)
	}
}

func TestLanguagesAreEnabledByTheOperator(t *testing.T) {
	kind := newScript(t, languages("bash"))
	for language, able := range map[string]bool{"javascript": true, "bash": true, "python": false, "node": false} {
		said := kind.Unable(expr.Constant(map[string]any{"language": language}))
		if able != (said == "") || !able && !strings.Contains(said, "--enable-script "+language) {
			t.Errorf("%s: %q", language, said)
		}
	}
	wantError(t, run(t, kind, map[string]any{"language": "python", "source": ""}), "engine.unsupported_type", "--enable-script")
	if _, err := activity.NewScript(activity.ScriptOptions{Languages: []string{"perl"}}); err == nil {
		t.Error("perl was enabled")
	}
}
