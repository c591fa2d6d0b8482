package flow

import (
	"cmp"
	"fmt"
	"slices"

	"weftline/engine/expr"
)

// maxProblems bounds a report; the first ones by position are kept.
const maxProblems = 50

// problems collects the findings about one text.
type problems struct {
	source *source
	found  []Problem
	seen   map[string]bool
	muted  bool // findings are not wanted
}

// add reports a finding on a node. Only one finding with a code is kept for a place.
func (ps *problems) add(code string, n *node, hint, format string, args ...any) *Problem {
	if ps.muted {
		return &Problem{}
	}
	p := Problem{Code: code, Severity: severityOf(code), Message: fmt.Sprintf(format, args...), Hint: hint}
	if n != nil {
		p.Path, p.Pos = n.path, n.pos
	} else {
		p.Pos = Pos{1, 1, 1, 2}
	}
	return ps.put(p)
}

func (ps *problems) put(p Problem) *Problem {
	key := fmt.Sprint(p.Code, p.Line, ":", p.Column, p.Message)
	if ps.seen == nil {
		ps.seen = map[string]bool{}
	}
	if ps.seen[key] {
		return &Problem{}
	}
	ps.seen[key] = true
	ps.found = append(ps.found, p)
	return &ps.found[len(ps.found)-1]
}

// replace adds a click that puts text in the place of the node.
func (p *Problem) replace(n *node, text string) {
	p.Edits = append(p.Edits, Edit{Pos: n.pos, Text: text})
}

// suggest adds "did you mean" to the hint, and the edit that does it.
func (p *Problem) suggest(n *node, known []string) {
	near := expr.Nearest(n.raw, known)
	if near == "" {
		if p.Hint == "" && len(known) > 0 && len(known) <= 20 {
			p.Hint = "use one of: " + list(known)
		}
		return
	}
	p.Hint = fmt.Sprintf("did you mean %q?", near)
	if !n.quoted && !n.aliased {
		p.replace(n, near)
	}
}

// expression reports an error of an expression that stands in a text node, offset code points into it.
func (ps *problems) expression(n *node, offset int, e *expr.Error) *Problem {
	if ps.muted {
		return &Problem{}
	}
	return ps.inside(n, offset, e, e.Code, e.Message, e.Hint)
}

// inside reports a finding on a stretch of an expression.
func (ps *problems) inside(n *node, offset int, e *expr.Error, code, message, hint string) *Problem {
	p := Problem{Path: n.path, Code: code, Severity: severityOf(code), Message: message, Hint: hint}
	from, to := e.Offsets()
	places := ps.source.trace(n)
	start := places[min(from+offset, len(places)-1)]
	end := places[min(max(to+offset, from+offset+1), len(places)-1)]
	p.Pos = Pos{start.line, start.column, end.line, end.column}
	if end == start {
		p.EndColumn++
	}
	return ps.put(p)
}

// list joins words for a message.
func list(words []string) string {
	out := ""
	for i, word := range words {
		if i > 0 {
			out += ", "
		}
		out += word
	}
	return out
}

// sorted are all findings by position, errors before warnings in one place.
func (ps *problems) sorted() []Problem {
	slices.SortStableFunc(ps.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return ps.found
}

func (ps *problems) hasErrors() bool {
	return slices.ContainsFunc(ps.found, func(p Problem) bool { return p.Severity == "error" })
}

// report splits the findings.
func (ps *problems) report(name string) Report {
	r := Report{Name: name, Errors: []Problem{}, Warnings: []Problem{}}
	for _, p := range ps.sorted() {
		switch {
		case p.Severity == "error" && len(r.Errors) < maxProblems:
			r.Errors = append(r.Errors, p)
		case p.Severity != "error" && len(r.Warnings) < maxProblems:
			r.Warnings = append(r.Warnings, p)
		}
	}
	r.Valid = len(r.Errors) == 0
	return r
}

// severityOf: E codes refuse, E6 and W codes advise.
func severityOf(code string) string {
	if code[0] == 'W' || code[:2] == "E6" {
		return "warning"
	}
	return "error"
}
