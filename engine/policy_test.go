package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"weftline/engine"
	"weftline/engine/flow"
	"weftline/engine/worker"
)

func (w *world) policy(change engine.PolicyChange) engine.Policy {
	w.t.Helper()
	policy, err := w.ChangePolicy(w.t.Context(), w.who, change)
	if err != nil {
		w.t.Fatal(err)
	}
	return policy
}

// audited counts the lines of the audit for an action.
func (w *world) audited(action string) int {
	w.t.Helper()
	page, err := w.Identity().Audit(w.t.Context(), w.who, engine.AuditFilter{Action: action})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(page.Items)
}

func wantProblem(t *testing.T, err error, code, path string) {
	t.Helper()
	var refusal *engine.Error
	if !errors.As(err, &refusal) || !slices.ContainsFunc(refusal.Problems, func(p flow.Problem) bool { return p.Code == code && p.Path == path && p.Line > 0 }) {
		t.Errorf("expected %s at %s: %+v", code, path, err)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *engine.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("expected %s, got %v", code, err)
	}
}

func (w *world) draft(name, spec string) {
	w.t.Helper()
	etag := "*"
	if _, err := w.Draft(w.t.Context(), w.who, name); err != nil {
		etag = ""
	}
	if _, err := w.SaveDraft(w.t.Context(), w.who, name, []byte(fmt.Sprintf(textHead, name)+spec), etag, etag == ""); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) publishing(name string) error {
	_, _, err := w.Publish(w.t.Context(), w.who, name, "")
	return err
}

const twoSteps = "  activities:\n    - {id: a, type: set, outputs: {x: \"1\"}}\n    - {id: b, type: http, needs: [a], inputs: {url: \"http://x.test\"}}\n"

func TestPolicyIsKeptCheckedAndAudited(t *testing.T) {
	w := newWorld(t)
	yes, two, days, types := true, 2, "30d", []string{"set", "http"}
	policy := w.policy(engine.PolicyChange{RequireReview: &yes, RequiredApprovals: &two, ExecutionRetention: &days, AllowedActivityTypes: &types})
	if !policy.RequireReview || policy.Approvals() != 2 || policy.Retention() != 30*24*time.Hour {
		t.Errorf("policy %+v", policy)
	}
	w.exec(`update teams set policy = policy || '{"later": 7}'`)
	no := false
	w.policy(engine.PolicyChange{RequireReview: &no})
	team, err := w.Team(t.Context(), w.who)
	if err != nil || team.Policy.RequireReview || team.Policy.RequiredApprovals != 2 || len(team.Members) != 1 || team.Members[0].Name != "ann" {
		t.Errorf("team %+v, %v", team, err)
	}
	var kept string
	if w.row(`select policy ->> 'later' from teams where id = $1`, w.who.Team, &kept); kept != "7" {
		t.Errorf("a key of another version became %q", kept)
	}
	if n := w.audited("policy.changed"); n != 2 {
		t.Errorf("%d changes audited", n)
	}
	minus, many, nonsense, bad, short := -1, 21, []string{"http", "teleport"}, "soon", "1h"
	for _, change := range []engine.PolicyChange{
		{RequiredApprovals: &minus}, {RequiredApprovals: &many}, {AllowedActivityTypes: &nonsense}, {ExecutionRetention: &bad}, {ExecutionRetention: &short},
		{Limits: &engine.PolicyLimitsChange{OpenExecutions: &minus}}, {Limits: &engine.PolicyLimitsChange{Activities: &minus}},
	} {
		_, err := w.ChangePolicy(t.Context(), w.who, change)
		wantCode(t, err, "invalid_input")
	}
}

