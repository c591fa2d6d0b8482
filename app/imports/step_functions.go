package imports

import (
	"fmt"
	"slices"
	"strings"
)

// stepFunctions reads a state machine in the Amazon States Language.
func stepFunctions(b *builder, document map[string]any) error {
	states, start := mapAt(document, "States"), textAt(document, "StartAt")
	if len(states) == 0 || states[start] == nil {
		return fmt.Errorf("there are no States, or StartAt names none of them, so it is no state machine")
	}
	if text := textAt(document, "Comment"); text != "" {
		b.description = text
	}
	m := &machine{b: b, states: states, links: newLinks(), ids: map[string]string{}, needs: map[string][]any{}}
	m.visit(start)
	for _, name := range m.order {
		m.add(name)
	}
	for _, name := range sortedKeys(states) {
		if m.ids[name] == "" {
			b.note("States."+name, "nothing leads to the state %s", name)
		}
	}
	return nil
}

type machine struct {
	b      *builder
	states map[string]any
	links  *links
	ids    map[string]string
	needs  map[string][]any
	order  []string
}

// visit gives states their ids in the order in which they are reached, so that a way back is known as one.
func (m *machine) visit(start string) {
	m.declare(start)
	for i := 0; i < len(m.order); i++ {
		for _, way := range m.ways(m.order[i]) {
			m.declare(way.to)
			m.connect(m.order[i], way)
		}
	}
}

func (m *machine) declare(name string) {
	if m.ids[name] == "" && m.states[name] != nil {
		m.ids[name] = m.b.id(name)
		m.order = append(m.order, name)
	}
}

// way leads from a state to another.
type way struct {
	to, port string
	errors   []string
}

func (m *machine) ways(name string) (ways []way) {
	state := m.states[name]
	if next := textAt(state, "Next"); next != "" {
		ways = append(ways, way{to: next})
	}
	for i, choice := range listAt(state, "Choices") {
		ways = append(ways, way{to: textAt(choice, "Next"), port: fmt.Sprintf("case_%d", i+1)})
	}
	if standard := textAt(state, "Default"); standard != "" {
		ways = append(ways, way{to: standard, port: "otherwise"})
	}
	for _, catch := range listAt(state, "Catch") {
		ways = append(ways, way{to: textAt(catch, "Next"), port: "failure", errors: m.b.awsErrors("States."+name+".Catch", catch)})
	}
	return ways
}

func (m *machine) connect(from string, w way) {
	source, target := m.ids[from], m.ids[w.to]
	if target == "" {
		return
	}
	if !m.links.add(source, target) {
		m.b.note("States."+from, "the way back to %s did not map: use repeat", w.to)
		return
	}
	var need any = source
	switch {
	case len(w.errors) > 0:
		need = map[string]any{"id": source, "port": w.port, "errors": texts(w.errors)}
	case w.port != "":
		need = source + "." + w.port
	}
	m.needs[w.to] = append(m.needs[w.to], need)
}

