package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weftline/engine/flow"
)

// folder finds the workflows of one folder by name, for children: <name>.yaml, or any file that holds it.
type folder struct {
	path  string
	known map[string]*flow.Workflow
	read  bool
}

func folderOf(file string) *folder {
	return &folder{path: filepath.Dir(file), known: map[string]*flow.Workflow{}}
}

func (f *folder) workflow(name string) *flow.Workflow {
	if found := f.known[name]; found != nil || f.read {
		return found
	}
	for _, ending := range endings {
		f.load(filepath.Join(f.path, name+ending))
	}
	if f.known[name] == nil {
		f.read = true
		entries, _ := os.ReadDir(f.path) // a folder that cannot be read has no children
		for _, entry := range entries {
			if isDefinition(entry.Name()) {
				f.load(filepath.Join(f.path, entry.Name()))
			}
		}
	}
	return f.known[name]
}

func (f *folder) load(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if workflow, err := flow.Load(text); err == nil && f.known[workflow.Name] == nil {
		f.known[workflow.Name] = workflow
	}
}

var endings = []string{".yaml", ".yml", ".json"}

func isDefinition(name string) bool { return slices.Contains(endings, filepath.Ext(name)) }

// loadWorkflow reads a valid definition; what is wrong with it goes to w, and the error is exit 1.
func loadWorkflow(t Terminal, w io.Writer, file string) (*flow.Workflow, error) {
	text, err := readFile(t, file)
	if err != nil {
		return nil, err
	}
	if report := flow.Validate(text); !report.Valid {
		report.Warnings = nil
		writeLines(w, file, report)
		return nil, exit(1)
	}
	workflow, err := flow.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return workflow, nil
}
