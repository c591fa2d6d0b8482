// Package static owns the browser's built files: scripts, styles and fonts, embedded
// in the binary. It knows their names, never what a page shows or how HTTP serves them.
//
// The files are built by `make bundle` from islands/ and css/ and committed in dist/.
package static

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Prefix is the URL path that the files are served under.
const Prefix = "/static/"

// FS holds the built files at its root. Names carry a hash of their content, so
// whoever serves them may let browsers keep them for ever.
var FS = mustSub(dist, "dist")

// built maps a logical name ("app.js") to its file ("app-AB12CD34.js").
var built = mustManifest(FS)

// URL answers the address of a built file by its logical name: "app.js" →
// "/static/app-AB12CD34.js". An unknown name keeps its own address, which answers
// 404: the page still shows, and the browser tests fail on the missing file.
func URL(name string) string {
	if file, ok := built[name]; ok {
		return Prefix + file
	}
	return Prefix + name
}

func mustSub(fsys fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(fmt.Sprintf("static: %v", err)) // only a malformed dir constant gets here
	}
	return sub
}

// mustManifest panics on a broken manifest, which is a broken build, not a run-time event.
func mustManifest(fsys fs.FS) map[string]string {
	raw, err := fs.ReadFile(fsys, "manifest.json")
	if err != nil {
		panic(fmt.Sprintf("static: no manifest; run `make bundle`: %v", err))
	}
	names := map[string]string{}
	if err := json.Unmarshal(raw, &names); err != nil {
		panic(fmt.Sprintf("static: manifest.json is damaged; run `make bundle`: %v", err))
	}
	return names
}