// awsErrors: States.ALL is any error; own names keep theirs if they can.
func (b *builder) awsErrors(path string, catch any) []string {
	known := map[string][]string{
		"States.Timeout": {"timeout.attempt"}, "States.TaskFailed": nil, "States.ALL": nil, "Lambda.TooManyRequestsException": {"http.429"},
		"Lambda.ServiceException": {"http.5xx"}, "Lambda.AWSLambdaException": {"http.5xx"}, "Lambda.SdkClientException": {"transport.*"},
	}
	var patterns []string
	for _, name := range textsOf(at(catch, "ErrorEquals")) {
		mapped, ok := known[name]
		if ok && mapped == nil {
			return nil
		}
		if !ok {
			b.note(path, "the error %s is matched by the type own.%s", name, identifier(name))
			mapped = []string{"own." + identifier(name)}
		}
		patterns = append(patterns, mapped...)
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

func (m *machine) add(name string) {
	kind, parts := m.parts("States."+name, m.ids[name], mapAt(m.states, name))
	a := activity(m.ids[name], name, kind, nil, parts)
	if len(m.needs[name]) > 0 {
		a["needs"] = m.needs[name]
	}
	m.b.add(a)
}

func (m *machine) parts(path, id string, state map[string]any) (string, map[string]any) {
	switch textAt(state, "Type") {
	case "Pass", "Succeed":
		m.b.data(path, state)
		if result := at(state, "Result"); result != nil {
			return "set", map[string]any{"outputs": map[string]any{"result": asExpression(result)}}
		}
		return "set", map[string]any{"outputs": map[string]any{"reached": "true"}}
	case "Wait":
		return "wait", map[string]any{"wait": map[string]any{"timer": m.b.timer(path, state)}}
	case "Fail":
		kind := textAt(state, "Error")
		if !strings.Contains(kind, ".") {
			kind = "own." + identifier(kind)
		}
		return "fail", map[string]any{"fail": map[string]any{"error": literal(kind), "message": literal(textAt(state, "Cause"))}}
	case "Choice":
		return "switch", map[string]any{"switch": m.b.choices(path, id, state)}
	case "Task":
		return m.b.task(path, state)
	}
	m.b.note(path, "a state of type %s did not map: use for_each, or activities that need the same one", textAt(state, "Type"))
	return "worker", unknown("states."+strings.ToLower(textAt(state, "Type")), at(state, "Parameters"))
}

// data notes what moves data between states: here expressions read outputs by name.
func (b *builder) data(path string, state map[string]any) {
	for _, key := range []string{"InputPath", "OutputPath", "ResultPath", "ResultSelector", "Parameters", "Arguments", "Output", "Assign"} {
		if state[key] != nil {
			b.note(path+"."+key, "%s did not map: expressions read inputs and outputs by name", key)
		}
	}
}

func (b *builder) timer(path string, state map[string]any) map[string]any {
	if seconds := textAt(state, "Seconds"); seconds != "" {
		return map[string]any{"after": seconds + "s"}
	}
	if instant := textAt(state, "Timestamp"); instant != "" {
		return map[string]any{"at": instant}
	}
	b.note(path, "what it waits for did not map: it waits one hour")
	return map[string]any{"after": "1h"}
}

func (b *builder) task(path string, state map[string]any) (string, map[string]any) {
	b.data(path, state)
	resource := textAt(state, "Resource")
	kind, parts := "worker", unknown(resource, at(state, "Parameters"))
	endpoint := textAt(state, "Parameters", "ApiEndpoint") + textAt(state, "Arguments", "ApiEndpoint")
	if strings.HasSuffix(resource, "http:invoke") && strings.HasPrefix(endpoint, "http") {
		inputs := map[string]any{"url": literal(endpoint)}
		if method := textAt(state, "Parameters", "Method") + textAt(state, "Arguments", "Method"); method != "" {
			inputs["method"] = method
		}
		kind, parts = "http", map[string]any{"inputs": inputs}
	} else {
		b.note(path, "the resource %s has no counterpart: a worker of your own has to do it", resource)
	}
	if seconds := textAt(state, "TimeoutSeconds"); seconds != "" {
		parts["timeout"] = seconds + "s"
	}
	if tries := listAt(state, "Retry"); len(tries) > 0 {
		parts["retry"] = b.awsRetry(path, tries)
	}
	return kind, parts
}

func (b *builder) awsRetry(path string, tries []any) map[string]any {
	if len(tries) > 1 {
		b.note(path+".Retry", "only the first of %d retriers did map", len(tries))
	}
	first := tries[0]
	retry := map[string]any{}
	if most, ok := at(first, "MaxAttempts").(int64); ok {
		retry["attempts"] = min(max(most+1, 1), 100)
	}
	if seconds := textAt(first, "IntervalSeconds"); seconds != "" {
		retry["delay"] = seconds + "s"
	}
	if rate := textAt(first, "BackoffRate"); rate == "1" || rate == "1.0" {
		retry["strategy"] = "fixed"
	}
	if patterns := b.awsErrors(path+".Retry", first); len(patterns) > 0 {
		retry["errors"] = texts(patterns)
	}
	return retry
}

func (b *builder) choices(path, id string, state map[string]any) map[string]any {
	var cases []any
	for i, choice := range listAt(state, "Choices") {
		where := fmt.Sprintf("%s.Choices[%d]", path, i)
		when, ok := b.comparison(choice)
		if !ok {
			when = b.choice(fmt.Sprintf("%s_%d", id, i+1), where, short(choice))
		}
		cases = append(cases, map[string]any{"name": fmt.Sprintf("case_%d", i+1), "when": when})
	}
	decision := map[string]any{"cases": cases}
	if textAt(state, "Default") != "" {
		decision["default"] = "otherwise"
	}
	return decision
}

// comparison writes a choice over one value of the state's input, which becomes an input of the workflow.
func (b *builder) comparison(choice any) (string, bool) {
	variable := textAt(choice, "Variable")
	name, isPlain := strings.CutPrefix(variable, "$.")
	if !isPlain || !identifierLike(name) {
		return "", false
	}
	for ending, operator := range map[string]string{"GreaterThanEquals": ">=", "LessThanEquals": "<=", "GreaterThan": ">", "LessThan": "<", "Equals": "=="} {
		for prefix, kind := range map[string]string{"Numeric": "number", "String": "string", "Boolean": "boolean"} {
			if value := at(choice, prefix+ending); value != nil {
				key := identifier(name)
				b.properties[key] = map[string]any{"type": kind}
				b.note("Choices", "%s is the input %s now: read it from the activity that makes it, if one does", variable, key)
				return fmt.Sprintf("inputs.%s %s %s", key, operator, asExpression(value)), true
			}
		}
	}
	return "", false
}
