package execution

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutations: the core is broken on purpose, one fault at a time, and the random worlds have to see it. The faults
// are edits of a copy; nothing here is compiled into anything else.

var mutate = flag.Bool("mutate", false, "break the core on purpose and see that the random worlds notice (minutes)")

var onlyMutation = flag.String("mutation", "", "with -mutate: this one alone, by its name")

// mutation is a fault: in each file named, the old text becomes the new one.
type mutation struct {
	name  string
	edits []edit
}

type edit struct{ file, old, new string }

var mutations = []mutation{
	{"an attempt is not counted", []edit{{"apply.go", "if d.Free {\n\t\tr.Free++", "if true {\n\t\tr.Free++"}}},
	{"map order", []edit{{"apply_end.go", "	slices.Sort(open)\n	return open", "	return open"}}},
	{"a late result is accepted", []edit{{"receive.go", "case p.run.Attempt != r.Attempt:", "case p.run.Attempt < r.Attempt:"}}},
	{"a result of an activity that is over is accepted", []edit{
		{"receive.go", "case !p.run.Phase.inFlight() || p.act.ForEach != nil:", "case p.act.ForEach != nil:"},
		{"table.go", `{ActivityCompleted, []string{"running", "waiting"}`, `{ActivityCompleted, []string{"running", "waiting", "completed", "failed"}`}}},
	{"a join is counted twice", []edit{{"apply_end.go", "t.Settled++\n", "t.Settled += 2\n"}}},
	{"a timer fires twice", []edit{{"due.go", "		d.about(TimerFired, p, &Timer{Until: at})\n",
		"		d.about(TimerFired, p, &Timer{Until: at})\n		d.about(TimerFired, p, &Timer{Until: at})\n"}}},
	{"a timer fires early", []edit{{"due.go", "d.st.Timers[0].At > d.now", "d.st.Timers[0].At > d.now+2000"}}},
	{"a slot leaks", []edit{{"decide.go", "	d.about(ActivityCancelled, p, c)\n	d.release(p)", "	d.about(ActivityCancelled, p, c)"}}},
	{"compensation begins with the oldest", []edit{{"apply_undo.go", "	slices.Reverse(u.Todo)\n", "	_ = slices.Reverse[[]key]\n"}}},
	{"compensation forgets one", []edit{{"apply_undo.go", "u.Todo = slices.Clone(u.Done)", "u.Todo = slices.Clone(u.Done[:len(u.Done)-1])"}}},
	{"an end is reopened", []edit{
		{"table.go", "{WorkflowRetried, []string{StatusFailed, StatusTimedOut}", "{WorkflowRetried, []string{StatusCompleted, StatusFailed, StatusTimedOut}"},
		{"receive.go", "if d.st.Status != StatusFailed && d.st.Status != StatusTimedOut {\n\t\treturn stale(\"an execution that is %s cannot be driven", "if !d.st.Terminal() {\n\t\treturn stale(\"an execution that is %s cannot be driven"}}},
	{"a signal is consumed twice", []edit{{"apply_wait.go", "			f.st.Kept = append(f.st.Kept[:i:i], f.st.Kept[i+1:]...)\n", "			_ = i\n"}}},
	{"a signal id is taken twice", []edit{{"receive.go", `if s.ID != "" && d.st.Seen[s.ID] {`, `if s.ID == "?" && d.st.Seen[s.ID] {`}}},
	{"a skip is propagated as a decision", []edit{{"edges.go", "		if r.Reason == reasonUpstream {\n			return deadFail\n		}\n", ""}}},
	{"a failure that is taken kills its branch", []edit{{"edges.go", "		if r.Taken {\n			return deadSkip\n		}\n", ""}}},
	{"a checkpoint lacks a count", []edit{{"state.go", "Free    int `json:\",omitempty\"`", "Free    int `json:\"-\"`"}}},
	{"a retried execution keeps its clock", []edit{{"apply_workflow.go", "due = f.at + ceilMillis(f.wf.Limits.Timeout)", "due = st.Started + ceilMillis(f.wf.Limits.Timeout)"}}},
	{"a retried execution counts from one again", []edit{{"apply_retried.go", "	st.Floor = st.Top\n", ""}}},
	{"maxParallel is one too many", []edit{{"decide.go", "room -= len(d.st.Flight)", "room -= len(d.st.Flight) - 1"}}},
	{"a parked activity is not counted", []edit{{"apply.go", "st.Parked += count(to.parked()) - count(from.parked())", "st.Parked += count(to == waiting) - count(from.parked())"}}},
}

// TestMutationsStillApply: the text that each fault changes is in the source, once.
func TestMutationsStillApply(t *testing.T) {
	for _, m := range mutations {
		for _, e := range m.edits {
			content, err := os.ReadFile(e.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(content), e.old); n != 1 {
				t.Errorf("%s: %q is %d times in %s", m.name, e.old, n, e.file)
			}
		}
	}
}

// TestMutationsAreCaught runs the random worlds on each broken core. It takes minutes: -mutate.
func TestMutationsAreCaught(t *testing.T) {
	if !*mutate {
		t.Skip("breaking the core takes minutes: go test ./engine/execution -run Mutations -mutate")
	}
	for _, m := range mutations {
		if *onlyMutation != "" && m.name != *onlyMutation {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-timeout=120s",
			"-overlay="+m.overlay(t), "-run", "^TestRandomWorlds$", ".", "-seeds", "3000").CombinedOutput()
		if err == nil {
			t.Errorf("nobody noticed that %s", m.name)
			continue
		}
		if strings.Contains(string(out), "[build failed]") {
			t.Errorf("%s does not build:\n%s", m.name, out)
			continue
		}
		t.Logf("%s: %s", m.name, firstLine(string(out)))
	}
}

// overlay writes the broken files and the list that puts them in place of the real ones.
func (m mutation) overlay(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	replace := map[string]string{}
	for i, e := range m.edits {
		real, err := filepath.Abs(e.file)
		if err != nil {
			t.Fatal(err)
		}
		from := real
		if broken := replace[real]; broken != "" {
			from = broken
		}
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		replace[real] = filepath.Join(folder, string(rune('a'+i))+".go")
		if err := os.WriteFile(replace[real], []byte(strings.Replace(string(content), e.old, e.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// firstLine is what the worlds complained about.
func firstLine(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "seed ") || strings.HasPrefix(line, "panic") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(out[:min(len(out), 200)])
}
