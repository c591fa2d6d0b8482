package flow

import (
	"fmt"
	"strings"
)

// Validate checks a text and reports everything that is wrong with it, sorted by position, at most 50
// errors and 50 warnings.
func Validate(text []byte) Report {
	ps := &problems{}
	w, name, b := analyse(text, ps)
	if !ps.hasErrors() {
		b.sensitiveInPlain(w)
	}
	return ps.report(name)
}

// LoadError is the refusal of a definition that does not validate.
type LoadError struct{ Report Report }

func (e *LoadError) Error() string {
	var out strings.Builder
	for i, p := range e.Report.Errors {
		if i > 0 {
			out.WriteString("; ")
		}
		fmt.Fprintf(&out, "%d:%d: %s %s", p.Line, p.Column, p.Code, p.Message)
		if i == 2 && len(e.Report.Errors) > 3 {
			fmt.Fprintf(&out, "; and %d more", len(e.Report.Errors)-3)
			break
		}
	}
	return out.String()
}

// Load compiles a valid definition. A definition that does not validate is a *LoadError with the report.
func Load(text []byte) (*Workflow, error) {
	ps := &problems{}
	w, name, _ := analyse(text, ps)
	if ps.hasErrors() {
		return nil, &LoadError{ps.report(name)}
	}
	return w, nil
}

// analyse parses, checks and builds. The workflow is complete only when no error was found.
func analyse(text []byte, ps *problems) (w *Workflow, name string, b *builder) {
	doc, others := documentsOf(text, ps)
	if doc == nil {
		return nil, "", nil
	}
	root := doc.root
	c := newChecker(ps)
	c.specDefaults(root.at("spec", "defaults"))
	c.check(root, group(workflowObject))
	c.besides(others)
	name = root.at("metadata", "name").text()
	b = &builder{checker: c, where: map[*Activity]*node{}, listOf: map[*Graph]*listed{},
		elsewhere: map[string]string{}, first: map[string]*node{}}
	w = b.workflow(root)
	b.semantics(w, root)
	b.checkTests(others)
	if !ps.hasErrors() {
		w.ContentHash = c.contentHash(root)
	}
	return w, name, b
}

// Plain is the Workflow of a text as a plain JSON value, as it is written.
func Plain(text []byte) (any, error) {
	ps := &problems{}
	doc, _ := documentsOf(text, ps)
	if doc == nil {
		return nil, &LoadError{ps.report("")}
	}
	return doc.root.plain(), nil
}
