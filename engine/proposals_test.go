package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"weftline/engine"
	"weftline/engine/flow"
)

// people are the members of a review: who authors, who reviews.
type people struct{ ann, ben, cem, admin engine.Who }

func (w *world) people() people {
	member := func(name string, roles ...string) engine.Who {
		return engine.Who{Team: w.who.Team, TeamName: w.who.TeamName, User: name, Roles: roles}
	}
	return people{member("ann", engine.RoleAuthor, engine.RoleReviewer), member("ben", engine.RoleReviewer), member("cem", engine.RoleAuthor, engine.RoleReviewer), w.who}
}

const (
	payOne = "  activities:\n    - {id: pay, type: set, timeout: 5s, outputs: {x: \"1\"}}\n    - {id: tell, type: set, needs: [pay], outputs: {z: \"1\"}}\n"
	payTwo = "  activities:\n    - {id: pay, type: set, timeout: 5s, outputs: {x: \"2\"}}\n    - {id: tell, type: set, needs: [pay], outputs: {z: \"1\"}}\n"
)

// reviewed is a world whose policy asks for one approval, with version 1 of pay published and a proposal of
// another content by ann.
func reviewed(t *testing.T) (*world, people, engine.ProposalID) {
	w := newWorld(t)
	w.publish("pay", strings.ReplaceAll(payOne, "timeout: 5s, ", ""))
	yes := true
	w.policy(engine.PolicyChange{RequireReview: &yes})
	p := w.people()
	w.draftBy(p.ann, "pay", strings.ReplaceAll(payTwo, "timeout: 5s, ", ""))
	made, err := w.Propose(t.Context(), p.ann, "pay", engine.ProposalRequest{Title: "Pay two", Reviewers: []string{"ben"}})
	if err != nil {
		t.Fatal(err)
	}
	if made.Number != 1 || made.State != "open" || made.Revision != 1 || *made.BaseVersion != 1 || made.Required != 1 || !slices.Equal(made.Editors, []string{"ann"}) {
		t.Fatalf("proposal %+v", made)
	}
	return w, p, engine.ProposalID{Workflow: "pay", Number: 1}
}

func (w *world) draftBy(who engine.Who, name, spec string) {
	w.t.Helper()
	before := w.who
	w.who = who
	defer func() { w.who = before }()
	w.draft(name, spec)
}

func (w *world) verdict(who engine.Who, id engine.ProposalID, verdict string) error {
	_, err := w.Review(w.t.Context(), who, id, engine.ReviewRequest{Verdict: verdict, Body: "so I think"})
	return err
}

func (w *world) publishProposal(who engine.Who, id engine.ProposalID) error {
	_, _, err := w.PublishProposal(w.t.Context(), who, id, "")
	return err
}

