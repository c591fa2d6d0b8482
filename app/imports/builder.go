package imports

import (
	"fmt"
	"slices"
	"strings"
)

// builder collects the parts of a definition.
type builder struct {
	name, description string
	properties        map[string]any // of the input
	schedule          []any
	webhooks          []any
	activities        []any
	ids               map[string]bool
	notes             []Note
}

func (b *builder) note(path, format string, args ...any) {
	b.notes = append(b.notes, Note{path, fmt.Sprintf(format, args...)})
}

// reservedWords cannot be ids.
var reservedWords = []string{"yes", "no", "on", "off", "y", "n", "true", "false", "null"}

// id makes an unused id out of a name of the other system.
func (b *builder) id(text string) string {
	id := identifier(text)
	for base, n := id, 2; b.ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	b.ids[id] = true
	return id
}

func identifier(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "_"):
			out.WriteByte('_')
		}
	}
	id := strings.Trim(out.String(), "_")
	id = strings.TrimRight(id[:min(len(id), 55)], "_")
	switch {
	case id == "":
		return "step"
	case id[0] <= '9' || slices.Contains(reservedWords, id):
		return "step_" + id
	}
	return id
}

// activity makes an activity; parts are its block, inputs and policies.
func activity(id, name, kind string, needs []string, parts map[string]any) map[string]any {
	a := map[string]any{"id": id, "type": kind}
	if name != "" && name != id {
		a["name"] = name
	}
	if len(needs) > 0 {
		a["needs"] = texts(needs)
	}
	for key, value := range parts {
		if value != nil {
			a[key] = value
		}
	}
	return a
}

func (b *builder) add(a map[string]any) { b.activities = append(b.activities, a) }

// unknown keeps a step that has no counterpart: a worker of one's own can do it.
func unknown(task string, settings any) map[string]any {
	inputs := map[string]any{"task": task}
	if settings = literal(settings); settings != nil {
		inputs["input"] = settings
	}
	return map[string]any{"inputs": inputs}
}

// choice is a boolean input in place of a condition that cannot be read.
func (b *builder) choice(id, path, condition string) string {
	name := id + "_holds"
	b.properties[name] = map[string]any{"type": "boolean", "default": true, "description": "Was: " + condition}
	b.note(path, "the condition %q is the input %s now: write it as an expression", condition, name)
	return "inputs." + name
}

// literal keeps texts from being read as templates.
func literal(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "${{", "$${{")
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = literal(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, each := range v {
			object[key] = literal(each)
		}
		return object
	}
	return value
}

// The values of foreign documents: what is of another type counts as absent.

func mapAt(value any, path ...string) map[string]any {
	object, _ := at(value, path...).(map[string]any)
	return object
}

func listAt(value any, path ...string) []any {
	list, _ := at(value, path...).([]any)
	return list
}

func textAt(value any, path ...string) string {
	switch v := at(value, path...).(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func at(value any, path ...string) any {
	for _, key := range path {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// textsOf reads a text or a list of texts.
func textsOf(value any) []string {
	if text, ok := value.(string); ok {
		return []string{text}
	}
	var all []string
	list, _ := value.([]any)
	for _, each := range list {
		if text, ok := each.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

func texts(list []string) []any {
	all := make([]any, len(list))
	for i, text := range list {
		all[i] = text
	}
	return all
}

// cron keeps a line of five fields; others are noted.
func (b *builder) cron(path, line, zone string) {
	if len(strings.Fields(line)) != 5 || strings.ContainsAny(line, "LW#?") {
		b.note(path, "the cron line %q has no counterpart of five fields", line)
		return
	}
	entry := map[string]any{"cron": line}
	if zone != "" {
		entry["timezone"] = zone
	} else {
		entry["timezone"] = "UTC"
	}
	b.schedule = append(b.schedule, entry)
}

// links are the edges of a foreign graph, without those that lead back.
type links struct{ from map[string][]string }

func newLinks() *links { return &links{map[string][]string{}} }

// add notes an edge and refuses one that closes a circle.
func (l *links) add(source, target string) bool {
	if source == target || l.reaches(target, source) {
		return false
	}
	l.from[target] = append(l.from[target], source)
	return true
}

// reaches reports whether a comes, at any distance, before b.
func (l *links) reaches(a, b string) bool {
	seen, open := map[string]bool{}, []string{b}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, before := range l.from[at] {
			if before == a {
				return true
			}
			if !seen[before] {
				seen[before] = true
				open = append(open, before)
			}
		}
	}
	return false
}
