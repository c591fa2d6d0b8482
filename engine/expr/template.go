package expr

import (
	"strings"
	"unicode/utf8"
)

const (
	opening = "${{"
	closing = "}}"
	escaped = "$${{"
)

// Span is a stretch of a template. Offset is where Text begins in the template, in code points.
type Span struct {
	Text       string
	Offset     int
	Expression bool // Text is what stands between ${{ and }}
}

// Split cuts a template into text and expressions, resolving $${{. The error is an *Error.
func Split(template string) ([]Span, error) {
	var spans []Span
	text, textAt := strings.Builder{}, 0
	rest, at := template, 0
	flush := func() {
		if text.Len() > 0 {
			spans = append(spans, Span{Text: text.String(), Offset: textAt})
			text.Reset()
		}
	}
	for rest != "" {
		i := strings.Index(rest, opening)
		if i < 0 {
			text.WriteString(rest)
			break
		}
		if strings.HasSuffix(rest[:i], "$") {
			text.WriteString(rest[:i-1] + opening)
			at += utf8.RuneCountInString(rest[:i]) + len(opening)
			rest = rest[i+len(opening):]
			continue
		}
		text.WriteString(rest[:i])
		flush()
		at += utf8.RuneCountInString(rest[:i])
		inner := rest[i+len(opening):]
		end := closeOf(inner)
		if end < 0 {
			e := &Error{Code: CodeWrapped, Message: "${{ is never closed", Hint: "close it with }}, or write $${{ for the text itself"}
			return nil, e.locate(template, at, at+len(opening))
		}
		spans = append(spans, Span{Text: inner[:end], Offset: at + len(opening), Expression: true})
		at += len(opening) + utf8.RuneCountInString(inner[:end]) + len(closing)
		rest, textAt = inner[end+len(closing):], at
	}
	flush()
	return spans, nil
}

// closeOf finds the }} that ends an expression: not inside quotes, and not the end of an object literal.
func closeOf(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			end := quoteEnd(text, i)
			if end < 0 {
				return strings.Index(text, closing)
			}
			i = end
		case '{':
			depth++
		case '}':
			if depth == 0 {
				if strings.HasPrefix(text[i:], closing) {
					return i
				}
				return -1
			}
			depth--
		}
	}
	return -1
}

func quoteEnd(text string, from int) int {
	quote := text[from]
	for i := from + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == quote:
			return i
		}
	}
	return -1
}

// CompileTemplate compiles a text with zero or more expressions in it. A template that is exactly one
// expression keeps the type of its result. The error is an *Error with positions within the template.
func CompileTemplate(template string) (*Value, error) {
	if !strings.Contains(template, opening) {
		return Constant(template), nil
	}
	spans, err := Split(template)
	if err != nil {
		return nil, err
	}
	parts := make([]part, len(spans))
	dynamic := false
	for i, span := range spans {
		if !span.Expression {
			parts[i].text = span.Text
			continue
		}
		dynamic = true
		if parts[i].program, err = Compile(span.Text); err != nil {
			return nil, err.(*Error).shift(template, span.Offset)
		}
	}
	switch {
	case !dynamic && len(parts) == 1:
		return Constant(parts[0].text), nil
	case len(parts) == 1:
		return Expression(parts[0].program), nil
	}
	return (&Value{dynamic: true, parts: parts}).withReferences(), nil
}

// shift moves an error of an expression to its place in the text around it.
func (e *Error) shift(around string, offset int) *Error {
	return e.locate(around, e.from+offset, e.to+offset)
}

// Unwrap gives the bare expression of a text that is written as ${{ expression }}, and whether it was
// wrapped. Text that is wrapped only in part is an *Error.
func Unwrap(text string) (bare string, offset int, err error) {
	if !strings.Contains(text, opening) || strings.Contains(text, escaped) {
		return text, 0, nil
	}
	spans, err := Split(strings.TrimRight(text, " \n"))
	if err != nil {
		return "", 0, err
	}
	if len(spans) > 1 && strings.TrimSpace(spans[0].Text) == "" && !spans[0].Expression {
		spans = spans[1:]
	}
	if len(spans) == 1 && spans[0].Expression {
		return spans[0].Text, spans[0].Offset, nil
	}
	e := &Error{Code: CodeWrapped, Message: "only a part of the expression stands in ${{ }}",
		Hint: "this field is one bare expression: write it without ${{ and }}"}
	for _, span := range spans {
		if span.Expression {
			return "", 0, e.locate(text, span.Offset-len(opening), span.Offset)
		}
	}
	return text, 0, nil
}
