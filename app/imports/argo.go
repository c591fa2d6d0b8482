package imports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// argo reads a Workflow, WorkflowTemplate or CronWorkflow. The graph of the entry point becomes the
// activities; what its tasks run is written into them.
func argo(b *builder, document map[string]any) error {
	spec := mapAt(document, "spec")
	b.name = textAt(document, "metadata", "name") + textAt(document, "metadata", "generateName")
	if textAt(document, "kind") == "CronWorkflow" {
		b.argoSchedule(spec)
		spec = mapAt(spec, "workflowSpec")
	}
	w := &argoWorkflow{b: b, templates: map[string]map[string]any{}, links: newLinks()}
	for _, each := range listAt(spec, "templates") {
		w.templates[textAt(each, "name")], _ = each.(map[string]any)
	}
	entry := w.templates[textAt(spec, "entrypoint")]
	if entry == nil {
		return fmt.Errorf("spec.entrypoint names none of the templates, so it is no Argo workflow")
	}
	for _, each := range listAt(spec, "arguments", "parameters") {
		property := map[string]any{"type": "string"}
		if value := at(each, "value"); value != nil {
			property["default"] = textAt(each, "value")
		}
		b.properties[identifier(textAt(each, "name"))] = property
	}
	if textAt(spec, "onExit") != "" {
		b.note("spec.onExit", "the exit handler did not map: write spec.onExit")
	}
	w.entry(textAt(spec, "entrypoint"), entry)
	return nil
}

func (b *builder) argoSchedule(spec map[string]any) {
	for _, line := range append(textsOf(spec["schedules"]), textsOf(spec["schedule"])...) {
		b.cron("spec.schedule", line, textAt(spec, "timezone"))
	}
}

type argoWorkflow struct {
	b         *builder
	templates map[string]map[string]any
	links     *links
}

func (w *argoWorkflow) entry(name string, template map[string]any) {
	path := "spec.templates." + name
	switch {
	case template["dag"] != nil:
		w.dag(path, listAt(template, "dag", "tasks"))
	case template["steps"] != nil:
		w.steps(path, listAt(template, "steps"))
	default:
		w.task(path, w.b.id(name), map[string]any{"name": name, "template": name}, nil, "")
	}
}

func (w *argoWorkflow) dag(path string, tasks []any) {
	ids := map[string]string{}
	for _, task := range tasks {
		ids[textAt(task, "name")] = w.b.id(textAt(task, "name"))
	}
	for i, each := range tasks {
		task, _ := each.(map[string]any)
		id := ids[textAt(task, "name")]
		needs, join := w.needs(fmt.Sprintf("%s.dag.tasks[%d]", path, i), id, ids, task)
		w.task(fmt.Sprintf("%s.dag.tasks[%d]", path, i), id, task, needs, join)
	}
}

// ports of Argo's task results.
var argoPorts = map[string]string{"": "", "Succeeded": "", "Failed": ".failure", "Errored": ".failure", "Skipped": ".skipped", "Omitted": ".skipped", "Completed": ".done", "Daemoned": ""}

