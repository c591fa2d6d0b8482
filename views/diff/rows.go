// Package diff owns how a change of a definition is shown: the text side by side with the changed words
// marked, and the list by activity and field. It must not know where the texts come from.
package diff

import (
	"strings"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Kinds of rows.
const (
	Same    = "same"
	Changed = "changed" // both sides have a line, with marked words
	Added   = "added"
	Removed = "removed"
	Gap     = "gap" // unchanged lines left out
)

// Row is one line of the view: the older side left, the newer right.
type Row struct {
	Kind        string
	Left, Right Line
	Hidden      int // of a gap: how many lines are left out
}

// Line is one side of a row; Number 0 means that this side has no line here.
type Line struct {
	Number int
	Parts  []Part
}

// Part is a stretch of a line; Marked parts differ from the other side.
type Part struct {
	Text   string
	Marked bool
}

// context is how many unchanged lines stay around a change.
const context = 3

// Rows compares two texts line by line, with unchanged stretches folded into gaps.
func Rows(from, to string) []Row {
	return fold(align(from, to))
}

// align pairs the lines of both texts. Runs of removed and added lines that stand together are changes.
func align(from, to string) []Row {
	var rows []Row
	var removed, added []string
	left, right := 0, 0
	flush := func() {
		for i := range max(len(removed), len(added)) {
			var row Row
			row, left, right = pair(at(removed, i), at(added, i), left, right)
			rows = append(rows, row)
		}
		removed, added = nil, nil
	}
	for _, chunk := range lineDiff(from, to) {
		lines := split(chunk.Text)
		switch chunk.Type {
		case diffmatchpatch.DiffDelete:
			removed = append(removed, lines...)
		case diffmatchpatch.DiffInsert:
			added = append(added, lines...)
		default:
			flush()
			for _, line := range lines {
				left, right = left+1, right+1
				rows = append(rows, Row{Kind: Same, Left: plain(left, line), Right: plain(right, line)})
			}
		}
	}
	flush()
	return rows
}

// lineDiff has no time limit: the answer must not depend on how busy the machine is.
func lineDiff(from, to string) []diffmatchpatch.Diff {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	a, b, lines := dmp.DiffLinesToRunes(from, to)
	return dmp.DiffCharsToLines(dmp.DiffMainRunes(a, b, false), lines)
}

func pair(old, new *string, left, right int) (Row, int, int) {
	switch {
	case old == nil:
		return Row{Kind: Added, Right: plain(right+1, *new)}, left, right + 1
	case new == nil:
		return Row{Kind: Removed, Left: plain(left+1, *old)}, left + 1, right
	default:
		was, is := words(*old, *new)
		return Row{Kind: Changed, Left: Line{left + 1, was}, Right: Line{right + 1, is}}, left + 1, right + 1
	}
}

// words marks what differs within a pair of lines, in whole words.
func words(old, new string) (was, is []Part) {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	a, b, tokens := encodeWords(old, new)
	for _, chunk := range dmp.DiffMainRunes(a, b, false) {
		var text strings.Builder
		for _, r := range chunk.Text {
			text.WriteString(tokens[r-firstToken])
		}
		marked := chunk.Type != diffmatchpatch.DiffEqual
		if chunk.Type != diffmatchpatch.DiffInsert {
			was = append(was, Part{text.String(), marked})
		}
		if chunk.Type != diffmatchpatch.DiffDelete {
			is = append(is, Part{text.String(), marked})
		}
	}
	return was, is
}

const firstToken = 0x10000 // a plane with room and without surrogates

// encodeWords stands one rune for each distinct word, so that the comparison works on whole words.
func encodeWords(old, new string) (a, b []rune, tokens []string) {
	known := map[string]rune{}
	encode := func(line string) []rune {
		var runes []rune
		for _, word := range splitWords(line) {
			r, ok := known[word]
			if !ok {
				r = rune(firstToken + len(tokens))
				known[word] = r
				tokens = append(tokens, word)
			}
			runes = append(runes, r)
		}
		return runes
	}
	return encode(old), encode(new), tokens
}

// splitWords cuts a line into words, runs of spaces, and single other characters.
func splitWords(line string) []string {
	var parts []string
	class := -1
	for _, r := range line {
		now := classOf(r)
		if now != class || now == other {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += string(r)
		class = now
	}
	return parts
}

const (
	word = iota
	space
	other
)

func classOf(r rune) int {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return word
	case unicode.IsSpace(r):
		return space
	default:
		return other
	}
}

// fold replaces long unchanged stretches by gaps.
func fold(rows []Row) []Row {
	keep := make([]bool, len(rows))
	for i, row := range rows {
		if row.Kind == Same {
			continue
		}
		for j := max(0, i-context); j <= min(len(rows)-1, i+context); j++ {
			keep[j] = true
		}
	}
	var folded []Row
	for i, row := range rows {
		if keep[i] {
			folded = append(folded, row)
		} else if n := len(folded); n > 0 && folded[n-1].Kind == Gap {
			folded[n-1].Hidden++
		} else {
			folded = append(folded, Row{Kind: Gap, Hidden: 1})
		}
	}
	return folded
}

func plain(number int, text string) Line { return Line{number, []Part{{Text: text}}} }

func at(lines []string, i int) *string {
	if i < len(lines) {
		return &lines[i]
	}
	return nil
}

// split cuts a text into its lines without their ends.
func split(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
