package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Mocks say what activities come to, by name: the id, "<id>/compensate" for what undoes it, and
// "<id>/<id in the child>" for an activity of the child that a workflow activity starts.
type Mocks map[string]*mock

// mock is what one activity comes to.
type mock struct {
	answers []answer // by attempt; the last one stays
	items   map[string]*mock
}

// answer is what one attempt comes to.
type answer struct {
	value      any  // outputs as successors read them
	raw        bool // value is the result, before outputs
	failure    *execution.Error
	takes      time.Duration
	retryAfter time.Duration
}

// Keys that make a map a description of an answer, and those that may stand beside them.
var (
	answerKeys = []string{"result", "outputs", "error", "items", "takes"}
	besideKeys = append([]string{"message", "detail", "class", "retryAfter"}, answerKeys...)
)

// ParseMocks reads mocks as they stand in a test: outputs, {result}, {outputs}, {error}, a list of these by
// attempt, or {items: {key: …}}. Each fault's Path is below "mocks".
func ParseMocks(wf *flow.Workflow, source map[string]any) (Mocks, []Fault) {
	mocks, faults := Mocks{}, []Fault{}
	for _, name := range slices.Sorted(maps.Keys(source)) {
		fault := func(format string, args ...any) {
			faults = append(faults, Fault{Path: "mocks." + name, Activity: name, Message: fmt.Sprintf(format, args...)})
		}
		if complaint := mockable(wf, name); complaint != "" {
			fault("%s", complaint)
			continue
		}
		m, err := parseMock(source[name])
		if err != nil {
			fault("%v", err)
			continue
		}
		mocks[name] = m
	}
	return mocks, faults
}

// mockable says why an activity cannot be mocked, "" = it can. What is below a child is not known here.
func mockable(wf *flow.Workflow, name string) string {
	id, below, nested := strings.Cut(name, "/")
	act := activities(wf)[id]
	switch {
	case act == nil:
		hint := ""
		if near := expr.Nearest(id, slices.Sorted(maps.Keys(activities(wf)))); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return fmt.Sprintf("there is no activity %q%s", id, hint)
	case nested && below == "compensate" && act.Compensate != nil, nested && act.Type == flow.TypeWorkflow:
		return ""
	case nested:
		return fmt.Sprintf("%q has nothing named %q: an activity with compensate has %s/compensate, one that starts a child has %[1]s/<id in the child>", id, below, id)
	}
	switch act.Type {
	case flow.TypeForEach:
		return fmt.Sprintf("%q runs a graph for each item: mock the activities in it", id)
	case flow.TypeSet, flow.TypeSwitch, flow.TypeFail, flow.TypeEnd, flow.TypeEmit, flow.TypeWait:
		return fmt.Sprintf("%q is a %s, which runs for real here: it needs no mock", id, act.Type)
	}
	return ""
}

func parseMock(source any) (*mock, error) {
	list, isList := source.([]any)
	if !isList {
		list = []any{source}
	}
	m := &mock{}
	for _, each := range list {
		a, items, err := parseAnswer(each)
		if err != nil {
			return nil, err
		}
		if items != nil && isList {
			return nil, fmt.Errorf("items stand beside a list, not in it: {items: {key: [first, second]}}")
		}
		m.items = items
		if a != nil {
			m.answers = append(m.answers, *a)
		}
	}
	if len(m.answers) == 0 && m.items == nil {
		return nil, fmt.Errorf("an empty list says nothing about the first attempt")
	}
	return m, nil
}

// parseAnswer reads one answer; nil when the source holds items only.
func parseAnswer(source any) (*answer, map[string]*mock, error) {
	object, ok := source.(map[string]any)
	if !ok || !describesAnswer(object) {
		return &answer{value: source}, nil, nil
	}
	items, err := parseItems(object)
	if err != nil {
		return nil, nil, err
	}
	a := &answer{}
	if a.takes, err = durationIn(object, "takes"); err != nil {
		return nil, nil, err
	}
	if a.retryAfter, err = durationIn(object, "retryAfter"); err != nil {
		return nil, nil, err
	}
	result, isRaw := object["result"]
	outputs, isOutputs := object["outputs"]
	kind, isError := object["error"].(string)
	switch {
	case count(isRaw)+count(isOutputs)+count(isError) > 1:
		return nil, nil, fmt.Errorf("give one of result, outputs and error")
	case isError:
		a.failure = failureOf(kind, object)
	case isRaw:
		a.value, a.raw = result, true
	case isOutputs:
		a.value = outputs
	case items != nil:
		return nil, items, nil
	}
	return a, items, nil
}

func describesAnswer(object map[string]any) bool {
	says := false
	for key, value := range object {
		if !slices.Contains(besideKeys, key) {
			return false
		}
		_, isText := value.(string)
		says = says || slices.Contains(answerKeys, key) && (key != "error" || isText)
	}
	return says
}

func parseItems(object map[string]any) (map[string]*mock, error) {
	source, given := object["items"]
	if !given {
		return nil, nil
	}
	byKey, ok := source.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("items is a map from the key of an item to its mock")
	}
	items := make(map[string]*mock, len(byKey))
	for key, each := range byKey {
		m, err := parseMock(each)
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", key, err)
		}
		items[key] = m
	}
	return items, nil
}

func durationIn(object map[string]any, key string) (time.Duration, error) {
	value, given := object[key]
	if !given {
		return 0, nil
	}
	text, _ := value.(string)
	d, err := expr.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return d, nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// failureOf makes an error as a worker would: by default its class follows from its type.
func failureOf(kind string, object map[string]any) *execution.Error {
	f := &execution.Error{Type: kind, Class: classOf(kind), Message: "mocked " + kind, Detail: object["detail"]}
	if message, ok := object["message"].(string); ok {
		f.Message = message
	}
	if class, ok := object["class"].(string); ok {
		f.Class = class
	}
	return f
}

func classOf(kind string) string {
	first, _, _ := strings.Cut(kind, ".")
	switch first {
	case "engine":
		return "infrastructure"
	case "http", "transport", "timeout", "sql", "child":
		return "external"
	}
	return "activity"
}

// find answers for an attempt, counted from 1, of an activity or of an item of it.
func (m Mocks) find(name, item string, attempt int) (answer, bool) {
	found := m[name]
	if found == nil {
		return answer{}, false
	}
	if item != "" && found.items != nil {
		last := item[strings.LastIndexByte(item, '/')+1:]
		for _, key := range []string{item, last} {
			if of := found.items[key]; of != nil {
				found = of
				break
			}
		}
	}
	if len(found.answers) == 0 {
		return answer{}, false
	}
	return found.answers[min(max(attempt, 1), len(found.answers))-1], true
}
