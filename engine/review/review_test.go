package review_test

import (
	"slices"
	"testing"

	"weftline/engine/flow"
	"weftline/engine/review"
)

func TestTheLastVerdictOfEachReviewerCounts(t *testing.T) {
	approve, object, remark := review.Approve, review.RequestChanges, review.Comment
	for name, c := range map[string]struct {
		verdicts []review.Verdict
		barred   []string
		needed   int
		state    string
	}{
		"nothing":               {nil, nil, 0, "open"},
		"approved":              {[]review.Verdict{{"ben", approve, false}}, nil, 1, "approved"},
		"one of two":            {[]review.Verdict{{"ben", approve, false}}, nil, 2, "open"},
		"one person twice":      {[]review.Verdict{{"ben", approve, false}, {"ben", approve, false}}, nil, 2, "open"},
		"a remark after":        {[]review.Verdict{{"ben", approve, false}, {"ben", remark, false}}, nil, 1, "approved"},
		"objection withdrawn":   {[]review.Verdict{{"ben", object, false}, {"ben", approve, false}}, nil, 1, "approved"},
		"approval withdrawn":    {[]review.Verdict{{"ben", approve, false}, {"ben", object, false}}, nil, 1, "changes_requested"},
		"another one objects":   {[]review.Verdict{{"ben", approve, false}, {"cem", object, false}}, nil, 1, "changes_requested"},
		"dismissed":             {[]review.Verdict{{"ben", approve, true}}, nil, 1, "open"},
		"dismissed, then again": {[]review.Verdict{{"ben", approve, true}, {"ben", approve, false}}, nil, 1, "approved"},
		"barred":                {[]review.Verdict{{"ann", approve, false}}, []string{"ann"}, 1, "open"},
		"barred may object":     {[]review.Verdict{{"ann", object, false}}, []string{"ann"}, 1, "changes_requested"},
	} {
		if got := review.State(review.Open, review.Count(c.verdicts, c.barred), c.needed); got != c.state {
			t.Errorf("%s: %s, expected %s", name, got, c.state)
		}
	}
}

func TestApprovalsHoldForTheSameChangeOnly(t *testing.T) {
	was := review.Revision{ContentHash: "a", Changes: "x"}
	for name, c := range map[string]struct {
		now  review.Revision
		want bool
	}{
		"comments only":           {review.Revision{ContentHash: "a", Changes: "x"}, true},
		"rebased, same change":    {review.Revision{ContentHash: "b", Changes: "x", Rebased: true}, true},
		"rebased, another change": {review.Revision{ContentHash: "b", Changes: "y", Rebased: true}, false},
		"edited to look the same": {review.Revision{ContentHash: "b", Changes: "x"}, false},
	} {
		if got := review.Keeps(was, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

const head = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: w}\nspec:\n"

func side(t *testing.T, spec string, secrets map[string]string) review.Definition {
	t.Helper()
	workflow, err := flow.Load([]byte(head + spec))
	if err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	plain, err := flow.Plain([]byte(head + spec))
	if err != nil {
		t.Fatal(err)
	}
	return review.Definition{Activities: workflow.Graph.Activities, Secrets: secrets, Plain: plain}
}

func TestRisksAreNamed(t *testing.T) {
	const ask = `    - {id: ask, type: human, human: {title: Ok?, assignee: ben, notActor: true, due: 1h, outcomes: [approved, rejected]}}` + "\n"
	call := func(url string) string { return `    - {id: call, type: http, inputs: {url: "` + url + `"}}` + "\n" }
	old := "  activities:\n" + ask + call("https://a.test/x")
	for name, c := range map[string]struct {
		spec    string
		secrets map[string]string
		want    []string
	}{
		"nothing":             {old, nil, nil},
		"secret":              {old, map[string]string{"BANK": "call"}, []string{"secret_added"}},
		"host":                {"  activities:\n" + ask + call("https://b.test:8443/${{ execution.id }}"), nil, []string{"host_added"}},
		"type":                {old + `    - {id: run, type: script, inputs: {language: javascript, source: "return 1"}}` + "\n", nil, []string{"type_new"}},
		"approval gone":       {"  activities:\n" + call("https://a.test/x"), nil, []string{"approval_removed"}},
		"approval weakened":   {"  activities:\n    - {id: ask, type: human, human: {title: Ok?, assignee: ben, notActor: false, due: 1h, outcomes: [approved, rejected]}}\n" + call("https://a.test/x"), nil, []string{"approval_weakened"}},
		"silence is approval": {"  activities:\n    - {id: ask, type: human, human: {title: Ok?, assignee: ben, notActor: true, due: 1h, onDue: approved, outcomes: [approved, rejected]}}\n" + call("https://a.test/x"), nil, []string{"timeout_decides"}},
		"schedule":            {"  schedule: [{every: 1h}]\n" + old, nil, []string{"schedule_changed"}},
	} {
		changes, err := flow.Compare([]byte(head+old), []byte(head+c.spec))
		if err != nil {
			t.Fatal(err)
		}
		risks := review.Risks(side(t, old, nil), side(t, c.spec, c.secrets), changes, func(kind string) bool { return kind == "http" || kind == "human" })
		var codes []string
		for _, risk := range risks {
			codes = append(codes, risk.Code)
		}
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: %v, expected %v", name, risks, c.want)
		}
	}
}
