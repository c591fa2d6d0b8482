package flow

import (
	"encoding/json"
	"strings"
	"sync"
	"unicode"
)

// JSONSchema is the JSON Schema (draft 2020-12) of a definition, generated from the table of fields, for
// editors and for the forms of the designer. $defs["type.<type>"] describes the inputs of the connectors
// and the block of the other types. x-shape names what a text is: template, expression, condition,
// duration, delay, moment, source, id, name, cron, zone, size, pattern. x-order holds the keys of an object in
// canonical order, since the order of properties means nothing in JSON. For forms: title is the label, x-seldom
// marks what few people need, x-types the types of activities that a key means something to, x-with what a key
// beside it must be.
func JSONSchema() []byte { return generatedSchema() }

var generatedSchema = sync.OnceValue(func() []byte {
	g := &generator{defs: map[string]any{}}
	top := g.object(workflowObject)
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "Weftline workflow, version 1"
	for _, kind := range activityTypes {
		g.defs["type."+kind] = g.typeSchema(kind)
	}
	top["$defs"] = g.defs
	text, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		panic(err) // the table holds plain JSON values only
	}
	return append(text, '\n')
})

type generator struct{ defs map[string]any }

// typeDocs are the sentences about types without inputs and block.
var typeDocs = map[string]object{
	TypeSet: {title: "Set", doc: "Computes its outputs, and does nothing else."},
}

func (g *generator) typeSchema(kind string) map[string]any {
	o := inputsOf[kind]
	if o == nil {
		o = blockOf[kind]
	}
	if o == nil {
		doc := typeDocs[kind]
		o = &doc
	}
	return g.object(o)
}

