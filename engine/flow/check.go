package flow

import (
	"fmt"
	"regexp"
	"strings"

	"weftline/engine/expr"
)

// checker goes over a document with the table of shapes. It reports what does not fit and keeps what it
// compiled on the way: every expression is compiled exactly once.
type checker struct {
	ps       *problems
	programs map[*node]*expr.Program // bare expressions; nil entry = a constant
	values   map[*node]*expr.Value   // texts that are templates
	places   map[*node][]placed      // all expressions of a text, for the checks of names and types
	schemas  map[*node]*Schema
	spelling map[*node]string  // texts whose canonical form differs
	tables   map[*node]*object // maps with known keys
	defaults *node             // spec.defaults
}

// placed is an expression and where it begins in its text, in code points.
type placed struct {
	program *expr.Program
	offset  int
}

func newChecker(ps *problems) *checker {
	return &checker{ps: ps, programs: map[*node]*expr.Program{}, values: map[*node]*expr.Value{},
		places: map[*node][]placed{}, schemas: map[*node]*Schema{}, spelling: map[*node]string{}, tables: map[*node]*object{}}
}

// check reports whether n fits s, below n too.
func (c *checker) check(n *node, s *shape) {
	if s.kind == choiceShape {
		for _, part := range s.alternatives {
			if part.accepts(n.kind) {
				c.check(n, part)
				return
			}
		}
	}
	if n.kind != textNode && n.kind < listNode && (s.kind == exprShape || s.kind == conditionShape) && n.kind != nullNode {
		c.constantExpression(n, s)
		return
	}
	if !s.accepts(n.kind) {
		c.wrongType(n, s)
		return
	}
	switch s.kind {
	case anyShape:
	case valueShape:
		c.value(n)
	case templateShape:
		c.filled(n, s)
		c.template(n)
	case exprShape, conditionShape:
		c.expression(n)
	case objectShape:
		c.object(n, s.object)
	case mapShape, idMapShape:
		c.entries(n, s)
	case listShape:
		c.list(n, s)
	case intShape, numberShape:
		c.bounds(n, s)
	case jsonSchemaShape:
		c.schema(n)
	default:
		c.text(n, s)
	}
}

// wrongType reports a value of another type than the one wanted, with the fix where there is one.
func (c *checker) wrongType(n *node, s *shape) {
	switch {
	case n.kind == nullNode:
		c.ps.add("E403", n, "give it a value or remove the key", "there is no value here, %s is needed", s.word())
	case s.kind == durationShape && (n.kind == intNode || n.kind == floatNode):
		c.ps.add("E405", n, fmt.Sprintf("%s → write %ss", n.raw, n.raw), "a duration needs a unit").replace(n, n.raw+"s")
	case s.kind == sizeShape && n.kind == intNode:
		c.ps.add("E412", n, fmt.Sprintf("%s → write %sMiB", n.raw, n.raw), "a size needs a unit")
	case n.kind < textNode && s.accepts(textNode):
		c.ps.add("E403", n, fmt.Sprintf("quote it: %q", n.raw), "%s is read as %s, a text is needed here", n.raw, n.word()).
			replace(n, fmt.Sprintf("%q", n.raw))
	case s.kind == listShape && n.kind < listNode:
		c.ps.add("E403", n, fmt.Sprintf("write [%s]", n.raw), "this is %s, a list is needed here", n.word()).replace(n, "["+n.raw+"]")
	case s.kind == boolShape && n.kind == textNode:
		c.notBoolean(n)
	case s.kind == exprShape || s.kind == conditionShape:
		c.ps.add("E403", n, `write it as an expression in quotes, for example "[1, 2]"`, "this is %s, an expression is needed here", n.word())
	default:
		c.ps.add("E403", n, "", "this is %s, %s is needed here", n.word(), s.word())
	}
}

// notBoolean reports a text where true or false is needed; yes and no are texts in YAML 1.2.
func (c *checker) notBoolean(n *node) {
	p := c.ps.add("E403", n, "write true or false", "%q is a text, true or false is needed here", n.raw)
	meant := map[string]string{"yes": "true", "on": "true", "y": "true", "true": "true", "no": "false", "off": "false", "n": "false", "false": "false"}
	if word := meant[strings.ToLower(n.raw)]; word != "" {
		p.Hint = "write " + word
		p.replace(n, word)
	}
}

