package flow

import "strings"

// A shape says what a value of the definition may be. One table of shapes (table*.go) drives the strict
// check of keys and types, the canonical order of keys, the JSON Schema and the reference in the docs.

type shapeKind int

const (
	anyShape        shapeKind = iota // any value without expressions
	valueShape                       // any value; every string in it is a template
	textShape                        // text without expressions
	sourceShape                      // text of another language, in which ${{ }} is a mistake
	templateShape                    // text with ${{ }} in it
	exprShape                        // a bare expression
	conditionShape                   // a bare expression that is true or false
	boolShape                        // true or false
	intShape                         // a whole number from min to max
	numberShape                      // a number from min to max
	enumShape                        // one of words
	enumOrTemplate                   // one of words, or a template
	idShape                          // an id: ^[a-z][a-z0-9_]{0,62}$ and no YAML boolean word
	outcomeShape                     // an id that is not the name of a port
	needShape                        // id or id.port
	nameShape                        // a workflow's name
	versionShape                     // a semantic version, or for children a number or range
	durationShape                    // 30s, 1h30m, P1D
	whenShape                        // a duration, an instant or an expression that gives one
	instantShape                     // an instant
	sizeShape                        // 16MiB
	cronShape                        // five fields
	zoneShape                        // an IANA time zone
	patternShape                     // an error type, http.5xx, transport.*
	toleranceShape                   // a number or a percentage
	jsonSchemaShape                  // a JSON Schema 2020-12
	listShape                        // a list of of
	mapShape                         // a map from free keys to of
	idMapShape                       // a map from ids to of, order kept
	objectShape                      // a map with the fields of object
	choiceShape                      // one of the alternatives, chosen by the type of the value
)

type shape struct {
	kind         shapeKind
	words        []string
	min, max     float64
	of           *shape
	object       *object
	alternatives []*shape
	most         int // items of a list, 0 = no bound
	least        int
}

// object is a map with known keys, in canonical order.
type object struct {
	title, doc string
	fields     []field
}

// field is one key of an object.
type field struct {
	key      string
	shape    *shape
	doc      string
	required bool
	standard string // the default, in the words of the language
	inline   bool   // fmt writes it on one line if it fits
	example  any

	// How a form shows it.
	label   string   // "" = the key in words
	rare    bool     // few people need it: folded away until it is set
	types   []string // of activities that it means something to; nil = all
	chosen  string   // the key beside it that must have one of values for this one to mean something; "" = always
	choices []string
}

func (o *object) field(key string) *field {
	for i := range o.fields {
		if o.fields[i].key == key {
			return &o.fields[i]
		}
	}
	return nil
}

func (o *object) keys() []string {
	keys := make([]string, len(o.fields))
	for i := range o.fields {
		keys[i] = o.fields[i].key
	}
	return keys
}

func simple(kind shapeKind) *shape { return &shape{kind: kind} }

var (
	anything       = simple(anyShape)
	value          = simple(valueShape)
	plainText      = simple(textShape)
	foreign        = simple(sourceShape)
	template       = simple(templateShape)
	filledTemplate = &shape{kind: templateShape, least: 1}
	expression     = simple(exprShape)
	condition      = simple(conditionShape)
	boolean        = simple(boolShape)
	identifier     = simple(idShape)
	outcome        = simple(outcomeShape)
	duration       = simple(durationShape)
	pattern        = simple(patternShape)
	jsonSchema     = simple(jsonSchemaShape)
	zone           = simple(zoneShape)
	moment         = &shape{kind: whenShape, words: []string{"duration", "instant"}}
	delay          = &shape{kind: whenShape, words: []string{"duration"}}
	instant        = &shape{kind: whenShape, words: []string{"instant"}}
)

func integer(min, max float64) *shape { return &shape{kind: intShape, min: min, max: max} }
func numeric(min, max float64) *shape { return &shape{kind: numberShape, min: min, max: max} }
func oneOfWords(words ...string) *shape {
	return &shape{kind: enumShape, words: words}
}
func wordsOrTemplate(words ...string) *shape { return &shape{kind: enumOrTemplate, words: words} }
func listOf(of *shape) *shape                { return &shape{kind: listShape, of: of} }
func someOf(of *shape, least, most int) *shape {
	return &shape{kind: listShape, of: of, least: least, most: most}
}
func mapOf(of *shape) *shape           { return &shape{kind: mapShape, of: of} }
func namedOf(of *shape) *shape         { return &shape{kind: idMapShape, of: of} }
func group(o *object) *shape           { return &shape{kind: objectShape, object: o} }
func choice(parts ...*shape) *shape    { return &shape{kind: choiceShape, alternatives: parts} }
func must(f field) field               { f.required = true; return f }
func inline(f field) field             { f.inline = true; return f }
func (f field) or(text string) field   { f.standard = text; return f }
func (f field) such(example any) field { f.example = example; return f }

// called gives a form's label where the key alone says too little.
func (f field) called(label string) field { f.label = label; return f }

// seldom marks what few people need.
func (f field) seldom() field { f.rare = true; return f }

// of names the types of activities that a key of all of them means something to.
func (f field) of(types ...string) field { f.types = types; return f }

// with names what a key beside it must be for this one to mean something.
func (f field) with(key string, values ...string) field { f.chosen, f.choices = key, values; return f }

func f(key string, s *shape, doc string) field { return field{key: key, shape: s, doc: doc} }

// accepts says whether a shape can be meant by a value of this type.
func (s *shape) accepts(kind nodeKind) bool {
	switch s.kind {
	case objectShape, mapShape, idMapShape, jsonSchemaShape:
		return kind == mapNode
	case listShape:
		return kind == listNode
	case boolShape:
		return kind == boolNode
	case intShape:
		return kind == intNode
	case numberShape:
		return kind == intNode || kind == floatNode
	case toleranceShape:
		return kind == intNode || kind == textNode
	case anyShape, valueShape:
		return true
	case choiceShape:
		for _, part := range s.alternatives {
			if part.accepts(kind) {
				return true
			}
		}
		return false
	}
	return kind == textNode
}

// word names what a shape wants, for messages.
func (s *shape) word() string {
	switch s.kind {
	case objectShape, mapShape, idMapShape, jsonSchemaShape:
		return "a map"
	case listShape:
		return "a list"
	case boolShape:
		return "true or false"
	case intShape:
		return "a whole number"
	case numberShape:
		return "a number"
	case toleranceShape:
		return "a count or a percentage"
	case durationShape:
		return "a duration"
	case whenShape:
		return "a " + strings.Join(s.words, " or ") + ", or an expression"
	case sizeShape:
		return "a size"
	case exprShape, conditionShape:
		return "an expression"
	case idShape, outcomeShape:
		return "an id"
	case choiceShape:
		out := ""
		for i, part := range s.alternatives {
			if i > 0 {
				out += " or "
			}
			out += part.word()
		}
		return out
	}
	return "a text"
}
