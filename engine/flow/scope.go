package flow

import (
	"fmt"
	"maps"
	"slices"

	"weftline/engine/expr"
)

// What expressions may read, by place. Types come from the input schema, the variables, and the outputs of
// the activities before.

var (
	textType   = expr.Of(expr.Text)
	numberType = expr.Of(expr.Number)
	maybeText  = expr.Of(expr.Text | expr.Null)
	openObject = expr.Of(expr.Object)
)

var errorType = &expr.Type{Kind: expr.Object | expr.Null, Fields: map[string]*expr.Type{
	"type": textType, "class": textType, "message": textType, "activity": maybeText, "item": maybeText,
	"attempt": expr.Of(expr.Number | expr.Null), "detail": nil,
}}

var triggerType = expr.Struct(map[string]*expr.Type{
	"type": textType, "body": nil, "headers": openObject, "query": openObject, "payload": nil, "scheduledAt": maybeText, "id": maybeText,
})

var eventType = expr.Struct(map[string]*expr.Type{
	"name": textType, "payload": nil, "id": maybeText, "receivedAt": textType,
})

// executionType has status only where the end to come is known.
func executionType(hook bool) *expr.Type {
	fields := map[string]*expr.Type{
		"id": textType, "workflow": textType, "version": nil, "startedAt": textType, "actor": maybeText,
		"attempt": numberType, "correlationId": textType, "labels": openObject, "input": openObject, "priority": textType,
	}
	if hook {
		fields["status"] = textType
	}
	t := expr.Struct(fields)
	t.Missing = func(key string) (string, string, string) {
		if key == "status" {
			return "E308", "execution.status is known only in onError and onExit", "read activities.<id>.status instead"
		}
		if near := expr.Nearest(key, sortedKeysOf(fields)); near != "" {
			return expr.CodeMember, fmt.Sprintf("execution has no key %q", key), fmt.Sprintf("did you mean %q?", near)
		}
		return expr.CodeMember, fmt.Sprintf("execution has no key %q", key), "it has " + list(sortedKeysOf(fields))
	}
	return t
}

func sortedKeysOf(m map[string]*expr.Type) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return sortedWords(keys)
}

// inputsType: a declared input that was not given reads as null.
func inputsType(schema *Schema) *expr.Type {
	t := expr.TypeOfSchema(schema.Source)
	if t == nil || t.Fields == nil {
		if schema.Source["additionalProperties"] == false {
			return expr.Struct(map[string]*expr.Type{})
		}
		return nil
	}
	needed := map[string]bool{}
	if required, ok := schema.Source["required"].([]any); ok {
		for _, name := range required {
			if text, ok := name.(string); ok {
				needed[text] = true
			}
		}
	}
	properties, _ := schema.Source["properties"].(map[string]any)
	for name, property := range t.Fields {
		p, _ := properties[name].(map[string]any)
		if _, standard := p["default"]; property != nil && !needed[name] && !standard {
			nullable := *property
			nullable.Kind |= expr.Null
			t.Fields[name] = &nullable
		}
	}
	return t
}

// resultType is what an activity of a type comes to, before its outputs.
func (b *builder) resultType(n *node) *expr.Type {
	switch n.get("type").text() {
	case TypeHTTP:
		body := (*expr.Type)(nil)
		if schema := b.schemas[n.at("inputs", "expect", "schema")]; schema != nil {
			body = expr.TypeOfSchema(schema.Source)
		}
		return expr.Struct(map[string]*expr.Type{"status": numberType, "headers": openObject, "body": body, "file": nil})
	case TypeScript:
		return expr.Struct(map[string]*expr.Type{"exitCode": expr.Of(expr.Number | expr.Null), "stdout": textType, "stderr": textType, "output": nil, "files": openObject})
	case TypeSQL:
		return expr.Struct(map[string]*expr.Type{"rows": expr.ListOfType(nil), "rowsAffected": nil, "columns": expr.ListOfType(nil), "file": nil})
	case TypeEmail:
		return expr.Struct(map[string]*expr.Type{"messageId": textType})
	case TypeHuman:
		form := (*expr.Type)(nil)
		if schema := b.schemas[n.at("human", "form")]; schema != nil {
			form = expr.TypeOfSchema(schema.Source)
			if form != nil {
				form.Kind |= expr.Null
			}
		}
		return expr.Struct(map[string]*expr.Type{"outcome": textType, "form": form, "by": maybeText, "at": textType, "comment": maybeText, "votes": expr.ListOfType(nil)})
	case TypeWait:
		return expr.Struct(map[string]*expr.Type{"at": textType})
	case TypeEvent:
		payload := (*expr.Type)(nil)
		if schema := b.schemas[n.at("event", "schema")]; schema != nil {
			payload = expr.TypeOfSchema(schema.Source)
		}
		return expr.Struct(map[string]*expr.Type{"payload": payload, "id": textType, "receivedAt": textType, "events": &expr.Type{Kind: expr.List | expr.Null}})
	case TypeEmit:
		return expr.Struct(map[string]*expr.Type{"id": textType})
	case TypeWorkflow:
		return expr.Struct(map[string]*expr.Type{"output": nil, "executionId": textType, "status": textType})
	case TypeForEach:
		return expr.Struct(map[string]*expr.Type{"results": expr.ListOfType(nil), "failures": expr.ListOfType(nil), "completed": numberType, "failed": numberType})
	case TypeSwitch:
		return expr.Struct(map[string]*expr.Type{"outcome": textType})
	}
	return nil
}

