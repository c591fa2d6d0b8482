package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Validate checks a text and reports everything that is wrong with it, sorted by position, at most 50
// errors and 50 warnings.
func Validate(text []byte) Report { return Read(text).Report }

// Reading is what a text says by itself.
type Reading struct {
	Report
	Text     []byte
	Workflow *Workflow // nil when it does not load
	Code     []Code    // what other languages have to judge; none where there is another error
	Drawable bool      // a graph can be drawn from it, as Drawing does
}

// Read checks a text as Validate does and keeps what it found on the way.
func Read(text []byte) Reading {
	ps := &problems{}
	documents := parse(text, ps)
	r := Reading{Text: text, Drawable: !ps.hasErrors() && drawable(documents)}
	w, name, b := analyseDocuments(documents, ps)
	if !ps.hasErrors() {
		r.Workflow, r.Code = w, b.code()
		b.sensitiveInPlain(w)
		b.queryParameters()
	}
	r.Report = ps.report(name)
	return r
}

// Add puts further problems into the report, which decides anew whether the text is valid.
func (r *Report) Add(found []Problem) {
	ps := &problems{found: slices.Concat(r.Errors, r.Warnings, found)}
	*r = ps.report(r.Name)
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
	return analyseDocuments(parse(text, ps), ps)
}

func analyseDocuments(documents []*document, ps *problems) (w *Workflow, name string, b *builder) {
	doc, others := sortDocuments(documents, ps)
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