func (w *world) look(id engine.ProposalID) engine.ProposalDetail {
	w.t.Helper()
	detail, err := w.Proposal(w.t.Context(), w.who, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return detail
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAReviewLeadsFromProposalToVersion(t *testing.T) {
	w, p, id := reviewed(t)
	_, _, err := w.Publish(t.Context(), p.ann, "pay", "")
	wantCode(t, err, "review_required")
	wantCode(t, w.publishProposal(p.ann, id), "review_required")
	wantCode(t, w.verdict(p.ann, id, "approve"), "self_approval")
	w.must(w.verdict(p.ben, id, "request_changes"))
	if detail := w.look(id); detail.State != "changes_requested" || detail.Checks[2].OK || len(detail.Diff.Changes) != 1 || detail.Diff.Changes[0].ID != "pay" {
		t.Errorf("after the objection %+v", detail)
	}
	w.draftBy(p.ann, "pay", strings.ReplaceAll(payTwo, "timeout: 5s, ", "name: Pay, "))
	revised, err := w.Revise(t.Context(), p.ann, id)
	if err != nil || revised.Revision != 2 || revised.State != "changes_requested" {
		t.Errorf("revised %+v, %v", revised, err)
	}
	_, err = w.Review(t.Context(), p.ben, id, engine.ReviewRequest{Verdict: "approve", Revision: 1})
	wantCode(t, err, "conflict")
	w.must(w.verdict(p.ben, id, "approve"))
	detail := w.look(id)
	if detail.State != "approved" || slices.ContainsFunc(detail.Checks, func(c engine.Check) bool { return !c.OK }) {
		t.Errorf("after the approval %+v", detail.Checks)
	}
	version, created, err := w.PublishProposal(t.Context(), p.ann, id, "")
	if err != nil || !created || version.Version != 2 || version.Message != "Pay two" || version.ContentHash != detail.ContentHash {
		t.Errorf("published %+v, %v", version, err)
	}
	if ended := w.look(id); ended.State != "published" || *ended.Version != 2 || ended.Diff.Text == "" {
		t.Errorf("ended %+v", ended.Proposal)
	}
	wantCode(t, w.publishProposal(p.ann, id), "conflict")
	wantCode(t, w.verdict(p.ben, id, "approve"), "conflict")
	if n := w.audited("proposal"); n != 5 {
		t.Errorf("%d lines of the audit", n)
	}
	// A restored version goes the same way.
	if _, err := w.Restore(t.Context(), p.ann, "pay", 1); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Publish(t.Context(), p.ann, "pay", "")
	wantCode(t, err, "review_required")
}

// Whoever saved the draft is barred too, also when they approved before they touched it.
func TestEditorsCannotApprove(t *testing.T) {
	w, p, id := reviewed(t)
	w.must(w.verdict(p.cem, id, "approve"))
	w.draftBy(p.cem, "pay", strings.ReplaceAll(payTwo, "timeout: 5s, ", "")+"  # cem was here\n")
	if _, err := w.Revise(t.Context(), p.ann, id); err != nil {
		t.Fatal(err)
	}
	detail := w.look(id)
	if detail.State != "open" || detail.Approvals != 0 || !slices.Contains(detail.Editors, "cem") {
		t.Errorf("after cem worked on it: %+v", detail.Proposal)
	}
	wantCode(t, w.verdict(p.cem, id, "approve"), "self_approval")
	wantCode(t, w.publishProposal(p.ann, id), "review_required")
	yes := true
	w.policy(engine.PolicyChange{AllowSelfApproval: &yes})
	w.must(w.verdict(p.ann, id, "approve"))
	w.must(w.publishProposal(p.ann, id))
}

// Approvals stay when only comments changed, and go when the content did.
func TestANewRevisionDismissesApprovalsOfAnotherContent(t *testing.T) {
	w, p, id := reviewed(t)
	w.must(w.verdict(p.ben, id, "approve"))
	w.draftBy(p.ann, "pay", "  # only a comment\n"+strings.ReplaceAll(payTwo, "timeout: 5s, ", ""))
	if revised, err := w.Revise(t.Context(), p.ann, id); err != nil || revised.State != "approved" {
		t.Errorf("after a comment: %+v, %v", revised, err)
	}
	w.draftBy(p.ann, "pay", strings.ReplaceAll(strings.ReplaceAll(payTwo, "timeout: 5s, ", ""), `"2"`, `"3"`))
	revised, err := w.Revise(t.Context(), p.ann, id)
	if err != nil || revised.State != "open" || revised.Approvals != 0 {
		t.Errorf("after a change: %+v, %v", revised, err)
	}
	if reviews := w.look(id).Reviews; len(reviews) != 1 || !reviews[0].Dismissed {
		t.Errorf("reviews %+v", reviews)
	}
	_, err = w.Revise(t.Context(), p.ann, id)
	wantCode(t, err, "conflict")
}

// Two proposals against one base: the second is carried over, keeps its approval and its comments, and a field
// that both changed is decided by a person.
func TestRebaseCarriesAProposalOver(t *testing.T) {
	w, p, first := reviewed(t)
	comment, err := w.CommentProposal(t.Context(), p.ben, first, engine.CommentRequest{Activity: "pay", Body: "why two?"})
	w.must(err)
	_, err = w.CommentProposal(t.Context(), p.ben, first, engine.CommentRequest{Line: 6, Body: "this line"})
	w.must(err)
	w.must(w.verdict(p.ben, first, "approve"))
	plain := strings.ReplaceAll(payOne, "timeout: 5s, ", "")
	w.draftBy(p.cem, "pay", strings.Replace(plain, `{z: "1"}`, `{z: "7"}`, 1))
	made, err := w.Propose(t.Context(), p.cem, "pay", engine.ProposalRequest{Title: "Tell seven"})
	w.must(err)
	second := engine.ProposalID{Workflow: "pay", Number: made.Number}
	w.must(w.verdict(p.ben, second, "approve"))
	w.must(w.publishProposal(p.cem, second))

	wantCode(t, w.publishProposal(p.ann, first), "conflict")
	if stale := w.look(first); stale.Checks[1].OK || len(stale.Conflicts) != 0 {
		t.Errorf("checks %+v", stale.Checks)
	}
	rebased, err := w.Rebase(t.Context(), p.ann, first, nil)
	if err != nil || rebased.State != "approved" || *rebased.BaseVersion != 2 || rebased.Revision != 2 {
		t.Fatalf("rebased %+v, %v", rebased, err)
	}
	after := w.look(first)
	if len(after.Comments) != 2 || after.Comments[0].Outdated || after.Comments[1].Outdated {
		t.Errorf("comments %+v", after.Comments)
	}
	for _, who := range []engine.Who{p.ann, p.ben} { // the second finds it resolved, and leaves no line in the audit
		if resolved, err := w.ResolveComment(t.Context(), who, first, comment.ID); err != nil || resolved.ResolvedBy != p.ann.User {
			t.Errorf("resolved %+v, %v", resolved, err)
		}
	}
	told, err := w.Identity().Audit(t.Context(), p.admin, engine.AuditFilter{Action: "proposal.comment_resolved"})
	if err != nil || len(told.Items) != 1 {
		t.Errorf("%d lines tell that it was resolved: %v", len(told.Items), err)
	}
	w.must(w.publishProposal(p.ann, first))
	text, err := w.Version(t.Context(), w.who, "pay", 3)
	if err != nil || !strings.Contains(text.Text, `{x: "2"}`) || !strings.Contains(text.Text, `{z: "7"}`) {
		t.Errorf("version 3 is\n%s", text.Text)
	}
}

func TestConflictsAreDecidedFieldByField(t *testing.T) {
	w, p, first := reviewed(t)
	plain := strings.ReplaceAll(payOne, "timeout: 5s, ", "")
	w.draftBy(p.cem, "pay", strings.Replace(plain, `{x: "1"}`, `{x: "9"}`, 1))
	no, yes := false, true
	w.policy(engine.PolicyChange{RequireReview: &no})
	_, _, err := w.Publish(t.Context(), p.cem, "pay", "")
	w.must(err)
	w.policy(engine.PolicyChange{RequireReview: &yes})
	detail := w.look(first)
	if len(detail.Conflicts) != 1 || detail.Conflicts[0].Path != "spec.activities[pay].outputs.x" || detail.Conflicts[0].Published != "9" || detail.Conflicts[0].Proposed != "2" {
		t.Fatalf("conflicts %+v", detail.Conflicts)
	}
	_, err = w.Rebase(t.Context(), p.ann, first, nil)
	wantCode(t, err, "conflict")
	_, err = w.Rebase(t.Context(), p.ann, first, map[string]string{detail.Conflicts[0].Path: "mine"})
	wantCode(t, err, "invalid_input")
	if _, err := w.Rebase(t.Context(), p.ann, first, map[string]string{detail.Conflicts[0].Path: flow.Proposed}); err != nil {
		t.Fatal(err)
	}
	if after := w.look(first); len(after.Conflicts) != 0 || !after.Checks[1].OK || after.Diff.Changes[0].Fields[0].From != "9" {
		t.Errorf("after the choice %+v", after.Diff.Changes)
	}
}

// Of many who publish one approved proposal at once, one does.
func TestAProposalIsPublishedOnce(t *testing.T) {
	w, p, id := reviewed(t)
	w.must(w.verdict(p.ben, id, "approve"))
	var done, refused int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, _, err := w.PublishProposal(t.Context(), p.ann, id, "")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else {
				refused++
				wantCode(t, err, "conflict")
			}
		})
	}
	all.Wait()
	if done != 1 || refused != 19 {
		t.Errorf("%d published, %d refused", done, refused)
	}
}

