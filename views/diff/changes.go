package diff

import (
	"fmt"
	"strings"

	"weftline/engine/flow"
	"weftline/views/ui"
)

// Group is what changed in one place: an activity with its edges, or a part of the workflow.
type Group struct {
	Kind   string // added, removed, changed, renamed, moved
	Title  string
	What   string // the kind of thing, as a word
	ID     string
	Fields []FieldRow
	Note   string
}

// FieldRow is one field, before and after; "" is absent.
type FieldRow struct {
	Path, From, To string
	Code           bool // the values are structures, shown as JSON on lines of their own
}

// Groups makes the list by activity of a comparison, in the order that the comparison gave.
func Groups(changes []flow.Change) []Group {
	groups := make([]Group, 0, len(changes))
	for _, change := range changes {
		group := Group{Kind: change.Kind, What: change.What, ID: change.ID, Title: title(change), Note: note(change)}
		if change.What == "test" {
			group.ID = "" // its name may be that of an activity
		}
		for _, field := range change.Fields {
			group.Fields = append(group.Fields, fieldRow(field))
		}
		groups = append(groups, group)
	}
	return groups
}

func title(change flow.Change) string {
	if change.ID == "" {
		return strings.ToUpper(change.What[:1]) + change.What[1:]
	}
	return change.ID
}

// note says what a kind of change means for those who run the workflow.
func note(change flow.Change) string {
	switch {
	case change.Kind == "moved":
		return "Only its place in the file changed; it behaves as before."
	case change.Kind == "removed" && change.What == "activity":
		return "Running executions keep it: each finishes on the version it began with."
	case change.What == "test" && change.Kind == "added":
		return "It is published with the workflow and changes nothing that executions do."
	}
	return ""
}

func fieldRow(field flow.FieldChange) FieldRow {
	from, codeFrom := value(field.From)
	to, codeTo := value(field.To)
	return FieldRow{Path: field.Path, From: from, To: to, Code: codeFrom || codeTo}
}

func value(v any) (text string, code bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case string:
		return v, strings.Contains(v, "\n")
	case map[string]any, []any:
		text, err := ui.JSONText(v)
		if err != nil {
			return fmt.Sprint(v), true
		}
		return text, len(text) > 60
	default:
		return fmt.Sprint(v), false
	}
}

// Counts sums up a comparison in words: "2 added, 1 changed".
func Counts(groups []Group) string {
	n, tests := map[string]int{}, 0
	for _, group := range groups {
		n[group.Kind]++
		if group.What == "test" {
			tests++
		}
	}
	var parts []string
	for _, kind := range []string{"added", "removed", "changed", "renamed", "moved"} {
		if n[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], kind))
		}
	}
	if len(parts) == 0 {
		return "No change of behaviour"
	}
	if tests == len(groups) {
		return "Tests only: " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}
