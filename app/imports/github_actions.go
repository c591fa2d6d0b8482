package imports

import (
	"fmt"
	"strings"
)

// githubActions reads a workflow file: each job becomes one script.
func githubActions(b *builder, document map[string]any) error {
	jobs := mapAt(document, "jobs")
	if len(jobs) == 0 {
		return fmt.Errorf("there are no jobs, so it is no GitHub Actions workflow")
	}
	if name := textAt(document, "name"); name != "" {
		b.name, b.description = name, name
	}
	b.githubStarts(document["on"])
	ids := map[string]string{}
	for _, job := range sortedKeys(jobs) {
		ids[job] = b.id(job)
	}
	l := newLinks()
	for _, job := range sortedKeys(jobs) {
		b.githubJob(ids, l, job, mapAt(jobs, job), mapAt(document, "env"))
	}
	return nil
}

func (b *builder) githubStarts(on any) {
	events, _ := on.(map[string]any)
	if events == nil {
		events = map[string]any{}
		for _, name := range textsOf(on) {
			events[name] = nil
		}
	}
	for _, event := range sortedKeys(events) {
		switch event {
		case "schedule":
			for _, each := range listAt(events, "schedule") {
				b.cron("on.schedule", textAt(each, "cron"), "")
			}
		case "workflow_dispatch", "workflow_call":
			for _, name := range sortedKeys(mapAt(events, event, "inputs")) {
				b.githubInput(name, mapAt(events, event, "inputs", name))
			}
		default:
			b.note("on."+event, "the event %s did not map: start the workflow by a webhook", event)
		}
	}
}

func (b *builder) githubInput(name string, declared map[string]any) {
	property := map[string]any{"type": "string"}
	switch textAt(declared, "type") {
	case "boolean":
		property["type"] = "boolean"
	case "number":
		property["type"] = "number"
	case "choice":
		property["enum"] = declared["options"]
	}
	if value, given := declared["default"]; given && value != "" {
		property["default"] = value
	}
	if text := textAt(declared, "description"); text != "" {
		property["description"] = text
	}
	b.properties[identifier(name)] = property
}

func (b *builder) githubJob(ids map[string]string, l *links, job string, settings, env map[string]any) {
	path, id := "jobs."+job, ids[job]
	var needs []string
	for _, need := range textsOf(settings["needs"]) {
		if ids[need] != "" && l.add(ids[need], id) {
			needs = append(needs, ids[need])
		}
	}
	if condition := textAt(settings, "if"); condition != "" {
		b.note(path+".if", "the condition %q did not map: write when", short(condition))
	}
	if uses := textAt(settings, "uses"); uses != "" {
		b.note(path+".uses", "the reusable workflow %s did not map: publish it and name it in a workflow activity, or let a worker do it", uses)
		b.add(activity(id, textAt(settings, "name"), "worker", needs, unknown(uses, settings["with"])))
		return
	}
	parts := map[string]any{"inputs": b.githubScript(path, settings, env)}
	if minutes := textAt(settings, "timeout-minutes"); minutes != "" && !strings.Contains(minutes, "{") {
		parts["timeout"] = minutes + "m"
	}
	if at(settings, "continue-on-error") == true {
		parts["onFailure"] = "continue"
	}
	for _, key := range []string{"services", "container", "outputs", "concurrency", "environment"} {
		if settings[key] != nil {
			b.note(path+"."+key, "%s did not map", key)
		}
	}
	b.githubMatrix(path, id, textAt(settings, "name"), needs, settings, parts)
}

// githubMatrix: a matrix of one dimension is a loop.
func (b *builder) githubMatrix(path, id, name string, needs []string, settings, parts map[string]any) {
	matrix := mapAt(settings, "strategy", "matrix")
	keys := sortedKeys(matrix)
	if len(keys) == 1 && len(listAt(matrix, keys[0])) > 0 {
		as := identifier(keys[0])
		inputs := mapAt(parts, "inputs")
		env, _ := inputs["env"].(map[string]any)
		if env == nil {
			env = map[string]any{}
			inputs["env"] = env
		}
		env["MATRIX_"+strings.ToUpper(as)] = "${{ item }}"
		b.note(path+".strategy.matrix", "the matrix is a loop now; the script reads the value as $MATRIX_%s", strings.ToUpper(as))
		body := map[string]any{"type": "script"}
		for key, value := range parts {
			body[key] = value
		}
		delete(body, "onFailure")
		b.add(activity(id, name, "for_each", needs, map[string]any{
			"for_each": map[string]any{"items": literal(matrix[keys[0]]), "activity": body}}))
		return
	}
	if len(keys) > 0 {
		b.note(path+".strategy.matrix", "the matrix did not map: use for_each")
	}
	b.add(activity(id, name, "script", needs, parts))
}

// githubScript joins the commands of all steps, for bash on a worker whose operator switched it on.
func (b *builder) githubScript(path string, settings, above map[string]any) map[string]any {
	lines := []string{"set -euo pipefail"}
	env := map[string]any{}
	b.githubEnv(env, path, above)
	b.githubEnv(env, path, mapAt(settings, "env"))
	for i, step := range listAt(settings, "steps") {
		where := fmt.Sprintf("%s.steps[%d]", path, i)
		title := textAt(step, "name")
		if uses := textAt(step, "uses"); uses != "" {
			b.note(where, "the action %s did not map: write the commands it stands for", uses)
			lines = append(lines, "# "+strings.TrimSpace(title+" (was: "+uses+")"))
			continue
		}
		if condition := textAt(step, "if"); condition != "" {
			b.note(where+".if", "the condition %q did not map", short(condition))
		}
		b.githubEnv(env, where, mapAt(step, "env"))
		if title != "" {
			lines = append(lines, "# "+title)
		}
		run := strings.TrimSpace(textAt(step, "run"))
		if strings.Contains(run, "${{") {
			b.note(where+".run", "expressions in the commands did not map: pass the values in env")
			run = strings.ReplaceAll(run, "${{", "$ {{")
		}
		lines = append(lines, run)
	}
	inputs := map[string]any{"language": "bash", "source": strings.Join(lines, "\n") + "\n"}
	if len(env) > 0 {
		inputs["env"] = env
	}
	return inputs
}

// githubEnv keeps values, secrets and inputs; other expressions are noted.
func (b *builder) githubEnv(into map[string]any, path string, env map[string]any) {
	for _, name := range sortedKeys(env) {
		value := textAt(env, name)
		expression, whole := strings.CutPrefix(strings.TrimSpace(value), "${{")
		expression = strings.TrimSpace(strings.TrimSuffix(expression, "}}"))
		root, key, _ := strings.Cut(expression, ".")
		switch {
		case !strings.Contains(value, "${{"):
			into[name] = value
		case whole && root == "secrets" && identifierLike(key):
			into[name] = "${{ secrets." + key + " }}"
		case whole && (root == "inputs" || strings.HasPrefix(expression, "github.event.inputs.")):
			key = identifier(expression[strings.LastIndexByte(expression, '.')+1:])
			if b.properties[key] == nil {
				b.properties[key] = map[string]any{"type": "string", "default": ""}
			}
			into[name] = "${{ inputs." + key + " }}"
		default:
			b.note(path+".env."+name, "the expression %s did not map", short(value))
			into[name] = literal(value)
		}
	}
}

func identifierLike(text string) bool {
	for _, r := range text {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	return text != ""
}
