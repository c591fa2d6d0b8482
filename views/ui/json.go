package ui

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSONText is a value as indented JSON for people: <, > and & stay as they are, templates escape them.
func JSONText(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}