// object is a map with known keys; x-… keys are the authors' own.
func (g *generator) object(o *object) map[string]any {
	properties := map[string]any{}
	required, order := []string{}, []string{}
	for i := range o.fields {
		each := &o.fields[i]
		order = append(order, each.key)
		properties[each.key] = g.field(each)
		if each.required {
			required = append(required, each.key)
		}
	}
	s := map[string]any{
		"type": "object", "title": o.title, "description": o.doc, "properties": properties,
		"patternProperties": map[string]any{"^x-": true}, "unevaluatedProperties": false, "x-order": order,
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (g *generator) field(f *field) map[string]any {
	s := g.shape(f.shape)
	s["title"] = words(f.key)
	if f.label != "" {
		s["title"] = f.label
	}
	if f.rare {
		s["x-seldom"] = true
	}
	if f.types != nil {
		s["x-types"] = f.types
	}
	if f.chosen != "" {
		s["x-with"] = map[string]any{"key": f.chosen, "values": f.choices}
	}
	s["description"], s["markdownDescription"] = f.doc, f.doc
	if f.standard != "" {
		s["markdownDescription"] = f.doc + "\n\nDefault: " + f.standard
		s["x-default"] = f.standard
	}
	if example := exampleOf(f); example != nil {
		s["examples"] = []any{example}
	}
	return s
}

// exampleOf is the example of the table, or one that follows from the shape.
func exampleOf(f *field) any {
	if f.example != nil {
		return f.example
	}
	switch f.shape.kind {
	case enumShape, enumOrTemplate:
		return f.shape.words[0]
	case boolShape:
		return true
	case durationShape:
		return "30s"
	case intShape:
		return f.shape.min
	case idShape, outcomeShape:
		return "approve"
	case templateShape, textShape:
		return "text"
	case exprShape:
		return "inputs.order_id"
	case conditionShape:
		return "inputs.amount > 100"
	case valueShape:
		return "${{ inputs.order_id }}"
	}
	return nil
}

// words makes a title of a key: maxDelay → Max delay.
func words(key string) string {
	var out strings.Builder
	for i, r := range strings.ReplaceAll(key, "_", " ") {
		switch {
		case i == 0:
			out.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r):
			out.WriteString(" " + string(unicode.ToLower(r)))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// textShapes are the shapes that are a text: their x-shape and pattern.
var textShapes = map[shapeKind]struct{ name, pattern string }{
	textShape: {}, sourceShape: {name: "source"}, templateShape: {name: "template"}, needShape: {name: "need", pattern: `^[a-z][a-z0-9_]{0,62}(\.[a-z][a-z0-9_]*)?$`},
	idShape: {"id", idForm.String()}, outcomeShape: {"id", idForm.String()}, nameShape: {"name", nameForm.String()},
	versionShape: {name: "version"}, durationShape: {"duration", `^(P.+|(\d+(\.\d+)?(ms|s|m|h|d|w))+)$`}, whenShape: {name: "moment"},
	instantShape: {name: "instant"}, sizeShape: {"size", sizeForm.String()}, cronShape: {name: "cron"}, zoneShape: {name: "zone"},
	patternShape: {"pattern", patternForm.String()},
}

func (g *generator) shape(s *shape) map[string]any {
	if form, ok := textShapes[s.kind]; ok {
		out := map[string]any{"type": "string"}
		if form.name != "" {
			out["x-shape"] = form.name
		}
		if s == delay {
			out["x-shape"] = "delay"
		}
		if form.pattern != "" {
			out["pattern"] = form.pattern
		}
		if s.least > 0 {
			out["minLength"] = s.least
		}
		return out
	}
	switch s.kind {
	case exprShape:
		return map[string]any{"type": []string{"string", "number", "boolean"}, "x-shape": "expression"}
	case conditionShape:
		return map[string]any{"type": []string{"string", "boolean"}, "x-shape": "condition"}
	case boolShape:
		return map[string]any{"type": "boolean"}
	case intShape:
		return map[string]any{"type": "integer", "minimum": s.min, "maximum": s.max}
	case numberShape:
		return map[string]any{"type": "number", "minimum": s.min, "maximum": s.max}
	case enumShape:
		return map[string]any{"enum": s.words}
	case enumOrTemplate:
		return map[string]any{"anyOf": []any{map[string]any{"enum": s.words}, map[string]any{"type": "string", "pattern": `\$\{\{`}}, "x-shape": "template"}
	case toleranceShape:
		return map[string]any{"type": []string{"integer", "string"}}
	case jsonSchemaShape:
		return map[string]any{"type": "object", "x-shape": "schema"}
	}
	return g.container(s)
}

func (g *generator) container(s *shape) map[string]any {
	switch s.kind {
	case listShape:
		out := map[string]any{"type": "array", "items": g.shape(s.of)}
		if s.least > 0 {
			out["minItems"] = s.least
		}
		if s.most > 0 {
			out["maxItems"] = s.most
		}
		return out
	case mapShape:
		return map[string]any{"type": "object", "additionalProperties": g.shape(s.of)}
	case idMapShape:
		return map[string]any{"type": "object", "propertyNames": map[string]any{"pattern": idForm.String()}, "additionalProperties": g.shape(s.of)}
	case choiceShape:
		parts := make([]any, len(s.alternatives))
		for i, part := range s.alternatives {
			parts[i] = g.shape(part)
		}
		return map[string]any{"anyOf": parts}
	case objectShape:
		return g.reference(s.object)
	}
	return map[string]any{"x-shape": "value"}
}

// reference puts objects that hold activities, or stand in several places, into $defs.
func (g *generator) reference(o *object) map[string]any {
	name := map[*object]string{
		activityObject: "activity", bodyShape.object: "body", undoShape.object: "compensation", retryObject: "retry", affinityObject: "affinity",
	}[o]
	for kind, block := range blockOf {
		if block == o {
			return map[string]any{"$ref": "#/$defs/type." + kind}
		}
	}
	if name == "" {
		return g.object(o)
	}
	if _, done := g.defs[name]; !done {
		g.defs[name] = nil // stops the recursion of bodies
		s := g.object(o)
		if s["properties"].(map[string]any)["type"] != nil {
			g.byType(s)
		}
		g.defs[name] = s
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// byType gives each type its inputs or block, and no other.
func (g *generator) byType(s map[string]any) {
	properties := s["properties"].(map[string]any)
	inputs := properties["inputs"]
	delete(properties, "inputs")
	var rules []any
	for _, kind := range activityTypes {
		delete(properties, kind)
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"type": map[string]any{"const": kind}}, "required": []string{"type"}},
			"then": thenOf(kind, inputs),
		})
	}
	s["allOf"] = rules
}

func thenOf(kind string, inputs any) map[string]any {
	ref := map[string]any{"$ref": "#/$defs/type." + kind}
	switch {
	case inputsOf[kind] != nil:
		return map[string]any{"properties": map[string]any{"inputs": ref}}
	case kind == TypeWorkflow:
		return map[string]any{"properties": map[string]any{kind: ref, "inputs": inputs}, "required": []string{kind}}
	case blockRequired(kind):
		return map[string]any{"properties": map[string]any{kind: ref}, "required": []string{kind}}
	case blockOf[kind] != nil:
		return map[string]any{"properties": map[string]any{kind: ref}}
	}
	return map[string]any{"required": []string{"outputs"}}
}