// needs reads dependencies, and depends with && or ||.
func (w *argoWorkflow) needs(path, id string, ids map[string]string, task map[string]any) (needs []string, join string) {
	conditions := textsOf(task["dependencies"])
	if depends := textAt(task, "depends"); depends != "" {
		if strings.Contains(depends, "||") {
			join = "any"
		}
		if strings.ContainsAny(depends, "!(") || strings.Contains(depends, "||") && strings.Contains(depends, "&&") {
			w.b.note(path+".depends", "%q is more than one kind of join: check needs and join", depends)
		}
		conditions = strings.FieldsFunc(strings.NewReplacer("&&", " ", "||", " ", "(", " ", ")", " ", "!", " ").Replace(depends), func(r rune) bool { return r == ' ' })
	}
	for _, condition := range conditions {
		name, result, _ := strings.Cut(condition, ".")
		port, known := argoPorts[result]
		if ids[name] == "" || !w.links.add(ids[name], id) && !slices.Contains(w.links.from[id], ids[name]) {
			w.b.note(path, "the dependency %q did not map", condition)
			continue
		}
		if !known {
			w.b.note(path, "the result %q did not map: it waits for success", condition)
		}
		if need := ids[name] + port; !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	if len(needs) < 2 {
		join = ""
	}
	return needs, join
}

// steps are groups one after the other.
func (w *argoWorkflow) steps(path string, groups []any) {
	var before []string
	for i, group := range groups {
		list, isList := group.([]any)
		if !isList {
			list = []any{group}
		}
		var now []string
		for j, each := range list {
			task, _ := each.(map[string]any)
			id := w.b.id(textAt(task, "name"))
			w.task(fmt.Sprintf("%s.steps[%d][%d]", path, i, j), id, task, before, "")
			now = append(now, id)
		}
		before = now
	}
}

// task writes what its template runs.
func (w *argoWorkflow) task(path, id string, task map[string]any, needs []string, join string) {
	template := w.templates[textAt(task, "template")]
	kind, parts := w.runs(path, id, task, template)
	if condition := textAt(task, "when"); condition != "" {
		w.b.note(path+".when", "the condition %q did not map: write when", condition)
	}
	if limit := textAt(template, "retryStrategy", "limit"); limit != "" && (kind == "script" || kind == "http") {
		var n int
		if _, err := fmt.Sscan(limit, &n); err == nil && n >= 0 {
			parts["retry"] = map[string]any{"attempts": min(n+1, 100)}
		}
	}
	if join != "" {
		parts["join"] = join
	}
	items := listAt(task, "withItems")
	if len(items) == 0 {
		if at(task, "withParam") != nil || at(task, "withSequence") != nil {
			w.b.note(path, "its loop did not map: use for_each")
		}
		w.b.add(activity(id, textAt(task, "name"), kind, needs, parts))
		return
	}
	body := map[string]any{"type": kind}
	for key, value := range parts {
		if key != "join" {
			body[key] = value
		}
	}
	loop := map[string]any{"for_each": map[string]any{"items": literal(items), "activity": body}}
	if join != "" {
		loop["join"] = join
	}
	w.b.add(activity(id, textAt(task, "name"), "for_each", needs, loop))
}

func (w *argoWorkflow) runs(path, id string, task, template map[string]any) (string, map[string]any) {
	switch {
	case template["script"] != nil:
		return w.script(path, task, textAt(template, "script", "image"), textAt(template, "script", "source"), mapAt(template, "script"))
	case template["container"] != nil:
		container := mapAt(template, "container")
		var words []string
		for _, word := range append(textsOf(container["command"]), textsOf(container["args"])...) {
			words = append(words, quoted(word))
		}
		return w.script(path, task, textAt(container, "image"), strings.Join(words, " ")+"\n", container)
	case template["http"] != nil:
		inputs := map[string]any{"url": literal(textAt(template, "http", "url"))}
		if method := textAt(template, "http", "method"); method != "" {
			inputs["method"] = method
		}
		return "http", map[string]any{"inputs": inputs}
	case template["suspend"] != nil:
		if duration := textAt(template, "suspend", "duration"); duration != "" {
			return "wait", map[string]any{"wait": map[string]any{"timer": map[string]any{"after": withUnit(duration)}}}
		}
		w.b.note(path, "%s waits for a person: say who may answer", id)
		return "human", map[string]any{"human": map[string]any{"title": "Go on with " + id + "?", "candidates": map[string]any{"groups": []any{"everybody"}}}}
	}
	reference := textAt(task, "template") + textAt(task, "templateRef", "name") + textAt(task, "templateRef", "template")
	w.b.note(path, "the template %q did not map: publish it and name it in a workflow activity, or let a worker do it", reference)
	return "worker", unknown(reference, at(task, "arguments"))
}

func withUnit(duration string) string {
	if strings.Trim(duration, "0123456789") == "" {
		return duration + "s"
	}
	return duration
}

// script runs in bash; the image is not used here.
func (w *argoWorkflow) script(path string, task map[string]any, image, source string, container map[string]any) (string, map[string]any) {
	language := "bash"
	for _, word := range textsOf(container["command"]) {
		if strings.Contains(word, "python") {
			language = "python"
		}
	}
	w.b.note(path, "it ran in the image %s: the worker needs the same programs", image)
	source, env := w.variables(path, source, language, task)
	for _, each := range listAt(container, "env") {
		if at(each, "value") != nil {
			env[textAt(each, "name")] = literal(textAt(each, "value"))
		} else {
			w.b.note(path+".env", "the value of %s did not map: use a secret", textAt(each, "name"))
		}
	}
	inputs := map[string]any{"language": language, "source": source}
	if len(env) > 0 {
		inputs["env"] = env
	}
	return "script", map[string]any{"inputs": inputs}
}

var argoVariable = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)

// variables turns {{…}} into variables of the environment.
func (w *argoWorkflow) variables(path, source, language string, task map[string]any) (string, map[string]any) {
	env := map[string]any{}
	source = argoVariable.ReplaceAllStringFunc(source, func(found string) string {
		name := argoVariable.FindStringSubmatch(found)[1]
		short := identifier(name[strings.LastIndexByte(name, '.')+1:])
		variable := strings.ToUpper(short)
		env[variable] = w.value(path, name, short, task)
		if language == "python" {
			return "__import__('os').environ['" + variable + "']"
		}
		return "${" + variable + "}"
	})
	return strings.ReplaceAll(source, "${{", "$ {{"), env
}

// value finds what a variable stands for: a parameter of the workflow, or the argument of the task.
func (w *argoWorkflow) value(path, name, short string, task map[string]any) string {
	if strings.HasPrefix(name, "inputs.parameters.") {
		for _, each := range listAt(task, "arguments", "parameters") {
			value := textAt(each, "value")
			if identifier(textAt(each, "name")) != short {
				continue
			}
			inner := argoVariable.FindStringSubmatch(value)
			switch {
			case inner == nil:
				return literal(value).(string)
			case inner[1] == "item":
				return "${{ item }}"
			case strings.HasPrefix(inner[1], "workflow.parameters."):
				name, short = inner[1], identifier(inner[1][len("workflow.parameters."):])
			}
		}
	}
	if name == "item" {
		return "${{ item }}"
	}
	if w.b.properties[short] == nil {
		w.b.properties[short] = map[string]any{"type": "string", "default": ""}
		w.b.note(path, "{{%s}} is the input %s now", name, short)
	}
	return "${{ inputs." + short + " }}"
}

// quoted writes a word for a shell; variables in it stay variables.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]#~!") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(word) + `"`
}
