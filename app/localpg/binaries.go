package localpg

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const (
	oldestMajor = 14
	newestMajor = 18
)

// installation is one PostgreSQL found on the machine.
type installation struct {
	bin   string // folder of postgres and initdb
	major int
}

func (i installation) String() string { return fmt.Sprintf("%d in %s", i.major, i.bin) }

// systemGlobs are where distributions and installers put the server's binaries.
var systemGlobs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/lib/postgresql*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

// findBinaries chooses the installation to run. wanted is the major version of data
// that exists, 0 for new data, which gets the newest one.
func findBinaries(base string, o Options, wanted int) (installation, error) {
	found := installations(candidateDirs(base, o.BinDir))
	if best, ok := choose(found, wanted); ok {
		return best, nil
	}
	if wanted == 0 || wanted == npmMajor {
		if got, err := installFromNpm(base, o.Log); err == nil {
			return got, nil
		} else if !errors.Is(err, exec.ErrNotFound) {
			o.Log.Warn("could not get PostgreSQL through npm", slog.Any("error", err))
		}
	}
	return installation{}, missing(found, wanted)
}

func choose(found []installation, wanted int) (installation, bool) {
	fits := func(i installation) bool {
		if wanted != 0 {
			return i.major == wanted
		}
		return i.major >= oldestMajor && i.major <= newestMajor
	}
	var best installation
	for _, i := range found {
		if fits(i) && i.major > best.major {
			best = i
		}
	}
	return best, best.bin != ""
}

func missing(found []installation, wanted int) error {
	if wanted != 0 {
		return fmt.Errorf("the data was made by PostgreSQL %d and this machine has %v: install PostgreSQL %d, "+
			"or dump the data with it and start on a new data folder; the data is left as it is", wanted, found, wanted)
	}
	how := "`apt-get install postgresql` (or your distribution's package)"
	if runtime.GOOS == "darwin" {
		how = "`brew install postgresql@17`"
	}
	return fmt.Errorf("no PostgreSQL %d to %d on this machine (found %v): %s installs one, or set DATABASE_URL to use a server of yours",
		oldestMajor, newestMajor, found, how)
}

func candidateDirs(base, binDir string) []string {
	if binDir != "" {
		return []string{binDir}
	}
	var dirs []string
	for _, glob := range systemGlobs {
		matches, _ := filepath.Glob(glob) // fails only for a malformed pattern
		dirs = append(dirs, matches...)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	return append(dirs, npmBinDir(base))
}

func installations(dirs []string) []installation {
	var found []installation
	for _, dir := range dirs {
		seen := slices.ContainsFunc(found, func(i installation) bool { return i.bin == dir })
		if seen || !isFile(filepath.Join(dir, "initdb")) {
			continue
		}
		if major, err := majorOf(dir); err == nil {
			found = append(found, installation{dir, major})
		}
	}
	return found
}

// majorOf asks the binary: "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
func majorOf(bin string) (int, error) {
	out, err := exec.Command(filepath.Join(bin, "postgres"), "-V").Output()
	if err != nil {
		return 0, err
	}
	_, version, ok := strings.Cut(string(out), "(PostgreSQL) ")
	if !ok {
		return 0, fmt.Errorf("%s/postgres -V says %q", bin, out)
	}
	end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	return strconv.Atoi(version[:max(end, 0)])
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
