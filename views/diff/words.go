package diff

import (
	"strconv"

	"github.com/a-h/templ"
)

func sign(mark string) string {
	if mark == "removed" {
		return "−"
	}
	return "+"
}

func kindShape(kind string) string {
	switch kind {
	case "added":
		return "plus"
	case "removed":
		return "minus"
	case "moved":
		return "dash"
	default:
		return "delta"
	}
}

func kindWord(kind string) string {
	switch kind {
	case "added":
		return "Added"
	case "removed":
		return "Removed"
	case "renamed":
		return "Renamed"
	case "moved":
		return "Moved"
	default:
		return "Changed"
	}
}

// anchor lets a problem lead to its line on the newer side.
func anchor(row Row) templ.Attributes {
	if row.Right.Number == 0 {
		return nil
	}
	return templ.Attributes{"id": "line-" + strconv.Itoa(row.Right.Number)}
}