// What is written beside the content is read before it goes live, as the content is.
func TestCommentsAndTestsAreReviewedToo(t *testing.T) {
	w, p, id := reviewed(t)
	ctx := t.Context()
	w.must(w.verdict(p.ben, id, "approve"))
	two, _, err := w.PublishProposal(ctx, p.ann, id, "")
	w.must(err)
	w.draftBy(p.ann, "pay", strings.ReplaceAll(payTwo, "timeout: 5s, ", "")+"\n# a word to the reader\n")
	_, _, err = w.Publish(ctx, p.ann, "pay", "")
	wantCode(t, err, "review_required")
	made, err := w.Propose(ctx, p.ann, "pay", engine.ProposalRequest{Title: "Words"})
	w.must(err)
	words := engine.ProposalID{Workflow: "pay", Number: made.Number}
	w.must(w.verdict(p.ben, words, "approve"))
	again, created, err := w.PublishProposal(ctx, p.ann, words, "")
	if err != nil || created || again.Version != two.Version || !strings.Contains(again.Text, "a word to the reader") {
		t.Errorf("published %v %+v, %v", created, again, err)
	}
}

func TestProposalsRefuseWhatMakesNoSense(t *testing.T) {
	w, p, id := reviewed(t)
	ctx := t.Context()
	_, err := w.Propose(ctx, p.ann, "pay", engine.ProposalRequest{})
	wantCode(t, err, "invalid_input")
	_, err = w.Propose(ctx, p.ann, "none", engine.ProposalRequest{Title: "x"})
	wantCode(t, err, "not_found")
	_, err = w.CommentProposal(ctx, p.ben, id, engine.CommentRequest{Activity: "nobody", Body: "x"})
	wantCode(t, err, "invalid_input")
	_, err = w.CommentProposal(ctx, p.ben, id, engine.CommentRequest{Line: 4000, Body: "x"})
	wantCode(t, err, "invalid_input")
	_, err = w.Review(ctx, p.ben, id, engine.ReviewRequest{Verdict: "maybe", Body: "x"})
	wantCode(t, err, "invalid_input")
	_, err = w.Rebase(ctx, p.ann, id, nil)
	wantCode(t, err, "conflict")
	_, err = w.ResolveComment(ctx, p.ann, id, 12345)
	wantCode(t, err, "not_found")
	stranger := p.ann
	stranger.Team = [16]byte{1}
	_, err = w.Proposal(ctx, stranger, id)
	wantCode(t, err, "not_found")
	w.must(w.CloseProposal(ctx, p.ann, id))
	wantCode(t, w.verdict(p.ben, id, "approve"), "conflict")
	page, err := w.Proposals(ctx, p.ben, engine.ProposalFilter{State: "closed"})
	if err != nil || len(page.Items) != 1 || page.Items[0].EndedBy != "ann" {
		t.Errorf("closed ones %+v, %v", page, err)
	}
	w.draftBy(p.ann, "pay", strings.ReplaceAll(payOne, "timeout: 5s, ", ""))
	_, err = w.Propose(ctx, p.ann, "pay", engine.ProposalRequest{Title: "the same"})
	wantCode(t, err, "conflict")
}