// A type that the team does not allow is refused at publish; one that was published before fails its activity.
func TestForbiddenActivityTypesAreRefusedAtPublishAndBeforeDispatch(t *testing.T) {
	w := newWorld(t)
	w.publish("old", twoSteps)
	only := []string{"set"}
	w.policy(engine.PolicyChange{AllowedActivityTypes: &only})
	w.draft("new", twoSteps)
	wantProblem(t, w.publishing("new"), "E609", "spec.activities[1].type")
	detail := w.ends(w.start("old", nil), "failed")
	if detail.Error == nil || detail.Error.Type != "policy.activity_type" || detail.Error.Activity != "b" || detail.Activities["a"].Status != "completed" {
		t.Errorf("ended with %+v", detail.Error)
	}
	if n := w.audited("activity.refused"); n != 1 {
		t.Errorf("%d refusals audited", n)
	}
	if calls := len(w.http.made()); calls != 0 {
		t.Errorf("the forbidden activity ran %d times", calls)
	}
	only = nil
	w.policy(engine.PolicyChange{AllowedActivityTypes: &only})
	w.ends(w.start("old", nil), "completed")
}

// flowName is a workflow's for a mode.
func flowName(mode string) string { return strings.ReplaceAll(mode, "_", "-") }

// What is written with a start is asked for like all else.
func TestForbiddenTypesAreRefusedInTheFirstFlush(t *testing.T) {
	w := newWorld(t)
	modes := []string{worker.ModeServer, worker.ModeLocalSync, worker.ModeLocalAsync}
	for _, mode := range modes {
		w.publish(flowName(mode), setChain(mode, 2))
	}
	only := []string{"http"}
	w.policy(engine.PolicyChange{AllowedActivityTypes: &only})
	for i, mode := range modes {
		if detail := w.ends(w.start(flowName(mode), nil), "failed"); detail.Error == nil || detail.Error.Type != "policy.activity_type" || detail.Error.Activity != "s0" {
			t.Errorf("%s ended with %+v", mode, detail.Error)
		}
		if n := w.audited("activity.refused"); n != i+1 {
			t.Errorf("%s: %d refusals audited", mode, n)
		}
	}
}

func TestLimitsOfTheTeamAct(t *testing.T) {
	w := newWorld(t)
	w.publish("waits", "  activities:\n    - {id: a, type: wait, wait: {timer: {after: 1h}}}\n")
	one := 1
	w.policy(engine.PolicyChange{Limits: &engine.PolicyLimitsChange{OpenExecutions: &one, Activities: &one}})
	w.draft("two", twoSteps)
	wantProblem(t, w.publishing("two"), "E611", "spec.activities")
	w.start("waits", nil)
	_, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "waits"})
	wantCode(t, err, "limit_reached")
	_, err = w.StartBatch(t.Context(), w.who, "waits", 0, []engine.StartRequest{{}})
	wantCode(t, err, "limit_reached")
}

// A secret or connection that is for other workflows is refused at publish; one whose use was narrowed later
// is not opened any more.
func TestUsableByIsCheckedAtPublishAndAtUse(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.SecretKeys = [][]byte{make([]byte, 32)} })
	secret := func(patterns ...string) {
		t.Helper()
		if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "BANK", Value: "s3cr3t-1", UsableBy: append([]string{}, patterns...)}); err != nil {
			t.Fatal(err)
		}
	}
	const spec = "  activities:\n    - {id: a, type: http, inputs: {url: \"http://x.test\", headers: {A: \"${{ secrets.BANK }}\"}}}\n"
	secret("billing-*")
	w.draft("shop", spec)
	wantProblem(t, w.publishing("shop"), "E610", "spec.activities[0].inputs")
	w.publish("billing-month", spec)
	w.ends(w.start("billing-month", nil), "completed")
	secret("payroll")
	detail := w.ends(w.start("billing-month", nil), "failed")
	if detail.Error == nil || detail.Error.Type != "policy.secret" || strings.Contains(detail.Error.Message, "s3cr3t") {
		t.Errorf("ended with %+v", detail.Error)
	}
	if calls := len(w.http.made()); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	wantCode(t, w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "BANK", UsableBy: []string{"No Name"}}), "invalid_input")
	wantCode(t, w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "NONE", UsableBy: []string{"a"}}), "not_found")
}
