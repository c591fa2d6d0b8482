package expr

import (
	"maps"
	"slices"
)

// typeWord is the JSON word for the type of a value.
func typeWord(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, float64:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "unknown"
}

// article is the type of a value in a sentence.
func article(v any) string {
	switch word := typeWord(v); word {
	case "null":
		return word
	case "object", "unknown":
		return "an " + word
	default:
		return "a " + word
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// Nearest is the name that word was most likely meant to be, or "".
func Nearest(word string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		d := distance([]rune(word), []rune(name))
		shorter := min(len(word), len(name))
		if allowed := max(1, shorter/3); d > allowed || name == word || shorter < 2 {
			continue
		}
		if best == "" || d < least || d == least && name < best {
			best, least = name, d
		}
	}
	return best
}

// distance counts the inserted, removed, changed and swapped letters between two words.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
