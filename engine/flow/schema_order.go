package flow

// orderKeyword holds the names of an object's properties as they were written, since JSON and what reads it keep
// no order of keys. Forms follow it.
const orderKeyword = "x-order"

// Keywords whose values are schemas, lists of them, or maps of them by name. All others hold plain values.
var (
	schemaKeywords     = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMapKeywords  = []string{"properties", "$defs", "patternProperties", "dependentSchemas"}
)

// orderedSchema is a JSON Schema as written, with the order of the properties of each object in it.
func orderedSchema(n *node) map[string]any {
	if n == nil || n.kind != mapNode {
		return n.plainMap()
	}
	schema := make(map[string]any, len(n.entries)+1)
	for _, e := range n.entries {
		schema[e.name] = orderedPart(e.name, e.value)
	}
	if properties := n.get("properties"); n.get(orderKeyword) == nil && properties != nil && len(properties.entries) > 1 {
		order := make([]any, len(properties.entries))
		for i, e := range properties.entries {
			order[i] = e.name
		}
		schema[orderKeyword] = order
	}
	return schema
}

func orderedPart(keyword string, n *node) any {
	switch {
	case n == nil:
		return nil
	case n.kind == mapNode && contains(schemaKeywords, keyword):
		return orderedSchema(n)
	case n.kind == mapNode && contains(schemaMapKeywords, keyword):
		named := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			named[e.name] = orderedPart("items", e.value)
		}
		return named
	case n.kind == listNode && contains(schemaListKeywords, keyword):
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = orderedPart("items", item)
		}
		return list
	}
	return n.plain()
}

// InputSchema is the schema of the input that a text declares, with the order of its fields; nil when it declares
// none. The text need not be valid otherwise. One that is not YAML, or holds not exactly one Workflow, is a
// *LoadError.
func InputSchema(text []byte) (map[string]any, error) {
	ps := &problems{}
	workflow, _ := documentsOf(text, ps)
	if ps.hasErrors() {
		return nil, &LoadError{ps.report("")}
	}
	return orderedSchema(workflow.root.at("spec", "input")), nil
}
