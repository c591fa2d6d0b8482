package flow

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Bounds of a text.
const (
	MaxText       = 1 << 20 // bytes
	maxAliasNodes = 20_000  // nodes that aliases may add
	maxNesting    = 100
)

// parse reads the documents of a text. What is not YAML is reported and gives no documents.
func parse(text []byte, ps *problems) []*document {
	if len(text) > MaxText {
		ps.source = newSource("")
		ps.add("E108", nil, "move data out of the definition", "the text has %d bytes, at most %d are allowed", len(text), MaxText)
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		ps.source = newSource(strings.ToValidUTF8(string(text), "\ufffd"))
		reportNotUTF8(text, ps)
		return nil
	}
	ps.source = newSource(string(text))
	if isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")); isJSON {
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" ")) // tabs are blanks in JSON
	} else if reportLines(ps) {
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		ps.add("E101", nil, "", "the text cannot be read: %v", err)
		return nil
	}
	var documents []*document
	for {
		root := yaml.Node{}
		if err := loader.Load(&root); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			reportYAML(err, ps)
			return documents
		}
		r := reader{ps: ps, aliasBudget: maxAliasNodes}
		if len(root.Content) == 0 {
			continue
		}
		if top := r.read(root.Content[0], 0, false); top != nil && !r.failed {
			top.setPaths("")
			documents = append(documents, &document{root: top, syntax: &root})
		}
	}
	return documents
}

func reportNotUTF8(text []byte, ps *problems) {
	line, column := 1, 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			break
		}
		text = text[size:]
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	ps.put(Problem{Pos: Pos{line, column, line, column + 1}, Code: "E109", Severity: "error",
		Message: "the text is not UTF-8", Hint: "save the file as UTF-8"})
}

// reportLines finds what YAML parsers report badly: tabs in the indentation, and directives.
func reportLines(ps *problems) bool {
	found := false
	for i, line := range ps.source.lines {
		text := string(line)
		blank := len(text) - len(strings.TrimLeft(text, " \t"))
		if at := strings.IndexByte(text[:blank], '\t'); at >= 0 && strings.TrimSpace(text) != "" && !insideBlock(ps.source, i) {
			column := len([]rune(text[:at])) + 1
			p := ps.put(Problem{Pos: Pos{i + 1, column, i + 1, column + 1}, Code: "E102", Severity: "error",
				Message: "a tab in the indentation: YAML is indented with spaces", Hint: "replace the tab by spaces"})
			p.Edits = []Edit{{Pos: p.Pos, Text: "  "}}
			found = true
		}
		if strings.HasPrefix(text, "%") && !insideBlock(ps.source, i) {
			ps.put(Problem{Pos: Pos{i + 1, 1, i + 1, len(line) + 1}, Code: "E105", Severity: "error",
				Message: "a YAML directive: the language needs none", Hint: "remove the line"})
			found = true
		}
	}
	return found
}

// insideBlock reports whether a line belongs to a block scalar (| or >) that a less indented line above
// opens with spaces only; there a tab is text.
func insideBlock(s *source, index int) bool {
	indent := leading(s.lines[index])
	for i := index - 1; i >= 0; i-- {
		line := strings.TrimRight(string(s.lines[i]), " ")
		if line == "" || leading(s.lines[i]) >= indent && indent > 0 {
			continue
		}
		if indent == 0 {
			return false
		}
		return strings.HasSuffix(line, "|") || strings.HasSuffix(line, ">") || strings.HasSuffix(line, "|-") ||
			strings.HasSuffix(line, ">-") || strings.HasSuffix(line, "|+") || strings.HasSuffix(line, ">+")
	}
	return false
}

// leading counts the spaces at the start of a line.
func leading(line []rune) int {
	for i, r := range line {
		if r != ' ' {
			return i
		}
	}
	return len(line)
}

func reportYAML(err error, ps *problems) {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		ps.add("E101", nil, "", "the text is not YAML: %v", err)
		return
	}
	line, column := e.Mark.Line, e.Mark.Column+1
	if line == 0 && e.ContextMark.Line > 0 {
		line, column = e.ContextMark.Line, e.ContextMark.Column+1
	}
	line = min(max(line, 1), len(ps.source.lines))
	message := "the text is not YAML: " + e.Message
	if e.ContextMsg != "" {
		message += " (" + e.ContextMsg + ")"
	}
	ps.put(Problem{Pos: Pos{line, max(column, 1), line, max(column, 1) + 1}, Code: "E101", Severity: "error",
		Message: message, Hint: yamlHint(ps.source, line)})
}

// yamlHint knows the traps of expressions in plain YAML text.
func yamlHint(s *source, line int) string {
	for _, number := range []int{line, line - 1} {
		text := s.line(number)
		_, value, found := strings.Cut(text, ": ")
		switch {
		case strings.Contains(text, "${{") && strings.ContainsAny(strings.SplitN(text, "${{", 2)[0], "{["):
			return "inside { } and [ ], a text with ${{ }} must be quoted"
		case found && strings.Contains(value, ": ") && !strings.ContainsAny(strings.TrimSpace(value)[:1], `"'{[`):
			return `a text that holds ": " must be quoted`
		case strings.Contains(value, " #"):
			return `a text that holds " #" must be quoted`
		case strings.HasPrefix(strings.TrimSpace(value), "!"):
			return "write not x instead of !x"
		}
	}
	return "check brackets, quotes and the indentation around this line"
}

