package cli

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"weftline/migrations"
)

// releaseVariable makes this test binary the program: that of this release, or of the next one, which brings one
// migration more.
const (
	releaseVariable = "WEFTLINE_TEST_RELEASE"
	thisRelease     = "this"
	nextRelease     = "next"
)

// A server that a test starts runs scripts in processes of its own program, which is the test binary.
func TestMain(m *testing.M) {
	release := os.Getenv(releaseVariable)
	if release == nextRelease {
		migrations.Files = withOneMore(migrations.Files)
	}
	if release != "" || len(os.Args) == 2 && os.Args[1] == sandboxCommand {
		os.Exit(Main(os.Args[1:], Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
	}
	os.Exit(m.Run())
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

func withOneMore(files fs.FS) fs.FS {
	all := fstest.MapFS{"900000_next.up.sql": {Data: []byte(additive)}}
	names, err := fs.Glob(files, "*.sql")
	for _, name := range names {
		text, readErr := fs.ReadFile(files, name)
		if readErr != nil {
			err = readErr
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	if err != nil {
		panic(err)
	}
	return all
}
