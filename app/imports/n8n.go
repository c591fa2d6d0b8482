package imports

import (
	"fmt"
	"slices"
	"strings"
)

// n8n reads an exported workflow: nodes, and connections from node to node by name.
func n8n(b *builder, document map[string]any) error {
	nodes := listAt(document, "nodes")
	if len(nodes) == 0 {
		return fmt.Errorf("there are no nodes, so it is no n8n workflow")
	}
	if name := textAt(document, "name"); name != "" {
		b.name, b.description = name, name
	}
	g := &n8nGraph{b: b, ids: map[string]string{}, kinds: map[string]string{}, needs: map[string][]string{}}
	for i, each := range nodes {
		g.declare(fmt.Sprintf("nodes[%d]", i), each)
	}
	g.connect(mapAt(document, "connections"))
	for i, each := range nodes {
		if id := g.ids[textAt(each, "name")]; id != "" {
			g.add(fmt.Sprintf("nodes[%d]", i), id, each)
		}
	}
	if textAt(document, "settings", "errorWorkflow") != "" {
		b.note("settings.errorWorkflow", "the error workflow did not map: write spec.onError")
	}
	return nil
}

type n8nGraph struct {
	b     *builder
	ids   map[string]string // by name of the node; triggers and notes have none
	kinds map[string]string // by id
	needs map[string][]string
}

func n8nKind(node any) string {
	kind := textAt(node, "type")
	return kind[strings.LastIndexByte(kind, '.')+1:]
}

// declare gives a node its id, or makes a trigger of it.
func (g *n8nGraph) declare(path string, node any) {
	name, kind := textAt(node, "name"), n8nKind(node)
	switch {
	case kind == "stickyNote":
		return
	case kind == "webhook":
		g.b.webhook(path, textAt(node, "parameters", "path"))
		return
	case kind == "scheduleTrigger" || kind == "cron":
		g.b.n8nSchedule(path, mapAt(node, "parameters"))
		return
	case strings.HasSuffix(kind, "Trigger") || kind == "start":
		if kind != "manualTrigger" && kind != "start" {
			g.b.note(path, "the trigger %s (%s) did not map: start the workflow by a webhook, an event or a schedule", name, kind)
		}
		return
	}
	id := g.b.id(name)
	g.ids[name], g.kinds[id] = id, kind
	if at(node, "disabled") == true {
		g.b.note(path, "%s is disabled there and is not here: remove it, or give it a when", name)
	}
}

func (b *builder) webhook(path, address string) {
	address = "/" + strings.Trim(address, "/")
	if strings.ContainsAny(address, ":*{} ") || address == "/" {
		b.note(path, "the webhook path %q did not map", address)
		return
	}
	b.webhooks = append(b.webhooks, map[string]any{"path": address, "input": "{}", "auth": map[string]any{"type": "none"}})
	b.note(path, "the webhook %s starts without checking who calls and passes no input: add auth, and input from trigger.body", address)
}

func (b *builder) n8nSchedule(path string, parameters map[string]any) {
	for _, rule := range listAt(parameters, "rule", "interval") {
		if line := textAt(rule, "expression"); line != "" {
			b.cron(path, line, "")
			continue
		}
		units := map[string]string{"minutes": "m", "hours": "h", "days": "d", "weeks": "w", "seconds": "s"}
		field := textAt(rule, "field")
		if unit := units[field]; unit != "" {
			every := textAt(rule, field+"Interval")
			if every == "" {
				every = "1"
			}
			b.schedule = append(b.schedule, map[string]any{"every": every + unit})
			continue
		}
		b.note(path, "the schedule %v did not map", rule)
	}
}

// connect reads the edges. The outputs of a decision are its ports.
func (g *n8nGraph) connect(connections map[string]any) {
	l := newLinks()
	for _, source := range sortedKeys(connections) {
		from := g.ids[source]
		for output, targets := range listAt(connections[source], "main") {
			list, _ := targets.([]any)
			for _, target := range list {
				to := g.ids[textAt(target, "node")]
				if from == "" || to == "" {
					continue
				}
				if !l.add(from, to) {
					g.b.note("connections."+source, "the way back from %s to %s did not map: use repeat or for_each", source, textAt(target, "node"))
					continue
				}
				need := from + n8nPort(g.kinds[from], output)
				if !slices.Contains(g.needs[to], need) {
					g.needs[to] = append(g.needs[to], need)
				}
			}
		}
	}
}

func n8nPort(kind string, output int) string {
	switch kind {
	case "if", "filter":
		return []string{".holds", ".otherwise"}[min(output, 1)]
	case "switch":
		return fmt.Sprintf(".case_%d", output+1)
	}
	return ""
}

func (g *n8nGraph) add(path, id string, node any) {
	kind, parts := g.parts(path, id, node)
	if tries := textAt(node, "maxTries"); at(node, "retryOnFail") == true && tries != "" && slices.Contains([]string{"http", "email", "script", "worker"}, kind) {
		parts["retry"] = map[string]any{"attempts": at(node, "maxTries")}
	}
	if at(node, "continueOnFail") == true || strings.HasPrefix(textAt(node, "onError"), "continue") {
		parts["onFailure"] = "continue"
	}
	g.b.add(activity(id, textAt(node, "name"), kind, g.needs[id], parts))
}

