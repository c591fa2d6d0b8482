package imports

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// asExpression writes a plain value as an expression of ours.
func asExpression(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case nil:
		return "null"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "null"
	}
	return string(encoded)
}

// short is a value as text for a message.
func short(value any) string {
	text, isText := value.(string)
	if !isText {
		encoded, _ := json.Marshal(value) // plain values always have a JSON form
		text = string(encoded)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 160 {
		return strings.ToValidUTF8(text[:160], "") + "…"
	}
	return text
}
