package imports

import (
	"fmt"
	"regexp"
	"strings"
)

// kestra reads a flow: tasks one after the other, with groups that run at once.
func kestra(b *builder, document map[string]any) error {
	tasks := listAt(document, "tasks")
	if len(tasks) == 0 {
		return fmt.Errorf("there are no tasks, so it is no Kestra flow")
	}
	b.name, b.description = textAt(document, "id"), textAt(document, "description")
	for _, each := range listAt(document, "inputs") {
		b.kestraInput(each)
	}
	for i, each := range listAt(document, "triggers") {
		path := fmt.Sprintf("triggers[%d]", i)
		if strings.HasSuffix(textAt(each, "type"), "Schedule") {
			b.cron(path, textAt(each, "cron"), textAt(each, "timezone"))
		} else {
			b.note(path, "the trigger %s did not map", textAt(each, "type"))
		}
	}
	for _, key := range []string{"errors", "finally", "afterExecution"} {
		if document[key] != nil {
			b.note(key, "%s did not map: write spec.onError or spec.onExit", key)
		}
	}
	b.kestraSequence("tasks", tasks, nil)
	return nil
}

func (b *builder) kestraInput(declared any) {
	kinds := map[string]string{"INT": "integer", "FLOAT": "number", "BOOLEAN": "boolean", "BOOL": "boolean", "JSON": "object", "ARRAY": "array"}
	property := map[string]any{"type": "string"}
	kind := textAt(declared, "type")
	if mapped := kinds[kind]; mapped != "" {
		property["type"] = mapped
	}
	if values := at(declared, "values"); values != nil && kind == "SELECT" {
		property["enum"] = values
	}
	if value := at(declared, "defaults"); value != nil {
		property["default"] = value
	}
	if text := textAt(declared, "description"); text != "" {
		property["description"] = text
	}
	b.properties[identifier(textAt(declared, "id"))] = property
}

// kestraSequence adds tasks that follow each other, and answers the last ones.
func (b *builder) kestraSequence(path string, tasks []any, before []string) []string {
	for i, task := range tasks {
		before = b.kestraTask(fmt.Sprintf("%s[%d]", path, i), task, before)
	}
	return before
}

// kestraTask adds a task and answers what the next one has to need.
func (b *builder) kestraTask(path string, task any, before []string) []string {
	kind := textAt(task, "type")
	name := kind[strings.LastIndexByte(kind, '.')+1:]
	switch name {
	case "Parallel":
		var ends []string
		for i, each := range listAt(task, "tasks") {
			ends = append(ends, b.kestraTask(fmt.Sprintf("%s.tasks[%d]", path, i), each, before)...)
		}
		return orElse(ends, before)
	case "Sequential", "WorkingDirectory", "AllowFailure":
		return b.kestraSequence(path+".tasks", listAt(task, "tasks"), before)
	case "If":
		return b.kestraIf(path, task, before)
	}
	id := b.id(textAt(task, "id"))
	ours, parts := b.kestraParts(path, id, name, task)
	if tries := textAt(task, "retry", "maxAttempts") + textAt(task, "retry", "maxAttempt"); tries != "" && (ours == "http" || ours == "script" || ours == "worker") {
		parts["retry"] = map[string]any{"attempts": firstOf(at(task, "retry", "maxAttempts"), at(task, "retry", "maxAttempt"))}
	}
	if at(task, "allowFailure") == true {
		parts["onFailure"] = "continue"
	}
	b.add(activity(id, textAt(task, "id"), ours, before, parts))
	return []string{id}
}

func firstOf(values ...any) any {
	for _, value := range values {
		if value != nil {
			return value
		}
	}
	return nil
}

func orElse(list, other []string) []string {
	if len(list) == 0 {
		return other
	}
	return list
}

// kestraIf is a switch whose condition somebody has to write.
func (b *builder) kestraIf(path string, task any, before []string) []string {
	id := b.id(textAt(task, "id"))
	b.add(activity(id, "", "switch", before, map[string]any{"switch": map[string]any{
		"cases": []any{map[string]any{"name": "holds", "when": b.choice(id, path+".condition", textAt(task, "condition"))}}, "default": "otherwise"}}))
	yes := b.kestraSequence(path+".then", listAt(task, "then"), []string{id + ".holds"})
	no := b.kestraSequence(path+".else", listAt(task, "else"), []string{id + ".otherwise"})
	return append(yes, no...)
}

