package expr

import "fmt"

// Codes of the findings of this package, as a definition's report shows them.
const (
	CodeSyntax   = "E301" // the text is not an expression
	CodeName     = "E302" // a name that does not exist here
	CodeMember   = "E303" // a key that does not exist
	CodeActivity = "E304" // an activity that does not exist
	CodeType     = "E305" // an operator or function on the wrong type
	CodeLimit    = "E306" // too long, too deep, too much work
	CodeFunction = "E309" // a function that does not exist, or wrong arguments
	CodeImpure   = "E310" // clock, randomness, environment
	CodeWrapped  = "E311" // ${{ }} around a part of a bare expression, or never closed
	CodeEmbedded = "E312" // a list, object or null inside a text
	CodeDoubt    = "W701" // a key of what may be null, without ?. or ??
)

// Error says why an expression cannot be compiled or evaluated, and where.
type Error struct {
	Code    string // E3xx
	Message string
	Hint    string // what to do, or ""
	Source  string // the expression
	Path    string // JSON pointer within the value that holds the expression, or ""

	Line, Column       int // start within Source, from 1, in code points
	EndLine, EndColumn int // one past the end

	// The same start within the definition, when the program knows its origin; else 0.
	DefinitionLine, DefinitionColumn int

	from, to int // code points from the start of Source
}

func (e *Error) Error() string {
	text := e.Message
	if e.Source != "" {
		text += fmt.Sprintf(" (in %q, %d:%d)", clip(e.Source, 120), e.Line, e.Column)
	}
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// locate fills in the position of [from, to) in source.
func (e *Error) locate(source string, from, to int) *Error {
	e.Source, e.from, e.to = source, from, max(to, from+1)
	e.Line, e.Column = position(source, e.from)
	e.EndLine, e.EndColumn = position(source, e.to)
	return e
}

// Offsets are the start and end within Source in code points.
func (e *Error) Offsets() (from, to int) { return e.from, e.to }

// position turns an offset in code points into a line and a column, both from 1.
func position(source string, offset int) (line, column int) {
	line, column = 1, 1
	for _, r := range source {
		if offset == 0 {
			break
		}
		offset--
		if r == '\n' {
			line, column = line+1, 1
			continue
		}
		column++
	}
	return line, column + max(offset, 0)
}

func clip(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
