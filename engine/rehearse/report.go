package rehearse

import "weftline/engine/flow"

// Report is the result of a run of cases of one workflow.
type Report struct {
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Cases    []CaseResult `json:"cases"`
	Coverage Coverage     `json:"coverage"`
}

// Run runs cases in their order.
func (r *Runner) Run(cases []flow.TestCase) Report {
	report := Report{Cases: []CaseResult{}}
	for _, c := range cases {
		report.add(r.Case(c))
	}
	report.Coverage = r.Coverage()
	return report
}

func (r *Report) add(result CaseResult) {
	r.Cases = append(r.Cases, result)
	if result.Passed {
		r.Passed++
	} else {
		r.Failed++
	}
}