func (b *builder) kestraParts(path, id, name string, task any) (string, map[string]any) {
	switch name {
	case "Request", "Download":
		if url := textAt(task, "uri"); url != "" {
			inputs := map[string]any{"url": b.pebble(path+".uri", url)}
			if method := textAt(task, "method"); method != "" {
				inputs["method"] = method
			}
			for from, to := range map[string]string{"headers": "headers", "body": "body"} {
				if value := at(task, from); value != nil {
					inputs[to] = b.pebbles(path+"."+from, value)
				}
			}
			return "http", map[string]any{"inputs": inputs}
		}
	case "Log", "Return":
		message := textAt(task, "message") + textAt(task, "format")
		if strings.Contains(message, "{{") {
			b.note(path, "expressions in its text did not map: they are kept as text")
		}
		return "set", map[string]any{"outputs": map[string]any{"message": asExpression(message)}}
	case "Sleep":
		return "wait", map[string]any{"wait": map[string]any{"timer": map[string]any{"after": textAt(task, "duration")}}}
	case "Pause":
		if pause := textAt(task, "delay") + textAt(task, "pauseDuration"); pause != "" {
			return "wait", map[string]any{"wait": map[string]any{"timer": map[string]any{"after": pause}}}
		}
		b.note(path, "%s waits for a person: say who may answer", id)
		return "human", map[string]any{"human": map[string]any{"title": "Go on with " + id + "?", "candidates": map[string]any{"groups": []any{"everybody"}}}}
	case "Subflow":
		if child := textAt(task, "flowId"); child != "" {
			parts := map[string]any{"workflow": map[string]any{"name": nameOf(child)}}
			if inputs := at(task, "inputs"); inputs != nil {
				parts["inputs"] = b.pebbles(path+".inputs", inputs)
			}
			return "workflow", parts
		}
	case "Fail":
		return "fail", map[string]any{"fail": map[string]any{"error": "own.failed", "message": literal(textAt(task, "errorMessage"))}}
	case "Commands", "Script":
		return b.kestraScript(path, task)
	}
	b.note(path, "%s has no counterpart: a worker of your own has to do it", textAt(task, "type"))
	return "worker", unknown(textAt(task, "type"), withoutKeys(task, "id", "type"))
}

func withoutKeys(task any, keys ...string) any {
	rest := map[string]any{}
	for key, value := range mapAt(task) {
		rest[key] = value
	}
	for _, key := range keys {
		delete(rest, key)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

func (b *builder) kestraScript(path string, task any) (string, map[string]any) {
	language := "bash"
	for word, ours := range map[string]string{".python.": "python", ".node.": "node"} {
		if strings.Contains(textAt(task, "type"), word) && strings.HasSuffix(textAt(task, "type"), "Script") {
			language = ours
		}
	}
	source := textAt(task, "script")
	if source == "" {
		source = strings.Join(textsOf(at(task, "commands")), "\n") + "\n"
	}
	if strings.Contains(source, "{{") {
		b.note(path, "expressions in the script did not map: pass the values in env")
		source = strings.ReplaceAll(source, "${{", "$ {{")
	}
	inputs := map[string]any{"language": language, "source": source}
	if env := mapAt(task, "env"); len(env) > 0 {
		inputs["env"] = b.pebbles(path+".env", env)
	}
	return "script", map[string]any{"inputs": inputs}
}

var kestraExpression = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)

// pebble turns {{ inputs.x }} and {{ secret('X') }} into expressions of ours; others are noted.
func (b *builder) pebble(path, text string) string {
	return kestraExpression.ReplaceAllStringFunc(text, func(found string) string {
		inner := kestraExpression.FindStringSubmatch(found)[1]
		if name, isInput := strings.CutPrefix(inner, "inputs."); isInput && identifierLike(name) {
			key := identifier(name)
			if b.properties[key] == nil {
				b.properties[key] = map[string]any{"type": "string", "default": ""}
			}
			return "${{ inputs." + key + " }}"
		}
		if name, isSecret := strings.CutPrefix(inner, "secret("); isSecret {
			if name = strings.Trim(name, `'") `); identifierLike(name) {
				return "${{ secrets." + name + " }}"
			}
		}
		b.note(path, "the expression %s did not map: it is kept as text", found)
		return found
	})
}

func (b *builder) pebbles(path string, value any) any {
	switch v := value.(type) {
	case string:
		return b.pebble(path, v)
	case map[string]any:
		object := map[string]any{}
		for key, each := range v {
			object[key] = b.pebbles(path, each)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = b.pebbles(path, v[i])
		}
		return list
	}
	return value
}
