package engine

import (
	"fmt"
	"strings"

	"weftline/engine/flow"
)

// codeUnhonoured is of a setting that is part of the language and that this server does not act on: taking
// it silently would promise what is not kept.
const codeUnhonoured = "E608"

// unhonoured finds the settings of a workflow that would have no effect here.
func unhonoured(workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	for path, activity := range everyActivity(workflow) {
		if where := activity.Affinity; where != nil && len(where.Labels)+len(where.Prefer)+len(where.Queue) > 0 {
			problems = append(problems, cannotYet(path+".affinity", activity.Pos, "choose workers by labels or queue"))
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
