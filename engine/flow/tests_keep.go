package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// WithTest is a text with one more test case, as a document of its own at the end; what stood there stays to the
// last byte. The case is a plain value as it stands in a test.
func WithTest(text []byte, workflow string, testCase map[string]any) ([]byte, error) {
	document, err := json.Marshal(map[string]any{"apiVersion": "weftline/v1", "kind": "WorkflowTest",
		"metadata": map[string]any{"name": workflow}, "spec": map[string]any{"cases": []any{testCase}}})
	if err != nil {
		return nil, fmt.Errorf("write the case as JSON: %w", err)
	}
	added, err := Format(document) // JSON is YAML
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return append(append(out, "---\n"...), added...), nil
}
