// Package imports makes definitions out of the files of other systems. What has no counterpart is never
// dropped in silence: it becomes a worker activity that keeps its settings, or a note, or both. The result
// always validates. It must not know storage, HTTP or the command line.
package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weftline/engine/flow"
)

// Result is a definition in canonical form, with what did not map.
type Result struct {
	Text  []byte
	Notes []Note
}

// Note says what did not map, and what became of it. Path is the place in the other system's file.
type Note struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// readers make a definition of the document of one system.
var readers = map[string]func(*builder, map[string]any) error{
	"n8n":            n8n,
	"argo":           argo,
	"github-actions": githubActions,
	"step-functions": stepFunctions,
	"kestra":         kestra,
}

// Formats are the systems whose files can be read.
func Formats() []string { return slices.Sorted(maps.Keys(readers)) }

// Convert reads a file of another system. fallback names the workflow when the file does not.
func Convert(format, fallback string, text []byte) (Result, error) {
	read := readers[format]
	if read == nil {
		return Result{}, fmt.Errorf("there is no format %q; there are %s", format, strings.Join(Formats(), ", "))
	}
	value, report := flow.Value(text)
	if !report.Valid {
		p := report.Errors[0]
		return Result{}, fmt.Errorf("%d:%d: %s", p.Line, p.Column, p.Message)
	}
	document, ok := value.(map[string]any)
	if !ok {
		return Result{}, fmt.Errorf("the file does not hold a map, so it is no %s file", format)
	}
	b := &builder{name: fallback, properties: map[string]any{}, ids: map[string]bool{}}
	if err := read(b, document); err != nil {
		return Result{}, err
	}
	return b.result()
}

// result writes the definition. One that does not validate would be a fault of the reader.
func (b *builder) result() (Result, error) {
	if len(b.activities) == 0 {
		return Result{}, fmt.Errorf("the file has no step that could become an activity")
	}
	spec := map[string]any{"activities": b.activities}
	if len(b.properties) > 0 {
		spec["input"] = map[string]any{"type": "object", "properties": b.properties}
	}
	if len(b.schedule) > 0 {
		spec["schedule"] = b.schedule
	}
	if len(b.webhooks) > 0 {
		spec["webhooks"] = b.webhooks
	}
	metadata := map[string]any{"name": nameOf(b.name)}
	if b.description != "" {
		metadata["description"] = b.description
	}
	encoded, err := json.Marshal(map[string]any{"apiVersion": "weftline/v1", "kind": "Workflow", "metadata": metadata, "spec": spec})
	if err != nil {
		return Result{}, err
	}
	text, err := flow.Format(encoded)
	if err != nil {
		return Result{}, err
	}
	if report := flow.Validate(text); !report.Valid {
		p := report.Errors[0]
		return Result{Text: text, Notes: b.notes}, fmt.Errorf("the file was read, but the result is not valid: line %d: %s", p.Line, p.Message)
	}
	return Result{Text: text, Notes: b.notes}, nil
}

// nameOf makes a name of a workflow.
func nameOf(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		case !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	name := strings.Trim(out.String(), "-")
	name = strings.Trim(name[:min(len(name), 63)], "-")
	if name == "" {
		return "imported"
	}
	return name
}
