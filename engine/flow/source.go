package flow

import (
	"strings"
	"unicode/utf8"
)

// source is a text cut into lines, for positions in code points.
type source struct {
	lines [][]rune
}

func newSource(text string) *source {
	parts := strings.Split(text, "\n")
	s := &source{lines: make([][]rune, len(parts))}
	for i, line := range parts {
		s.lines[i] = []rune(strings.TrimSuffix(line, "\r"))
	}
	return s
}

// rune gives the code point at a place, '\n' at the end of a line, 0 past the end of the text.
func (s *source) rune(line, column int) rune {
	if line > len(s.lines) {
		return 0
	}
	if column > len(s.lines[line-1]) {
		return '\n'
	}
	return s.lines[line-1][column-1]
}

// place is a position that can step forward.
type place struct{ line, column int }

func (s *source) next(p place) place {
	if p.column > len(s.lines[p.line-1]) {
		return place{p.line + 1, 1}
	}
	return place{p.line, p.column + 1}
}

func (s *source) past(p place) bool { return p.line > len(s.lines) }

// line gives the text of a line, "" when there is none.
func (s *source) line(number int) string {
	if number < 1 || number > len(s.lines) {
		return ""
	}
	return string(s.lines[number-1])
}

// trace gives the place of every code point of a scalar's value, and one past its end. It matches the value
// with what stands in the text: quotes, escapes, folding and indentation are stepped over.
func (s *source) trace(n *node) []place {
	at := place{n.pos.Line, n.pos.Column}
	quote := rune(0)
	switch r := s.rune(at.line, at.column); {
	case !n.quoted:
	case r == '"' || r == '\'':
		quote, at = r, s.next(at)
	case r == '|':
		return s.traceLiteral(n)
	case r == '>':
		at = place{at.line + 1, 1}
	}
	places := make([]place, 0, utf8.RuneCountInString(n.raw)+1)
	for _, want := range n.raw {
		at = s.seek(at, want, quote)
		places = append(places, at)
		if !s.past(at) && (!isSpace(want) || s.escape(at, quote)) {
			at = s.step(at, quote)
		} else if !s.past(at) && s.rune(at.line, at.column) == want {
			at = s.next(at)
		}
	}
	return append(places, at)
}

// traceLiteral: a literal block keeps its lines, less the indentation of the first one with text.
func (s *source) traceLiteral(n *node) []place {
	indent := 0
	for line := n.pos.Line; line < len(s.lines); line++ {
		if text := s.lines[line]; leading(text) < len(text) {
			indent = leading(text)
			break
		}
	}
	at := place{n.pos.Line + 1, indent + 1}
	var places []place
	for _, r := range n.raw {
		places = append(places, at)
		at.column++
		if r == '\n' {
			at = place{at.line + 1, indent + 1}
		}
	}
	return append(places, at)
}

// seek finds where the next value rune stands: blanks are stepped over, a blank itself stands right here.
func (s *source) seek(at place, want, quote rune) place {
	if isSpace(want) {
		return at
	}
	for !s.past(at) {
		r := s.rune(at.line, at.column)
		if quote == '"' && r == '\\' && s.rune(at.line, at.column+1) == '\n' {
			at = place{at.line + 1, 1}
			continue
		}
		if r == want || !isSpace(r) {
			return at
		}
		at = s.next(at)
	}
	return at
}

// escape reports whether a value rune is written as an escape here, which the end of a line is not.
func (s *source) escape(at place, quote rune) bool {
	return quote == '"' && s.rune(at.line, at.column) == '\\' && s.rune(at.line, at.column+1) != '\n'
}

// step moves past one value rune, which may be an escape of several.
func (s *source) step(at place, quote rune) place {
	r := s.rune(at.line, at.column)
	switch {
	case quote == '\'' && r == '\'':
		return s.next(s.next(at))
	case quote == '"' && r == '\\':
		length := 2
		switch s.rune(at.line, at.column+1) {
		case 'x':
			length = 4
		case 'u':
			length = 6
		case 'U':
			length = 10
		}
		return place{at.line, at.column + length}
	}
	return s.next(at)
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// end finds where a scalar ends, one past its last character.
func (s *source) end(n *node) place {
	start := place{n.pos.Line, n.pos.Column}
	if n.quoted {
		first := s.rune(start.line, start.column)
		if first == '|' || first == '>' {
			return place{start.line, len(s.lines[start.line-1]) + 1}
		}
		places := s.trace(n)
		end := places[len(places)-1]
		for !s.past(end) && s.rune(end.line, end.column) != first {
			end = s.next(end)
		}
		if s.past(end) {
			return start
		}
		return s.next(end)
	}
	if n.raw == "" {
		return start
	}
	places := s.trace(n)
	return places[len(places)-1]
}
