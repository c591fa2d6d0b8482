package flow

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Code is a text of another language that stands in an activity. Whether it can be run at all is for that
// language to say, and Mistake puts what it says into its place in the definition.
type Code struct {
	Language, Text string

	at     *node
	source *source
}

// Mistake is the problem at a line and a column of the code, both counted from 1, the column in bytes. A line
// past the last one means the end of the code.
func (c Code) Mistake(line, column int, message string) Problem {
	p := Problem{Path: c.at.path, Pos: c.at.pos, Code: "E316", Severity: "error",
		Message: "this " + c.Language + " cannot be run: " + message, Hint: "correct it: the activity would fail each time"}
	if c.at.aliased {
		return p
	}
	places := c.source.trace(c.at)
	start := places[min(codePoint(c.Text, line, column), len(places)-1)]
	p.Pos = Pos{start.line, start.column, start.line, start.column + 1}
	return p
}

// codePoint is how many code points stand before a place; the end of the text's last line with content where the
// place is past it.
func codePoint(text string, line, column int) int {
	rest, before := text, 0
	for ; line > 1; line-- {
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			return utf8.RuneCountInString(strings.TrimRight(text, " \t\r\n"))
		}
		before += end + 1
		rest = rest[end+1:]
	}
	return utf8.RuneCountInString(text[:before+min(max(column-1, 0), len(rest))])
}

// code lists the scripts that are written out, in the order of the text.
func (b *builder) code() []Code {
	var all []Code
	add := func(inputs, otherwise *node) {
		source, language := inputs.get("source"), inputs.get("language")
		if language == nil {
			language = otherwise.get("language")
		}
		if source.text() != "" && language.text() != "" {
			all = append(all, Code{Language: language.raw, Text: source.raw, at: source, source: b.ps.source})
		}
	}
	standard := b.defaults.get(TypeScript)
	add(standard, nil)
	for a, n := range b.where {
		if a.Type == TypeScript {
			add(n.get("inputs"), standard)
		}
	}
	slices.SortFunc(all, func(a, b Code) int {
		return cmp.Or(cmp.Compare(a.at.pos.Line, b.at.pos.Line), cmp.Compare(a.at.pos.Column, b.at.pos.Column))
	})
	return all
}