// activityType is activities.<id> as others see it.
func activityType(outputs *expr.Type) *expr.Type {
	count := numberType
	return expr.Struct(map[string]*expr.Type{
		"status": textType, "outcome": maybeText, "decision": maybeText, "outputs": outputs, "output": outputs, "error": errorType,
		"attempts": count, "attempt": count, "startedAt": maybeText, "endedAt": maybeText, "finishedAt": maybeText,
	})
}

// surroundings are what the expressions of one list of activities may read.
type surroundings struct {
	graph   *Graph
	outer   *expr.Type            // activities visible from outside the list, nil = none
	roots   map[string]*expr.Type // inputs, vars, item…
	hook    bool
	outputs map[int]*expr.Type // of the activities checked so far
}

// doubtful marks outputs that may be null, so that reading a key of them asks for ?. or ??.
func doubtful(t *expr.Type, id string) *expr.Type {
	marked := expr.Type{Kind: expr.Object | expr.Null, Open: true}
	if t != nil {
		marked = *t
		marked.Kind |= expr.Null
	}
	marked.Doubt = fmt.Sprintf("activity %q may have been skipped or have failed on a way to here: its outputs are null then", id)
	return &marked
}

// scope is what activity i of the list may read; i = -1 is after the end of the list.
func (b *builder) scope(in *surroundings, i int, sure, visible indexSet) *expr.Scope {
	activities := expr.Struct(nil)
	activities.Named = true
	activities.Lookup = func(key string) (*expr.Type, bool) {
		a := in.graph.ByID[key]
		switch {
		case a == nil && in.outer != nil:
			return in.outer.Lookup(key)
		case a == nil || key == "" || !visible.has(a.Index):
			return nil, false
		case !sure.has(a.Index):
			return activityType(doubtful(in.outputs[a.Index], key)), true
		}
		return activityType(in.outputs[a.Index]), true
	}
	activities.Missing = func(key string) (string, string, string) { return b.missingActivity(in.graph, i, key) }
	roots := maps.Clone(in.roots)
	roots["activities"] = activities
	return &expr.Scope{Roots: roots, Absent: absentRoot}
}

func (b *builder) missingActivity(g *Graph, i int, key string) (code, message, hint string) {
	if a, here := g.ByID[key]; here {
		if a.Index == i {
			return "E307", fmt.Sprintf("activity %q reads itself", key), "its own result is result (in outputs) or self (in repeat)"
		}
		return "E307", fmt.Sprintf("activity %q does not come before this one", key), fmt.Sprintf("add it: needs: [%s]", key)
	}
	if where := b.elsewhere[key]; where != "" {
		return "E307", fmt.Sprintf("activity %q stands in %s and cannot be read here", key, where), "read the results of the loop, or use collect"
	}
	if near := expr.Nearest(key, sortedWords(slices.Collect(maps.Keys(b.elsewhere)))); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return expr.CodeActivity, fmt.Sprintf("there is no activity %q", key), hint
}

// absentRoot explains roots that exist, but not everywhere.
func absentRoot(root string) (code, message, hint string) {
	switch root {
	case "secrets":
		return "E502", "a secret cannot be read here: this place is stored", "use secrets in the inputs of http, script, sql, email, worker and ai only"
	case "result":
		return "E308", "result is known only in outputs", "read activities.<id>.outputs"
	case "self", "iteration":
		return "E308", root + " is known only where the activity repeats", "it belongs to repeat"
	case "error":
		return "E308", "error is known only in onError and in activities that need a port failure", "read activities.<id>.error"
	case "event":
		return "E308", "event is known only in where", "read activities.<id>.outputs.payload"
	case "item", "index":
		return "E308", root + " is known only inside a for_each", ""
	case "activities":
		return "E308", "activities cannot be read here: nothing has run yet", "use inputs, vars or trigger"
	case "inputs", "vars":
		return "E308", root + " cannot be read here", "use trigger"
	}
	return "", "", ""
}
