package human_test

import (
	"testing"
	"time"

	"weftline/engine/flow"
	"weftline/engine/human"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// board is an open task for the group board, changed as a case needs it.
func board(changes ...func(*human.Task)) human.Task {
	task := human.Task{
		Status: "open", Groups: []string{"board"}, Requester: "abe", Quorum: 1,
		Outcomes: []string{"approved", "rejected", "later"}, Due: now.Add(time.Hour), AllowComment: true,
	}
	for _, change := range changes {
		change(&task)
	}
	return task
}

func member(name string) human.Person {
	return human.Person{Name: name, Groups: []string{"staff", "board"}}
}

func TestWhoMayDecide(t *testing.T) {
	assigned := func(task *human.Task) { task.Groups, task.Assignee = nil, "mia" }
	named := func(task *human.Task) { task.Groups, task.Users = nil, []string{"mia"} }
	nobody := func(task *human.Task) { task.Groups = nil }
	claimed := func(task *human.Task) { task.Assignee = "ben" }
	barred := func(task *human.Task) { task.Barred = []string{"abe", "eve"} }
	for name, c := range map[string]struct {
		task human.Task
		who  human.Person
		code string
	}{
		"member of the group":              {board(), member("ben"), ""},
		"stranger":                         {board(), human.Person{Name: "olga", Groups: []string{"visitors"}}, "forbidden"},
		"assignee":                         {board(assigned), human.Person{Name: "mia"}, ""},
		"not the assignee":                 {board(assigned), member("ben"), "forbidden"},
		"named user":                       {board(named), human.Person{Name: "mia"}, ""},
		"nameless person of an unassigned": {board(nobody), human.Person{}, "forbidden"},
		"another claimed it":               {board(claimed), member("cleo"), ""},
		"who started it":                   {board(barred), member("abe"), "self_approval"},
		"who started it, allowed":          {board(), member("abe"), ""},
		"who decided before":               {board(barred), member("eve"), "forbidden"},
		"stand-in for everybody":           {board(assigned), human.Person{Name: "local", Groups: []string{human.Everybody}}, ""},
		"stand-in, barred":                 {board(barred), human.Person{Name: "abe", Groups: []string{human.Everybody}}, "self_approval"},
		"a group called as the person":     {board(func(task *human.Task) { task.Groups = []string{"ben"} }), human.Person{Name: "ben"}, "forbidden"},
	} {
		_, refusal := human.Decide(c.task, c.who, human.Answer{Outcome: "approved"}, now)
		if got := code(refusal); got != c.code {
			t.Errorf("%s: %q, want %q", name, got, c.code)
		}
		if got := code(human.MayDecide(c.task, c.who, now)); got != c.code {
			t.Errorf("%s: MayDecide says %q, want %q", name, got, c.code)
		}
	}
}

func code(refusal *human.Refusal) string {
	if refusal == nil {
		return ""
	}
	return refusal.Code
}

func TestWhenItIsTooLate(t *testing.T) {
	for _, status := range []string{"done", "expired", "cancelled"} {
		ended := board(func(task *human.Task) { task.Status = status })
		if _, refusal := human.Decide(ended, member("ben"), human.Answer{Outcome: "approved"}, now); code(refusal) != "conflict" {
			t.Errorf("%s: %v, want conflict", status, refusal)
		}
	}
	// The instant of the due itself is too late, also before the timer has acted on it.
	task := board()
	if _, refusal := human.Decide(task, member("ben"), human.Answer{Outcome: "approved"}, task.Due); code(refusal) != "conflict" {
		t.Errorf("at its due: %v, want conflict", refusal)
	}
	if _, refusal := human.Decide(task, member("ben"), human.Answer{Outcome: "approved"}, task.Due.Add(-time.Nanosecond)); refusal != nil {
		t.Errorf("just before its due: %v", refusal)
	}
	never := board(func(task *human.Task) { task.Due = time.Time{} })
	if _, refusal := human.Decide(never, member("ben"), human.Answer{Outcome: "approved"}, now.AddDate(9, 0, 0)); refusal != nil {
		t.Errorf("without a due: %v", refusal)
	}
}

func TestQuorum(t *testing.T) {
	three := func(votes ...human.Vote) human.Task {
		return board(func(task *human.Task) { task.Quorum, task.Votes = 3, votes })
	}
	yes := func(by string) human.Vote { return human.Vote{By: by, Outcome: "approved"} }
	for name, c := range map[string]struct {
		task    human.Task
		who     string
		outcome string
		ends    bool
		code    string
	}{
		"first yes":      {three(), "ben", "approved", false, ""},
		"second yes":     {three(yes("ben")), "cleo", "approved", false, ""},
		"third yes":      {three(yes("ben"), yes("cleo")), "dirk", "approved", true, ""},
		"twice the same": {three(yes("ben")), "ben", "approved", false, "conflict"},
		"changed mind":   {three(yes("ben")), "ben", "rejected", false, "conflict"},
		"one no":         {three(yes("ben"), yes("cleo")), "dirk", "rejected", true, ""},
		"another no":     {three(), "ben", "later", true, ""},
	} {
		ends, refusal := human.Decide(c.task, member(c.who), human.Answer{Outcome: c.outcome}, now)
		if ends != c.ends || code(refusal) != c.code {
			t.Errorf("%s: ends %v, code %q; want %v, %q", name, ends, code(refusal), c.ends, c.code)
		}
	}
}

func TestWhatAnAnswerHolds(t *testing.T) {
	amount := func(form any) []flow.Problem {
		if fields, _ := form.(map[string]any); fields["amount"] == nil {
			return []flow.Problem{{Path: "/form/amount", Message: "is missing"}}
		}
		return nil
	}
	form := func(task *human.Task) { task.CheckForm = amount }
	silent := func(task *human.Task) { task.AllowComment = false }
	filled := map[string]any{"amount": int64(3)}
	for name, c := range map[string]struct {
		task   human.Task
		answer human.Answer
		path   string
	}{
		"good":                        {board(form), human.Answer{Outcome: "approved", Form: filled, Comment: "fine"}, ""},
		"unknown decision":            {board(), human.Answer{Outcome: "maybe"}, "/decision"},
		"no decision":                 {board(), human.Answer{}, "/decision"},
		"form missing":                {board(form), human.Answer{Outcome: "approved"}, "/form/amount"},
		"form missing on a rejection": {board(form), human.Answer{Outcome: "rejected"}, "/form/amount"},
		"form nobody asked for":       {board(), human.Answer{Outcome: "approved", Form: filled}, "/form"},
		"empty form nobody asked for": {board(), human.Answer{Outcome: "approved", Form: map[string]any{}}, ""},
		"comment not allowed":         {board(silent), human.Answer{Outcome: "approved", Comment: "x"}, "/comment"},
	} {
		_, refusal := human.Decide(c.task, member("ben"), c.answer, now)
		path := ""
		if refusal != nil && len(refusal.Problems) > 0 {
			path = refusal.Problems[0].Path
		}
		if path != c.path || refusal != nil && refusal.Code != "invalid_input" {
			t.Errorf("%s: refused at %q (%v), want %q", name, path, refusal, c.path)
		}
	}
}

func TestClaimReleaseAssign(t *testing.T) {
	taken := board(func(task *human.Task) { task.Assignee = "ben" })
	done := board(func(task *human.Task) { task.Status = "done" })
	barred := board(func(task *human.Task) { task.Barred = []string{"abe"} })
	stranger := human.Person{Name: "olga"}
	for name, c := range map[string]struct {
		refusal *human.Refusal
		code    string
	}{
		"claim":                      {human.Claim(board(), member("ben")), ""},
		"claim again":                {human.Claim(taken, member("ben")), ""},
		"claim what another has":     {human.Claim(taken, member("cleo")), "conflict"},
		"claim as a stranger":        {human.Claim(board(), stranger), "forbidden"},
		"claim what is done":         {human.Claim(done, member("ben")), "conflict"},
		"release":                    {human.Release(taken, member("ben"), false), ""},
		"release what another has":   {human.Release(taken, member("cleo"), false), "conflict"},
		"admin releases for another": {human.Release(taken, stranger, true), ""},
		"release what nobody has":    {human.Release(board(), member("ben"), false), "conflict"},
		"assign":                     {human.Assign(board(), member("ben"), false, "olga"), ""},
		"assign as a stranger":       {human.Assign(board(), stranger, false, "olga"), "forbidden"},
		"assign what another has":    {human.Assign(taken, member("cleo"), false, "olga"), "conflict"},
		"admin assigns":              {human.Assign(taken, stranger, true, "olga"), ""},
		"assign to nobody":           {human.Assign(board(), member("ben"), false, " "), "invalid_input"},
		"assign to who is barred":    {human.Assign(barred, member("ben"), true, "abe"), "forbidden"},
		"comment":                    {human.Comment(board(), member("ben"), false, "hm"), ""},
		"comment of the requester":   {human.Comment(board(), human.Person{Name: "abe"}, false, "please"), ""},
		"comment of a stranger":      {human.Comment(board(), stranger, false, "hm"), "forbidden"},
		"empty comment":              {human.Comment(board(), member("ben"), false, " "), "invalid_input"},
		"keep a form":                {human.Keep(board(), member("ben")), ""},
		"keep a form as a stranger":  {human.Keep(board(), stranger), "forbidden"},
	} {
		if got := code(c.refusal); got != c.code {
			t.Errorf("%s: %q (%v), want %q", name, got, c.refusal, c.code)
		}
	}
}
