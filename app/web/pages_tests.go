package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/rehearse"
	"weftline/views/state"
	testsview "weftline/views/tests"
)

// tests lists the test cases of a workflow.
func (p *Pages) tests(c *fiber.Ctx) error {
	view, err := p.testCases(c)
	if err != nil {
		return err
	}
	view.Kept, view.KeptFails = c.Query("kept"), c.Query("fails") != ""
	return p.showTests(c, view)
}

// keepTest makes a test case of an ended execution and leads to the tests.
func (p *Pages) keepTest(c *fiber.Ctx) error {
	id, err := idOf(c, "execution")
	if err != nil {
		return err
	}
	typed, err := posted(c)
	if err != nil {
		return err
	}
	kept, err := p.Door.KeepTest(c.UserContext(), ViewOf(c).Who, id, typed.Get("name"))
	if err != nil {
		return err
	}
	asks := url.Values{"kept": {kept.Name}}
	if !kept.Result.Passed {
		asks.Set("fails", "1")
	}
	return seeOther(c, "/workflows/"+kept.Workflow+"/tests?"+asks.Encode())
}

// mostPast executions are offered to be kept as tests.
const mostPast = 8

// pastToKeep are the newest ended executions that a test could be made of.
func (p *Pages) pastToKeep(c *fiber.Ctx, workflow string) ([]testsview.Past, error) {
	list, err := p.Door.Executions(c.UserContext(), ViewOf(c).Who, engine.ExecutionFilter{Workflow: workflow,
		Status: []string{"completed", "failed", "timed_out", "cancelled", "compensated"}, PageRequest: engine.PageRequest{Limit: mostPast}})
	past := make([]testsview.Past, 0, len(list.Items))
	for _, each := range list.Items {
		past = append(past, testsview.Past{ID: each.ID.String(), Look: state.Of(each.Status), StartedAt: each.StartedAt, StartedBy: each.StartedBy})
	}
	return past, err
}

// runTests runs them and shows the results. A run has no effect, so the answer is the page itself.
func (p *Pages) runTests(c *fiber.Ctx) error {
	view, err := p.testCases(c)
	if err != nil {
		return err
	}
	report, err := p.Door.RunTests(c.UserContext(), ViewOf(c).Who, view.Name, engine.TestRequest{})
	var refusal *engine.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == "invalid_definition":
		view.Refused = "The draft is not valid, so its tests cannot run. Correct it in the designer first."
		for _, problem := range refusal.Problems {
			view.Problems = append(view.Problems, fmt.Sprintf("Line %d: %s", problem.Line, problem.Message))
		}
		c.Status(fiber.StatusUnprocessableEntity)
	case err != nil:
		return err
	default:
		showReport(&view, report)
	}
	return p.showTests(c, view)
}

func (p *Pages) showTests(c *fiber.Ctx, view testsview.View) error {
	if view.MayKeep = May(c, auth.Author); view.MayKeep {
		past, err := p.pastToKeep(c, view.Name)
		if err != nil {
			return err
		}
		view.Past = past
	}
	view.Now = now()
	frame := p.frame(c, "Tests", "workflows", workflowsCrumb(), workflowCrumb(view.Name))
	if len(view.Cases) > 0 {
		frame.Actions = testsview.Run(view.Name, view.CSRF, true)
	}
	return Render(c, testsview.Page(frame, view))
}

// testCases are the cases as they stand in the text. A workflow without any text has none.
func (p *Pages) testCases(c *fiber.Ctx) (testsview.View, error) {
	view := testsview.View{Name: c.Params("name"), CSRF: ViewOf(c).CSRF}
	cases, err := p.Door.Tests(c.UserContext(), ViewOf(c).Who, view.Name)
	for _, each := range cases {
		view.Cases = append(view.Cases, testsview.Case{Name: each.Name, Line: each.Line})
	}
	return view, err
}

func showReport(view *testsview.View, report rehearse.Report) {
	view.Ran, view.Passed, view.Failed, view.Percent = true, report.Passed, report.Failed, report.Coverage.Percent
	for _, kind := range []struct {
		what string
		of   rehearse.Covered
	}{{"Activities", report.Coverage.Activities}, {"Outcomes", report.Coverage.Ports}, {"Switch cases", report.Coverage.Cases}} {
		if kind.of.Total > 0 {
			view.Coverage = append(view.Coverage, testsview.Covered{What: kind.what, Covered: kind.of.Covered, Total: kind.of.Total, Missing: kind.of.Missing})
		}
	}
	view.Cases = view.Cases[:0]
	for _, result := range report.Cases {
		view.Cases = append(view.Cases, testCase(result))
	}
}

func testCase(result rehearse.CaseResult) testsview.Case {
	row := testsview.Case{Name: result.Name, Line: result.Line, Passed: result.Passed, Ended: state.Of(result.Status),
		Error: result.Error, Took: result.Duration, Path: strings.Join(result.Path, " → ")}
	if result.Status == "" {
		row.Ended = state.Look{Tone: "idle", Mark: "ring", Word: "Never began"}
	}
	for _, failure := range result.Failures {
		row.Failures = append(row.Failures, testsview.Failure{Line: failure.Line, Part: strings.TrimPrefix(failure.Path, "expect."),
			Message: failure.Message, Expected: failure.Expected, Got: failure.Got})
	}
	for _, note := range result.Notes {
		row.Notes = append(row.Notes, "After "+note.At+": "+note.Text)
	}
	return row
}
