package flow

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Drawn is the Workflow and the Layout of a text as JSON, each key as it is written and in its place.
type Drawn struct {
	Workflow json.RawMessage `json:"workflow"`
	Layout   json.RawMessage `json:"layout"`
}

// Drawing gives what a graph is drawn from where nobody edits the text. Half-written workflows have it too. It
// is nil where the text holds no Workflow or is not the YAML of the language.
func Drawing(text []byte) *Drawn {
	ps := &problems{}
	documents := parse(text, ps)
	if ps.hasErrors() || !drawable(documents) {
		return nil
	}
	var workflow, layout json.RawMessage
	var withSpec *node
	for _, d := range documents {
		switch kind := d.root.get("kind").text(); {
		case kind == "Workflow" && workflow == nil:
			workflow = d.root.appendJSON(nil)
		case kind == "Layout" && layout == nil:
			layout = d.root.appendJSON(nil)
		case withSpec == nil && d.root.get("spec") != nil:
			withSpec = d.root
		}
	}
	if workflow == nil && withSpec != nil {
		workflow = withSpec.appendJSON(nil)
	}
	return &Drawn{Workflow: workflow, Layout: layout}
}

// drawable: one of them is a Workflow, or has what it would have.
func drawable(documents []*document) bool {
	return slices.ContainsFunc(documents, func(d *document) bool {
		kind := d.root.get("kind").text()
		return kind == "Workflow" || kind != "Layout" && d.root.get("spec") != nil
	})
}

func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case listNode:
		b = append(b, '[')
		for i, item := range n.items {
			b = item.appendJSON(comma(b, i))
		}
		return append(b, ']')
	case mapNode:
		b = append(b, '{')
		for i, e := range n.entries {
			b = append(appendString(comma(b, i), e.key.raw), ':')
			b = e.value.appendJSON(b)
		}
		return append(b, '}')
	}
	switch value := n.value.(type) {
	case bool:
		return strconv.AppendBool(b, value)
	case int64:
		return strconv.AppendInt(b, value, 10)
	case float64:
		number, err := json.Marshal(value)
		if err != nil { // not finite, which JSON does not know
			return append(b, "null"...)
		}
		return append(b, number...)
	case string:
		return appendString(b, value)
	}
	return append(b, "null"...)
}

func comma(b []byte, index int) []byte {
	if index == 0 {
		return b
	}
	return append(b, ',')
}

func appendString(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a text always can be written
	return append(b, quoted...)
}
