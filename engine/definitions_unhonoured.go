package engine

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"weftline/engine/flow"
)

// codeUnhonoured is of a setting that is part of the language and that this server does not act on: taking
// it silently would promise what is not kept.
const codeUnhonoured = "E608"

// defaultRetention is what a definition that says nothing has.
const defaultRetention = 90 * 24 * time.Hour

// unhonoured finds the settings of a workflow that would have no effect here.
func unhonoured(workflow *flow.Workflow, text []byte) []flow.Problem {
	var problems []flow.Problem
	limits := workflow.Limits
	for _, limit := range []struct {
		key, lacks string
		set        bool
	}{
		{"maxPerSecond", "limit how many activities start a second", limits.MaxPerSecond > 0},
		{"maxMemory", "limit the memory of activities", limits.MaxMemory > 0},
		{"historyRetention", "delete executions after a time of their own", limits.HistoryRetention != defaultRetention},
	} {
		if limit.set {
			problems = append(problems, cannotYet("spec.limits."+limit.key, keyAt(text, limit.key), limit.lacks))
		}
	}
	for path, activity := range everyActivity(workflow) {
		if where := activity.Affinity; where != nil && len(where.Labels)+len(where.Prefer)+len(where.Queue) > 0 {
			problems = append(problems, cannotYet(path+".affinity", activity.Pos, "choose workers by labels or queue"))
		}
		if child := activity.Workflow; child != nil && child.DedupeKey != nil {
			problems = append(problems, cannotYet(path+".workflow.dedupeKey", activity.Pos, "start a child once for each key"))
		}
	}
	return problems
}

func cannotYet(path string, at flow.Pos, lacks string) flow.Problem {
	return flow.Problem{
		Path: path, Pos: at, Code: codeUnhonoured, Severity: "error",
		Message: fmt.Sprintf("this server cannot %s yet, so %s would have no effect", lacks, path[strings.LastIndexByte(path, '.')+1:]),
		Hint:    "remove the key",
	}
}

var upper = regexp.MustCompile(`[A-Z]`)

// keyAt finds the first key of a name, in either spelling; the beginning of the text when there is none.
func keyAt(text []byte, name string) flow.Pos {
	key := regexp.MustCompile(`\b(?:` + name + `|` + strings.ToLower(upper.ReplaceAllString(name, "_$0")) + `)\b"?\s*:`)
	for number, line := range strings.Split(string(text), "\n") {
		if at := key.FindStringIndex(line); at != nil {
			column := utf8.RuneCountInString(line[:at[0]]) + 1
			return flow.Pos{Line: number + 1, Column: column, EndLine: number + 1, EndColumn: column + utf8.RuneCountInString(name)}
		}
	}
	return flow.Pos{Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
}
