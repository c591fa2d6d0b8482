package rehearse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/retry"
)

// check compares what happened with what a case expects. Without a word on the end, it has to complete.
func (o outcome) check(e flow.Expectation) (faults []Fault) {
	differs := func(part, want, got, format string, args ...any) {
		faults = append(faults, Fault{Path: "expect." + part, Message: fmt.Sprintf(format, args...), Expected: want, Got: got})
	}
	if e.Status == "" && e.Error == "" {
		e.Status = execution.StatusCompleted
	}
	if e.Status != "" && e.Status != o.status {
		differs("status", e.Status, o.status+o.because(), "the execution is %s, expected %s%s", o.status, e.Status, o.because())
	}
	if e.Error != "" && !o.failedWith(e.Error) {
		differs("error", e.Error, o.errorWords(), "expected the error %s, there is %s", e.Error, o.errorWords())
	}
	if e.Path != nil && !slices.Equal(e.Path, o.path) {
		differs("path", arrows(e.Path), arrows(o.path), "the path is %s, expected %s", arrows(o.path), arrows(e.Path))
	}
	if e.Skipped != nil && !sameWords(e.Skipped, o.skipped) {
		differs("skipped", words(e.Skipped), words(o.skipped), "skipped: %s, expected %s", words(o.skipped), words(e.Skipped))
	}
	if e.Duration != nil && *e.Duration != o.took {
		differs("duration", short(*e.Duration), short(o.took), "it took %s, expected %s", short(o.took), short(*e.Duration))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Attempts)) {
		if got := o.attempts[name]; got != e.Attempts[name] {
			differs("attempts."+name, attemptWords(e.Attempts[name]), attemptWords(got), "%s had %s, expected %d", name, attemptWords(got), e.Attempts[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Inputs)) {
		got := o.inputs[name]
		ran := got != nil
		if !ran {
			differs("inputs."+name, text(e.Inputs[name]), "no inputs", "%s had no inputs: it never ran, or its type has none", name)
		}
		for _, difference := range differences(e.Inputs[name], got, name, true) {
			if ran {
				differs("inputs."+name, difference.want, difference.got, "%s", difference)
			}
		}
	}
	if e.HasOutput {
		for _, difference := range differences(e.Output, o.output, "output", false) {
			differs("output", difference.want, difference.got, "%s", difference)
		}
	}
	return faults
}

func (o outcome) failedWith(pattern string) bool {
	return o.failure != nil && (o.failure.Type == pattern || retry.Matches([]string{pattern}, o.failure.Type, o.failure.Class))
}

func (o outcome) because() string {
	if o.failure == nil {
		return ""
	}
	return ": " + o.errorWords()
}

func (o outcome) errorWords() string {
	f := o.failure
	switch {
	case f == nil:
		return "none"
	case f.Activity != "":
		return fmt.Sprintf("%s at %s (%s)", f.Type, f.Activity, f.Message)
	}
	return fmt.Sprintf("%s (%s)", f.Type, f.Message)
}

func attemptWords(n int) string {
	switch n {
	case 0:
		return "no attempt"
	case 1:
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func arrows(path []string) string {
	if len(path) == 0 {
		return "empty"
	}
	return strings.Join(path, " → ")
}

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// mostDifferences are told of one value.
const mostDifferences = 5

// difference is a place at which a value is not what was wanted; "" = it is not there, or was not wanted.
type difference struct{ at, want, got string }

func (d difference) String() string {
	switch {
	case d.got == "":
		return fmt.Sprintf("%s is missing, expected %s", d.at, d.want)
	case d.want == "":
		return fmt.Sprintf("%s is %s, and was not expected", d.at, d.got)
	}
	return fmt.Sprintf("%s is %s, expected %s", d.at, d.got, d.want)
}

// differences says where got is not want. With loosely, keys of maps that are not wanted do not count.
func differences(want, got any, at string, loosely bool) (found []difference) {
	compare(want, got, at, loosely, &found)
	return found[:min(len(found), mostDifferences)]
}

func compare(want, got any, at string, loosely bool, found *[]difference) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			compareMaps(w, g, at, loosely, found)
			return
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			for i := range w {
				compare(w[i], g[i], fmt.Sprintf("%s[%d]", at, i), loosely, found)
			}
			return
		}
	}
	if !equal(want, got) {
		*found = append(*found, difference{at, text(want), text(got)})
	}
}

func compareMaps(want, got map[string]any, at string, loosely bool, found *[]difference) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, there := got[key]; there {
			compare(want[key], value, at+"."+key, loosely, found)
		} else {
			*found = append(*found, difference{at: at + "." + key, want: text(want[key])})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[key]; !wanted && !loosely {
			*found = append(*found, difference{at: at + "." + key, got: text(got[key])})
		}
	}
}

// equal compares plain values: 1 and 1.0 are the same number.
func equal(a, b any) bool {
	x, isX := number(a)
	y, isY := number(b)
	if isX && isY {
		return x == y
	}
	return text(a) == text(b)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// longestValue bounds a value in a message, in bytes.
const longestValue = 300

func text(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	all := strings.TrimSpace(out.String())
	if len(all) > longestValue {
		return strings.ToValidUTF8(all[:longestValue], "") + "…"
	}
	return all
}
