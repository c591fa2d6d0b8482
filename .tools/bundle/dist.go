package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// metafile is the part of esbuild's report that the manifest and the licence file need.
type metafile struct {
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		EntryPoint string `json:"entryPoint"`
		CSSBundle  string `json:"cssBundle"`
	} `json:"outputs"`
}

func writeDist(root, dist string, entries []api.EntryPoint, result api.BuildResult) error {
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return fmt.Errorf("read esbuild's report: %w", err)
	}
	licences, err := licenceTexts(root, meta)
	if err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(logicalNames(root, entries, meta), "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"manifest.json": append(manifest, '\n'),
		"LICENSES.txt":  []byte(licences),
	}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	return replaceFolder(dist, files)
}

// logicalNames maps what pages ask for ("designer.js") to what was built
// ("designer-AB12CD34.js"). Chunks and fonts are named by the files that use them; esbuild reports a chunk that
// is loaded later as an entry point too.
func logicalNames(root string, entries []api.EntryPoint, meta metafile) map[string]string {
	asked := map[string]bool{}
	for _, entry := range entries {
		asked[entry.InputPath] = true
	}
	names := map[string]string{}
	for out, info := range meta.Outputs {
		if !asked[filepath.Join(root, info.EntryPoint)] {
			continue
		}
		names[logical(out)] = filepath.Base(out)
		if info.CSSBundle != "" {
			names[logical(info.CSSBundle)] = filepath.Base(info.CSSBundle)
		}
	}
	return names
}

// logical drops the hash: dist/app-AB12CD34.css is app.css.
func logical(out string) string {
	ext := filepath.Ext(out)
	stem := strings.TrimSuffix(filepath.Base(out), ext)
	return stem[:strings.LastIndexByte(stem, '-')] + ext
}

// licenceTexts collects the licence of every npm package that a bundle holds,
// since most of them ask that it goes wherever their code goes.
func licenceTexts(root string, meta metafile) (string, error) {
	packages := map[string]bool{}
	for input := range meta.Inputs {
		if p := npmPackage(input); p != "" {
			packages[p] = true
		}
	}
	var text strings.Builder
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		found, err := filepath.Glob(filepath.Join(root, "node_modules", p, "LICEN[SC]E*"))
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("npm package %s has no licence file: leave it out, or add its licence", p)
		}
		licence, err := os.ReadFile(found[0])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "== %s ==\n\n%s\n\n", p, strings.TrimSpace(string(licence)))
	}
	return text.String(), nil
}

// npmPackage says which package an input path lies in, "" for the product's own.
func npmPackage(input string) string {
	_, rest, ok := strings.Cut(filepath.ToSlash(input), "node_modules/")
	if !ok {
		return ""
	}
	parts := strings.SplitN(rest, "/", 3)
	if strings.HasPrefix(rest, "@") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// replaceFolder makes dir hold exactly these files. Unchanged ones are not touched,
// so that a running `go run` does not embed half a build.
func replaceFolder(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
			continue
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	present, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range present {
		if _, keep := files[e.Name()]; !keep {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
