package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ApplyEdits puts edits into a text. Edits that overlap are refused, and so is one outside the text.
func ApplyEdits(text []byte, edits []Edit) ([]byte, error) {
	s := newSource(string(text))
	offsets := lineOffsets(string(text))
	type splice struct {
		from, to int
		text     string
	}
	var splices []splice
	for _, e := range edits {
		from, ok := offsetOf(s, offsets, e.Line, e.Column)
		to, okEnd := offsetOf(s, offsets, e.EndLine, e.EndColumn)
		if !ok || !okEnd || to < from {
			return nil, fmt.Errorf("the edit at %d:%d is not within the text", e.Line, e.Column)
		}
		splices = append(splices, splice{from, to, e.Text})
	}
	slices.SortStableFunc(splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	at := 0
	for _, each := range splices {
		if each.from < at {
			return nil, fmt.Errorf("two edits change the same place; apply them one after the other")
		}
		out.Write(text[at:each.from])
		out.WriteString(each.text)
		at = each.to
	}
	out.Write(text[at:])
	return []byte(out.String()), nil
}

func lineOffsets(text string) []int {
	offsets := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			offsets = append(offsets, i+1)
		}
	}
	return offsets
}

// offsetOf is the byte at a line and column, which count from 1 and in code points.
func offsetOf(s *source, offsets []int, line, column int) (int, bool) {
	if line < 1 || line > len(s.lines) || column < 1 || column > len(s.lines[line-1])+1 {
		return 0, false
	}
	return offsets[line-1] + len(string(s.lines[line-1][:column-1])), true
}