func (c *checker) object(n *node, o *object) {
	if o == activityObject || o == bodyShape.object || o == undoShape.object {
		c.activity(n, o)
		return
	}
	c.keys(n, o)
	for i := range n.entries {
		if known := o.field(n.entries[i].name); known != nil {
			c.check(n.entries[i].value, known.shape)
		}
	}
	c.required(n, o, nil)
}

// keys gives every key its name and reports unknown ones; x-… keys are the authors' own.
func (c *checker) keys(n *node, o *object) {
	c.tables[n] = o
	seen := map[string]bool{}
	for i := range n.entries {
		e := &n.entries[i]
		e.name = camel(o, e.key.raw)
		if seen[e.name] {
			c.ps.add("E103", e.key, "remove one of them", "the key %q stands twice, in two spellings", e.name)
		}
		seen[e.name] = true
		if o.field(e.name) == nil && !strings.HasPrefix(e.name, "x-") {
			c.ps.add("E401", e.key, "", "there is no key %q in %s", e.key.raw, strings.ToLower(o.title)).suggest(e.key, o.keys())
		}
	}
}

// camel finds the key that a snake_case spelling means.
func camel(o *object, key string) string {
	if o.field(key) != nil || !strings.Contains(key, "_") {
		return key
	}
	parts := strings.Split(key, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	if joined := strings.Join(parts, ""); o.field(joined) != nil {
		return joined
	}
	return key
}

// required reports keys that must be given; beneath may give them instead.
func (c *checker) required(n *node, o *object, beneath *node) {
	for i := range o.fields {
		each := &o.fields[i]
		if each.required && n.get(each.key) == nil && beneath.get(each.key) == nil {
			c.ps.add("E402", n, example(each), "%s needs %q", describe(n, o), each.key)
		}
	}
}

func example(each *field) string {
	if text, ok := each.example.(string); ok {
		return fmt.Sprintf("for example %s: %s", each.key, text)
	}
	if len(each.shape.words) == 1 {
		return fmt.Sprintf("write %s: %s", each.key, each.shape.words[0])
	}
	return ""
}

// describe names a map in a message.
func describe(n *node, o *object) string {
	if id := n.get("id").text(); id != "" {
		return fmt.Sprintf("activity %q", id)
	}
	return strings.ToLower(o.title)
}

func (c *checker) entries(n *node, s *shape) {
	for i := range n.entries {
		if s.kind == idMapShape {
			c.id(n.entries[i].key, false)
		}
		c.check(n.entries[i].value, s.of)
	}
}

func (c *checker) list(n *node, s *shape) {
	if len(n.items) < s.least {
		c.ps.add("E414", n, "", "%s must have at least %d entry", lastKey(n.path), s.least)
	}
	if s.most > 0 && len(n.items) > s.most {
		c.ps.add("E414", n, "", "%s has %d entries, at most %d are allowed", lastKey(n.path), len(n.items), s.most)
	}
	for _, item := range n.items {
		c.check(item, s.of)
	}
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func (c *checker) bounds(n *node, s *shape) {
	var v float64
	switch x := n.value.(type) {
	case int64:
		v = float64(x)
	case float64:
		v = x
	}
	if v < s.min || v > s.max {
		c.ps.add("E414", n, "", "%s is %s, it must be from %v to %v", lastKey(n.path), n.raw, s.min, s.max)
	}
}

// value compiles the templates in a value of any type.
func (c *checker) value(n *node) {
	n.walk(func(each *node) bool {
		if each.kind == textNode {
			c.template(each)
		}
		return true
	})
}

// filled refuses a text of nothing but spaces where one is needed.
func (c *checker) filled(n *node, s *shape) {
	if s.least > 0 && strings.TrimSpace(n.raw) == "" {
		c.ps.add("E414", n, "write it out, or take it from an expression", "%s is empty", lastKey(n.path))
	}
}

func (c *checker) template(n *node) {
	if !strings.Contains(n.raw, "${{") {
		c.values[n] = expr.Constant(n.raw)
		c.unwrapped(n)
		return
	}
	compiled, err := expr.CompileTemplate(n.raw)
	if err != nil {
		c.ps.expression(n, 0, c.explainCut(n, err.(*expr.Error)))
		c.values[n] = expr.Constant(n.raw)
		return
	}
	c.values[n] = compiled
	spans, _ := expr.Split(n.raw)
	programs := compiled.Programs()
	for _, span := range spans {
		if span.Expression {
			c.place(n, programs[0], span.Offset)
			programs = programs[1:]
		}
	}
}

// Texts that read something in the manner of an expression, but are none: by itself, or between other braces.
var (
	readsAlone  = regexp.MustCompile(`^\s*(inputs|vars|activities|secrets|execution|trigger)(\??\.[A-Za-z_]\w*)+\s*$`)
	readsBraced = regexp.MustCompile(`\{\{?\s*(inputs|vars|activities|secrets|execution|trigger)\??\.[A-Za-z_]`)
)

// unwrapped warns of a text that looks like an expression: it is taken as it stands.
func (c *checker) unwrapped(n *node) {
	switch {
	case readsAlone.MatchString(n.raw):
		wrapped := "${{ " + strings.TrimSpace(n.raw) + " }}"
		problem := c.ps.add("W713", n, "write "+wrapped, "%s is text here, not an expression", strings.TrimSpace(n.raw))
		if !n.aliased {
			problem.replace(n, `"`+wrapped+`"`)
		}
	case readsBraced.MatchString(n.raw):
		c.ps.add("W713", n, "an expression stands in ${{ and }}", "the braces are text here, not an expression")
	}
}

// expression compiles a bare expression; one that is wholly wrapped is accepted.
func (c *checker) expression(n *node) {
	bare, offset, err := expr.Unwrap(n.raw)
	if err != nil {
		c.ps.expression(n, 0, c.explainCut(n, err.(*expr.Error)))
		return
	}
	program, err := expr.Compile(bare)
	if err != nil {
		c.ps.expression(n, offset, c.explainCut(n, err.(*expr.Error)))
		return
	}
	c.programs[n] = program
	c.spelling[n] = strings.TrimSpace(bare)
	c.place(n, program, offset)
}

// place notes an expression that begins offset code points into a text, and tells it where that is.
func (c *checker) place(n *node, program *expr.Program, offset int) {
	c.places[n] = append(c.places[n], placed{program, offset})
	if c.ps.muted {
		return
	}
	places := c.ps.source.trace(n)
	start := places[min(offset, len(places)-1)]
	indent := 1
	for _, p := range places {
		if p.line > start.line {
			indent = p.column
			break
		}
	}
	program.Place(expr.Origin{Line: start.line, Column: start.column, Indent: indent})
}

// explainCut says so when YAML cut the text off.
func (c *checker) explainCut(n *node, e *expr.Error) *expr.Error {
	if (e.Code == expr.CodeSyntax || e.Code == expr.CodeWrapped) && cutByComment(c.ps.source, n) {
		e.Hint = `YAML ends a plain text at " #": quote the expression`
	}
	return e
}

// cutByComment reports whether a comment follows a plain text on its line.
func cutByComment(s *source, n *node) bool {
	if n.quoted {
		return false
	}
	rest := []rune(s.line(n.pos.EndLine))
	return n.pos.EndColumn-1 <= len(rest) && strings.HasPrefix(strings.TrimLeft(string(rest[n.pos.EndColumn-1:]), " "), "#")
}

// constantExpression takes true, 5 and 0.5 where an expression is wanted.
func (c *checker) constantExpression(n *node, s *shape) {
	if s.kind == conditionShape && n.kind != boolNode {
		c.ps.add("E313", n, "write true, false or a comparison", "the condition is a number, not a boolean")
		return
	}
	if program, err := expr.Compile(n.raw); err == nil {
		c.programs[n] = program
	} else {
		c.ps.expression(n, 0, err.(*expr.Error))
	}
}

func (c *checker) schema(n *node) {
	schema, err := compileSchema(orderedSchema(n))
	if err != nil {
		at, message := n, err.Error()
		if e, ok := err.(*schemaError); ok {
			at, message = n.pointer(e.pointer), e.message
		}
		c.ps.add("E409", at, "JSON Schema draft 2020-12, without remote references", "this is not a JSON Schema: %s", message)
		return
	}
	c.schemas[n] = schema
}

// pointer follows a JSON pointer as far as it leads.
func (n *node) pointer(steps []string) *node {
	for _, step := range steps {
		next := n.get(step)
		if next == nil && n.kind == listNode {
			var i int
			if _, err := fmt.Sscanf(step, "%d", &i); err == nil && i >= 0 && i < len(n.items) {
				next = n.items[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