// reader turns YAML nodes into nodes of our own.
type reader struct {
	ps          *problems
	aliasBudget int
	failed      bool
}

func (r *reader) fail(code string, at *node, hint, format string, args ...any) {
	r.failed = true
	r.ps.add(code, at, hint, format, args...)
}

func (r *reader) read(y *yaml.Node, depth int, aliased bool) *node {
	if r.failed {
		return nil
	}
	n := &node{pos: Pos{y.Line, y.Column, y.Line, y.Column + 1}, aliased: aliased}
	if depth > maxNesting {
		r.fail("E107", n, "", "the text is nested deeper than %d", maxNesting)
		return nil
	}
	if aliased {
		if r.aliasBudget--; r.aliasBudget < 0 {
			r.fail("E107", n, "write the values out, or use spec.defaults", "aliases add more than %d values", maxAliasNodes)
			return nil
		}
	}
	if y.Style&yaml.TaggedStyle != 0 {
		r.tag(y, n)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(y, n, depth)
	case yaml.SequenceNode:
		n.kind = listNode
		for _, item := range y.Content {
			if child := r.read(item, depth+1, aliased); child != nil {
				n.items = append(n.items, child)
			}
		}
	case yaml.MappingNode:
		n.kind = mapNode
		r.entries(y, n, depth, aliased)
	default:
		r.scalar(y, n)
	}
	return n
}

// alias reads the target again, at the place of the alias, so that problems point there.
func (r *reader) alias(y *yaml.Node, n *node, depth int) *node {
	target := r.read(y.Alias, depth+1, true)
	if target == nil {
		return nil
	}
	n.pos.EndColumn = y.Column + 1 + utf8.RuneCountInString(y.Value)
	target.walk(func(each *node) bool {
		each.pos = n.pos
		for i := range each.entries {
			each.entries[i].key.pos = n.pos
		}
		return true
	})
	return target
}

func (r *reader) tag(y *yaml.Node, n *node) {
	n.pos.EndColumn = n.pos.Column + utf8.RuneCountInString(y.Tag)
	hint := "remove the tag"
	if strings.HasPrefix(y.Tag, "!") && !strings.HasPrefix(y.Tag, "!!") {
		hint = "to negate, write not " + y.Tag[1:] + " instead of " + y.Tag
	}
	r.ps.add("E104", n, hint, "%s is read by YAML as a tag", y.Tag)
}

func (r *reader) entries(y *yaml.Node, n *node, depth int, aliased bool) {
	first := map[string]*node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := r.read(y.Content[i], depth+1, aliased)
		if key == nil {
			return
		}
		if key.kind == listNode || key.kind == mapNode {
			r.fail("E101", key, "write ${{ … }} for an expression, and quote a text that begins with { or [", "a key of a map must be a text")
			return
		}
		if key.raw == "<<" && !key.quoted {
			r.ps.add("E106", key, "write the keys out, or use spec.defaults", "merge keys are not part of the language")
			continue
		}
		if other := first[key.raw]; other != nil && !aliased {
			r.ps.add("E103", key, "remove one of them", "the key %q stands twice, first in line %d", key.raw, other.pos.Line)
			continue
		}
		first[key.raw] = key
		value := r.read(y.Content[i+1], depth+1, aliased)
		if value == nil {
			return
		}
		n.entries = append(n.entries, entry{key: key, name: key.raw, value: value})
	}
}

func (r *reader) scalar(y *yaml.Node, n *node) {
	n.raw = y.Value
	n.quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.quoted {
		n.kind, n.value = textNode, y.Value
	} else {
		n.kind, n.value = resolve(y.Value)
	}
	if n.kind == textNode && strings.ContainsRune(n.raw, 0) {
		r.ps.add("E101", n, "", "a text holds a NUL character")
	}
	if f, ok := n.value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		r.ps.add("E403", n, "quote it if it is a text", "%s is not a number that JSON knows", n.raw)
	}
	end := r.ps.source.end(n)
	n.pos.EndLine, n.pos.EndColumn = end.line, end.column
	if end.line == n.pos.Line && end.column <= n.pos.Column {
		n.pos.EndColumn = n.pos.Column + 1
	}
}

// documentsOf finds the one Workflow of a text, and what stands beside it.
func documentsOf(text []byte, ps *problems) (workflow *document, others []*document) {
	return sortDocuments(parse(text, ps), ps)
}

func sortDocuments(all []*document, ps *problems) (workflow *document, others []*document) {
	for _, d := range all {
		if d.root.kind != mapNode {
			ps.add("E113", d.root, "begin with apiVersion: weftline/v1", "the document is %s, not a map", d.root.word())
			continue
		}
		switch kind := d.root.get("kind"); {
		case kind.text() == "WorkflowTest" || kind.text() == "Layout":
			others = append(others, d)
		case workflow == nil:
			workflow = d
		default:
			ps.add("E110", d.root, "put it into a file of its own", "the text has a second Workflow")
		}
	}
	if workflow == nil && !ps.hasErrors() {
		ps.add("E110", nil, "begin with apiVersion: weftline/v1 and kind: Workflow", "the text holds no Workflow")
	}
	return workflow, others
}
