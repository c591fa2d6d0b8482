package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The next release is this one with changes of every kind that a release may bring while the one before is at work. It
// is built from the sources with these edits in place, which nothing else is compiled with.

// change is an edit of a source file, by its path in the repository: the old text, which is there once, becomes the new.
type change struct{ file, old, new string }

var changesOfNextRelease = []change{
	// The state remembers more, from what events say that were there before. Checkpoints come with every flush.
	{"engine/execution/state.go", "const Shape = 0", "const Shape = 1"},
	{"engine/execution/state.go", "	Created  Created\n	Seq      int64\n", "	Created  Created\n	NextDone int64 `json:\",omitempty\"`\n	Seq      int64\n"},
	{"engine/execution/apply.go", "		f.end(p, r.to)\n	case ItemCompleted", "		if f.ev.Type == ActivityCompleted {\n			f.st.NextDone++\n		}\n		f.end(p, r.to)\n	case ItemCompleted"},
	{"engine/worker/save.go", "checkpointRule{least: 256 << 10, times: 2}", "checkpointRule{least: 1, times: 0}"},
	// A kind of event that nobody knows yet, which says what the state remembers.
	{"engine/execution/decide.go", "	d.about(ActivityCompleted, p, data)\n", `	d.about(ActivityCompleted, p, data)
	d.events = append(d.events, Event{Seq: d.st.Seq + int64(len(d.events)-d.base) + 1, Type: "ActivityRemembered", At: instant(d.now),
		Activity: p.Activity, Item: p.Item, Aside: true, Data: map[string]any{"completed": d.st.NextDone, "asOf": d.st.Seq}})
`},
	// Fields that nobody knows yet: of every event, of what most of them carry, of messages and of hints.
	{"engine/execution/encode.go", "	b = appendText(b, `,\"worker\":`, ev.Worker)\n", "	b = appendText(b, `,\"worker\":`, ev.Worker)\n	b = append(b, `,\"next\":{\"a\":[1]}`...)\n"},
	{"engine/execution/encode.go", "	b, err := appendValue(b, output)\n	return append(b, '}'), err\n", "	b, err := appendValue(b, output)\n	return append(b, `,\"next\":[1]}`...), err\n"},
	{"engine/store/message.go", "	encoded, err := json.Marshal(message)\n", "	encoded, err := json.Marshal(message)\n	encoded = append(encoded[:len(encoded)-1], `,\"next\":{\"a\":1}}`...)\n"},
	{"engine/notify/notify.go", "	Ready   bool        `json:\"ready,omitempty\"`\n", "	Ready   bool        `json:\"ready,omitempty\"`\n	Next    string      `json:\"next\"`\n"},
	// A column that is written.
	{"engine/store/write_executions.go", "insert into history (execution_id, first_seq, last_seq, at, events)\n		select * from", "insert into history (execution_id, first_seq, last_seq, at, events, next_note)\n		select *, 'next' from"},
}

// additive is what a later release may do to tables that are in use. Its number is far above all others.
const additive = `
alter table executions add column next_note text;
alter table history add column next_note text;
alter table ready add column next_weight integer not null default 1;
alter table work add column next_weight integer not null default 1;
alter table workers add column next_note text not null default '';
create table next_things (id uuid primary key, team_id uuid not null);
create index next_index on executions (team_id, next_note);
update schema_migrations set dirty = false where version = 900000;
`

const additiveFile = "migrations/900000_next.up.sql"

// nextFolder is removed when all tests are over.
var nextFolder string

// nextProgram is the path of the next release, built once.
var nextProgram = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "weftline-next-")
	if err != nil {
		return "", err
	}
	nextFolder = folder
	list, err := overlayOfNextRelease(folder)
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "weftline")
	build := exec.Command("go", "build", "-overlay", list, "-o", program, "./app")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the next release cannot be built: %w\n%s", err, out)
	}
	return program, nil
})

const repository = "../.."

// overlayOfNextRelease writes the changed files into a folder, and a list for go build of what they replace.
func overlayOfNextRelease(folder string) (string, error) {
	texts := map[string]string{additiveFile: additive}
	for _, c := range changesOfNextRelease {
		if texts[c.file] == "" {
			source, err := os.ReadFile(filepath.Join(repository, c.file))
			if err != nil {
				return "", err
			}
			texts[c.file] = string(source)
		}
		texts[c.file] = strings.Replace(texts[c.file], c.old, c.new, 1)
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range texts {
		changed := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		replace[filepath.Join(root, file)] = changed
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// The text that each change is about is in the source, once.
func TestChangesOfTheNextReleaseStillApply(t *testing.T) {
	for _, c := range changesOfNextRelease {
		source, err := os.ReadFile(filepath.Join(repository, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), c.old); n != 1 {
			t.Errorf("%q is %d times in %s", c.old, n, c.file)
		}
	}
}