// parts are what a node becomes.
func (g *n8nGraph) parts(path, id string, node any) (kind string, parts map[string]any) {
	p := mapAt(node, "parameters")
	switch n8nKind(node) {
	case "httpRequest":
		return "http", g.http(path, p)
	case "if", "filter":
		condition := g.b.choice(id, path, short(p["conditions"]))
		return "switch", map[string]any{"switch": map[string]any{
			"cases": []any{map[string]any{"name": "holds", "when": condition}}, "default": "otherwise"}}
	case "switch":
		return "switch", g.cases(path, id, p)
	case "set":
		return "set", map[string]any{"outputs": g.fields(path, p)}
	case "noOp", "merge":
		return "set", map[string]any{"outputs": map[string]any{"reached": "true"}}
	case "wait":
		unit := map[string]string{"seconds": "s", "minutes": "m", "hours": "h", "days": "d"}[textAt(p, "unit")]
		if amount := textAt(p, "amount"); amount != "" && !strings.HasPrefix(amount, "=") {
			if unit == "" {
				unit = "h"
			}
			return "wait", map[string]any{"wait": map[string]any{"timer": map[string]any{"after": amount + unit}}}
		}
		g.b.note(path, "what %s waits for did not map: it waits one hour", id)
		return "wait", map[string]any{"wait": map[string]any{"timer": map[string]any{"after": "1h"}}}
	case "code", "function", "functionItem":
		source := textAt(p, "jsCode") + textAt(p, "functionCode")
		if source != "" {
			g.b.note(path, "the code of %s reads items of n8n, which are not there: read the global input, and return a value", id)
			return "script", map[string]any{"inputs": map[string]any{"language": "javascript", "source": source}}
		}
	case "executeWorkflow":
		if child := textAt(p, "workflowId", "cachedResultName"); child != "" {
			return "workflow", map[string]any{"workflow": map[string]any{"name": nameOf(child)}}
		}
	case "emailSend":
		if to := textAt(p, "toEmail"); to != "" {
			g.expressions(path, p)
			return "email", map[string]any{"inputs": map[string]any{"to": literal(to), "subject": literal(textAt(p, "subject")), "text": literal(textAt(p, "text") + textAt(p, "message"))}}
		}
	}
	g.b.note(path, "%s (%s) has no counterpart: a worker of your own has to do it", textAt(node, "name"), textAt(node, "type"))
	return "worker", unknown(textAt(node, "type"), at(node, "parameters"))
}

func (g *n8nGraph) http(path string, p map[string]any) map[string]any {
	g.expressions(path, p)
	inputs := map[string]any{"url": literal(strings.TrimPrefix(textAt(p, "url"), "="))}
	if method := textAt(p, "method") + textAt(p, "requestMethod"); method != "" && method != "GET" {
		inputs["method"] = method
	}
	for key, place := range map[string]string{"headerParameters": "headers", "queryParameters": "query"} {
		values := map[string]any{}
		for _, each := range listAt(p, key, "parameters") {
			if name := textAt(each, "name"); name != "" {
				values[name] = literal(textAt(each, "value"))
			}
		}
		if len(values) > 0 {
			inputs[place] = values
		}
	}
	if body := textAt(p, "jsonBody"); body != "" {
		inputs["body"] = literal(strings.TrimPrefix(body, "="))
	}
	if textAt(p, "authentication") != "" && textAt(p, "authentication") != "none" {
		g.b.note(path, "its credentials did not map: add auth with a secret or a connection")
	}
	return map[string]any{"inputs": inputs}
}

// cases: which one is taken is an input until somebody writes the conditions.
func (g *n8nGraph) cases(path, id string, p map[string]any) map[string]any {
	n := max(len(listAt(p, "rules", "values")), len(listAt(p, "rules", "rules")), 1)
	for _, needs := range g.needs {
		for _, need := range needs {
			var taken int
			if _, err := fmt.Sscanf(need, id+".case_%d", &taken); err == nil {
				n = max(n, taken)
			}
		}
	}
	input := id + "_case"
	g.b.properties[input] = map[string]any{"type": "integer", "default": 1, "minimum": 1, "maximum": n}
	g.b.note(path, "the rules of %s are the input %s now: write them as expressions", id, input)
	var cases []any
	for i := range n {
		cases = append(cases, map[string]any{"name": fmt.Sprintf("case_%d", i+1), "when": fmt.Sprintf("inputs.%s == %d", input, i+1)})
	}
	return map[string]any{"switch": map[string]any{"cases": cases}}
}

func (g *n8nGraph) fields(path string, p map[string]any) map[string]any {
	outputs := map[string]any{}
	for _, list := range [][]any{listAt(p, "assignments", "assignments"), listAt(p, "values", "string"), listAt(p, "values", "number")} {
		for _, each := range list {
			name, value := textAt(each, "name"), at(each, "value")
			if name == "" {
				continue
			}
			if text, ok := value.(string); ok && strings.HasPrefix(text, "=") {
				g.b.note(path, "the expression %s of %s did not map: it is a text now", text, name)
			}
			outputs[identifier(name)] = asExpression(value)
		}
	}
	if len(outputs) == 0 {
		outputs["reached"] = "true"
	}
	return outputs
}

// expressions notes the first expression of n8n in settings that are kept as text.
func (g *n8nGraph) expressions(path string, p map[string]any) {
	if text := short(p); strings.Contains(text, "{{") {
		g.b.note(path, "expressions of n8n ({{ … }}) did not map: they are kept as text")
	}
}
