// Command bundle builds the browser's files: every static/islands/<name>/main.ts
// and static/css/app.css become static/dist/<name>-<hash>.js|css, with the shared
// chunks, the fonts and manifest.json beside them. The result is committed and
// embedded, so building Weftline needs no Node; the same sources always give the
// same bytes, which `make check` proves by building again.
//
// With -tests it bundles static/islands/**/*.test.ts for Node's test runner instead.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	dir := flag.String("static", "static", "folder that holds islands, css and node_modules")
	tests := flag.String("tests", "", "write the bundled unit tests into this folder and nothing else")
	flag.Parse()
	if err := run(*dir, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(dir, testsOut string) error {
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if testsOut != "" {
		out, err := filepath.Abs(testsOut)
		if err != nil {
			return err
		}
		return bundleTests(root, out)
	}
	return bundleSite(root)
}

// bundleSite replaces static/dist as a whole: files of earlier builds go.
func bundleSite(root string) error {
	entries, err := siteEntries(root)
	if err != nil {
		return err
	}
	dist := filepath.Join(root, "dist")
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       root,
		EntryPointsAdvanced: entries,
		Outdir:              dist,
		Bundle:              true,
		Splitting:           true,
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		Target:              api.ES2022,
		MinifySyntax:        true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		LegalComments:       api.LegalCommentsEndOfFile,
		EntryNames:          "[name]-[hash]",
		ChunkNames:          "chunk-[hash]",
		AssetNames:          "[name]-[hash]",
		Loader:              map[string]api.Loader{".woff2": api.LoaderFile, ".svg": api.LoaderFile},
		Metafile:            true,
		LogLevel:            api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors in the browser's sources (above)", len(result.Errors))
	}
	return writeDist(root, dist, entries, result)
}

// siteEntries names each output after its folder, so that islands/designer/main.ts
// is found as designer.js.
func siteEntries(root string) ([]api.EntryPoint, error) {
	mains, err := filepath.Glob(filepath.Join(root, "islands", "*", "main.ts"))
	if err != nil {
		return nil, err
	}
	var entries []api.EntryPoint
	for _, m := range mains {
		name := filepath.Base(filepath.Dir(m))
		entries = append(entries, api.EntryPoint{InputPath: m, OutputPath: name})
	}
	css := filepath.Join(root, "css", "app.css")
	if _, err := os.Stat(css); err == nil {
		entries = append(entries, api.EntryPoint{InputPath: css, OutputPath: "app"})
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no islands/*/main.ts and no css/app.css in %s", root)
	}
	return entries, nil
}

// bundleTests resolves packages as for the browser, so that the tests run what ships;
// only Node's own modules are left to Node.
func bundleTests(root, out string) error {
	files, err := testFiles(filepath.Join(root, "islands"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, os.RemoveAll(out))
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   files,
		Outbase:       filepath.Join(root, "islands"),
		Outdir:        out,
		OutExtension:  map[string]string{".js": ".mjs"},
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		External:      []string{"node:*"},
		Target:        api.ES2022,
		Sourcemap:     api.SourceMapInline,
		Loader:        map[string]api.Loader{".css": api.LoaderEmpty},
		LogLevel:      api.LogLevelWarning,
		Write:         true,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors in the unit tests (above)", len(result.Errors))
	}
	return nil
}

func testFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".test.ts") {
			files = append(files, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}
