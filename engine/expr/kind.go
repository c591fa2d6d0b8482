package expr

import "strings"

// Kind is a set of types of values.
type Kind uint8

// The types of a value.
const (
	Null Kind = 1 << iota
	Boolean
	Number
	Text
	List
	Object

	Any = Null | Boolean | Number | Text | List | Object
)

var kindWords = []struct {
	kind Kind
	word string
}{{Null, "null"}, {Boolean, "boolean"}, {Number, "number"}, {Text, "text"}, {List, "list"}, {Object, "object"}}

// String names the types: "number", "text or list", "anything".
func (k Kind) String() string {
	if k == Any {
		return "anything"
	}
	var words []string
	for _, entry := range kindWords {
		if k&entry.kind != 0 {
			words = append(words, entry.word)
		}
	}
	return strings.Join(words, " or ")
}

// KindOf is the type of one value.
func KindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return Null
	case bool:
		return Boolean
	case int64, float64:
		return Number
	case string:
		return Text
	case []any:
		return List
	case map[string]any:
		return Object
	}
	return 0
}
