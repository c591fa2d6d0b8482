package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// KeptTest is a case that was made of an execution and stands in the draft.
type KeptTest struct {
	Workflow string              `json:"workflow"`
	Name     string              `json:"name"`
	ETag     string              `json:"etag"` // of the draft
	Result   rehearse.CaseResult `json:"result"`
}

// largestKept is how many events a history may have to become a test: one of more would not be read by anybody.
const largestKept = 2000

// KeepTest adds a test case to the draft that is made of an ended execution: its input, what its activities came to,
// how it ended. What does not come out the same on the clock of a test (the order of branches, an output that holds
// a time) is not expected. Sensitive values stay masked.
func (e *Engine) KeepTest(ctx context.Context, who Who, id uuid.UUID, name string) (KeptTest, error) {
	detail, history, err := e.ended(ctx, who, id)
	if err != nil {
		return KeptTest{}, err
	}
	if name = strings.TrimSpace(name); name == "" {
		name = fmt.Sprintf("as on %s (%s)", detail.StartedAt.UTC().Format("2006-01-02 15:04:05"), id.String()[:8])
	}
	if len(name) > longestText || name != cleanText(name) {
		return KeptTest{}, Refuse("invalid_input", fmt.Sprintf("the name of a case has at most %d bytes of text", longestText))
	}
	version, err := e.Definition(ctx, who, id)
	if err != nil {
		return KeptTest{}, err
	}
	ran, err := flow.Load([]byte(version.Text))
	if err != nil {
		return KeptTest{}, err
	}
	text, etag, err := e.draftOrPublished(ctx, who, detail.Workflow)
	if err != nil {
		return KeptTest{}, err
	}
	suites, _ := flow.Tests([]byte(text)) // what is wrong with them is found below
	name = freeName(name, suites)
	kept := rehearse.Keep(ran, history, detail.Detail, name)
	switch _, result, err := e.withKept(ctx, who, version.Text, kept, detail.Workflow); {
	case err != nil:
		return KeptTest{}, err
	case !result.Passed:
		return KeptTest{}, notKept(result)
	}
	whole, result, err := e.withKept(ctx, who, text, kept, detail.Workflow)
	if err != nil {
		return KeptTest{}, err
	}
	draft, err := e.SaveDraft(ctx, who, detail.Workflow, whole, etag, etag == "")
	if err != nil {
		return KeptTest{}, err
	}
	return KeptTest{Workflow: detail.Workflow, Name: name, ETag: draft.ETag, Result: result}, nil
}

// freeName is the name, numbered when a case of the text has it: results are told apart by their names.
func freeName(name string, suites []flow.TestSuite) string {
	taken := map[string]bool{}
	for _, suite := range suites {
		for _, each := range suite.Cases {
			taken[each.Name] = true
		}
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s %d", name, n)
	}
	return free
}

// ended is an execution that has ended, with its whole history.
func (e *Engine) ended(ctx context.Context, who Who, id uuid.UUID) (ExecutionDetail, []execution.Event, error) {
	detail, err := e.Execution(ctx, who, id)
	switch {
	case err != nil:
		return detail, nil, err
	case !execution.IsTerminal(detail.Status) || detail.StartedAt == nil:
		return detail, nil, Refuse("conflict", "the execution has not ended yet: a test says how it ends")
	case detail.LastSeq > largestKept:
		return detail, nil, Refuse("too_large", fmt.Sprintf("the execution has %d events, a test is made of at most %d", detail.LastSeq, largestKept))
	}
	page, err := e.Events(ctx, who, id, 0, largestKept)
	return detail, page.Events, err
}

// draftOrPublished is the text that a change begins with, and the etag of the draft, "" when there is none.
func (e *Engine) draftOrPublished(ctx context.Context, who Who, name string) (text, etag string, err error) {
	draft, err := e.Draft(ctx, who, name)
	var refusal *Error
	if err != nil && !(errors.As(err, &refusal) && refusal.Code == "not_found") {
		return "", "", err
	}
	if err == nil {
		return draft.Text, draft.ETag, nil
	}
	text, err = e.textToTry(ctx, who, name, "")
	return text, "", err
}

// notKept says why an execution makes no test: the case of it does not pass on the very version that ran.
func notKept(result rehearse.CaseResult) error {
	why := make([]string, 0, len(result.Failures))
	for _, failure := range result.Failures[:min(len(result.Failures), 3)] {
		if failure.Path == "input" {
			failure.Message += " (sensitive values are masked in a test)"
		}
		why = append(why, failure.Message)
	}
	return Refuse("conflict", "a test cannot show what this execution went through, so none was added to the draft. Played again on a test's clock, "+
		strings.Join(why, "; "))
}

// withKept is a text with the case, without the expectations that the case itself does not meet.
func (e *Engine) withKept(ctx context.Context, who Who, text string, kept map[string]any, name string) ([]byte, rehearse.CaseResult, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseWithin)
	defer cancel()
	for {
		whole, err := flow.WithTest([]byte(text), name, kept)
		if err != nil {
			return nil, rehearse.CaseResult{}, Refuse("invalid_definition", "the draft cannot be read, so no test can be added to it: "+err.Error())
		}
		workflow, err := loadToTry(string(whole))
		if err != nil {
			return nil, rehearse.CaseResult{}, err
		}
		suites, _ := flow.Tests(whole) // a definition that loads has valid tests
		cases := suites[len(suites)-1].Cases
		runner := rehearse.Runner{Workflow: workflow, Library: e.library(ctx, who, workflow), Stopped: func() bool { return ctx.Err() != nil }}
		result := runner.Case(cases[len(cases)-1])
		if !dropUnmet(kept["expect"].(map[string]any), result.Failures) {
			return whole, result, nil
		}
	}
}

// dropUnmet takes expectations away that depend on more than what was kept, and reports whether it took any.
func dropUnmet(expect map[string]any, failures []rehearse.Failure) (dropped bool) {
	for _, failure := range failures {
		for _, part := range []string{"path", "output"} {
			if _, there := expect[part]; there && failure.Path == "expect."+part {
				delete(expect, part)
				dropped = true
			}
		}
	}
	return dropped
}
