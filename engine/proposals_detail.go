package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weftline/engine/flow"
	"weftline/engine/review"
	"weftline/queries"
)

// dossier is all that is stored of one proposal.
type dossier struct {
	row       queries.Proposal
	revision  queries.ProposalRevision // the one under review
	workflow  queries.Workflow
	reviews   []queries.ProposalReview
	comments  []queries.ProposalComment
	revisions []queries.ListRevisionsRow
	policy    Policy
}

func (c *catalog) dossier(ctx context.Context, who Who, id ProposalID) (dossier, error) {
	row, err := c.proposal(ctx, who, id)
	if err != nil {
		return dossier{}, err
	}
	d := dossier{row: row}
	workflow, errWorkflow := c.q.WorkflowByName(ctx, who.Team, id.Workflow)
	d.workflow = workflow.Workflow
	var errs [5]error
	d.revision, errs[0] = revisionAt(ctx, c.q, row, row.Revision)
	d.reviews, errs[1] = c.q.ListReviews(ctx, who.Team, id.Workflow, row.Number)
	d.comments, errs[2] = c.q.ListComments(ctx, who.Team, id.Workflow, row.Number)
	d.revisions, errs[3] = c.q.ListRevisions(ctx, who.Team, id.Workflow, row.Number)
	d.policy, errs[4] = c.policies.of(ctx, who.Team)
	if err := errors.Join(append(errs[:], errWorkflow)...); err != nil {
		return d, fmt.Errorf("read proposal %d of %s: %w", id.Number, id.Workflow, err)
	}
	return d, nil
}

func revisionAt(ctx context.Context, q *queries.Queries, row queries.Proposal, revision int32) (queries.ProposalRevision, error) {
	return q.RevisionByNumber(ctx, row.TeamID, row.Workflow, row.Number, revision)
}

// Proposal is one proposal with its diff, reviews, comments, checks, conflicts and risks.
func (c *catalog) Proposal(ctx context.Context, who Who, id ProposalID) (ProposalDetail, error) {
	d, err := c.dossier(ctx, who, id)
	if err != nil {
		return ProposalDetail{}, err
	}
	base, err := c.baseText(ctx, who, id.Workflow, d.revision.BaseVersion)
	if err != nil {
		return ProposalDetail{}, err
	}
	detail := ProposalDetail{Proposal: proposalOf(d.row, d.policy, d.reviews), Description: d.row.Description,
		ContentHash: d.revision.ContentHash, Current: optionalInt(d.workflow.PublishedVersion), Conflicts: []flow.Conflict{},
		Reviews: each(d.reviews, reviewOf), Revisions: each(d.revisions, revisionOf), Comments: []Comment{}}
	label := "nothing"
	if d.revision.BaseVersion != nil {
		label = fmt.Sprint(*d.revision.BaseVersion)
	}
	if detail.Diff, err = c.diffOf(ctx, who, d.workflow, side{label, base}, side{"proposal", d.revision.Text}); err != nil {
		return detail, err
	}
	if detail.Comments, err = c.commentsOf(ctx, d); err != nil {
		return detail, err
	}
	if detail.Checks, detail.Conflicts, err = c.checks(ctx, who, d, base); err != nil {
		return detail, err
	}
	detail.Risks = c.risks(ctx, who, d, base, detail.Diff.Changes)
	refusal := mayApprove(who, d.row, d.policy)
	if detail.MayApprove = refusal == nil; refusal != nil {
		detail.WhyNot = refusal.Message
	}
	return detail, nil
}

func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, item := range list {
		out[i] = f(item)
	}
	return out
}

func revisionOf(row queries.ListRevisionsRow) Revision {
	return Revision{Revision: int(row.Revision), ContentHash: row.ContentHash, BaseVersion: optionalInt(row.BaseVersion),
		Kind: row.Kind, By: row.MadeBy, At: row.MadeAt}
}

// baseText is the text of a version, empty for none.
func (c *catalog) baseText(ctx context.Context, who Who, workflow string, version *int32) ([]byte, error) {
	if version == nil {
		return nil, nil
	}
	row, err := findVersion(ctx, c.q, who, workflow, int(*version))
	return row.Text, err
}

// checks are the conditions of publishing an open proposal; what was done with an ended one stands in its state.
func (c *catalog) checks(ctx context.Context, who Who, d dossier, base []byte) ([]Check, []flow.Conflict, error) {
	if d.row.State != review.Open {
		return []Check{}, []flow.Conflict{}, nil
	}
	conflicts := []flow.Conflict{}
	onBase := Check{Name: "base", OK: sameVersion(d.row.BaseVersion, d.workflow.PublishedVersion), Message: "made against what is published"}
	if !onBase.OK {
		current, err := c.baseText(ctx, who, d.row.Workflow, d.workflow.PublishedVersion)
		if err != nil {
			return nil, nil, err
		}
		_, found, err := flow.Merge(orNothing(base, d.row.Workflow), orNothing(current, d.row.Workflow), d.revision.Text, nil)
		conflicts = append(conflicts, found...)
		switch {
		case err != nil:
			onBase.Message = "another version was published meanwhile, and the two cannot be merged: " + err.Error()
		case len(found) > 0:
			onBase.Message = "another version was published meanwhile, with " + count(len(found), "conflict") + " to decide"
		default:
			onBase.Message = "another version was published meanwhile; rebase carries the change over"
		}
	}
	tally := tallyOf(d.row, d.policy, d.reviews)
	return []Check{c.definitionCheck(ctx, who, d), onBase, reviewsCheck(tally), approvalsCheck(tally, d.policy)}, conflicts, nil
}

func (c *catalog) definitionCheck(ctx context.Context, who Who, d dossier) Check {
	report, references := c.judge(ctx, who, d.row.Workflow, d.revision.Text)
	problems := append(report.Errors, references...)
	check := Check{Name: "definition", OK: len(problems) == 0, Message: "the definition can be published", Errors: problems}
	if !check.OK {
		check.Message = "the definition has " + count(len(problems), "error")
	}
	return check
}

func reviewsCheck(tally review.Tally) Check {
	check := Check{Name: "reviews", OK: len(tally.Objecting) == 0, Message: "nobody asks for changes"}
	if !check.OK {
		check.Message = strings.Join(tally.Objecting, ", ") + " asked for changes"
	}
	return check
}

func approvalsCheck(tally review.Tally, policy Policy) Check {
	check := Check{Name: "approvals", OK: len(tally.Approved) >= policy.Approvals()}
	switch {
	case policy.Approvals() == 0:
		check.Message = "the policy of the team asks for no approval"
	default:
		check.Message = fmt.Sprintf("%d of %s", len(tally.Approved), count(policy.Approvals(), "approval"))
	}
	if len(tally.Approved) > 0 {
		check.Message += ", by " + strings.Join(tally.Approved, ", ")
	}
	return check
}

func sameVersion(a, b *int32) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// orNothing is a text, or the definition without anything in it.
func orNothing(text []byte, workflow string) []byte {
	if len(text) > 0 {
		return text
	}
	return fmt.Appendf(nil, nothing, workflow)
}

// risks are notes for reviewers; a look-up that fails calls a type new rather than known.
func (c *catalog) risks(ctx context.Context, who Who, d dossier, base []byte, changes []flow.Change) []review.Risk {
	return review.Risks(riskSide(base), riskSide(d.revision.Text), changes, func(kind string) bool {
		known, err := c.q.TeamUsesType(ctx, who.Team, d.row.Workflow, kind)
		return err == nil && known
	})
}

func riskSide(text []byte) review.Definition {
	side := review.Definition{}
	workflow, err := flow.Load(text)
	if err != nil {
		return side
	}
	for _, step := range everyActivity(workflow) {
		side.Activities = append(side.Activities, step)
	}
	secrets, connections := uses(workflow)
	side.Secrets, side.Connections = firstActivity(workflow, secrets), firstActivity(workflow, connections)
	side.Plain, _ = flow.Plain(text)
	return side
}

// firstActivity names for each secret or connection the first activity that uses it, "" for a trigger.
func firstActivity(workflow *flow.Workflow, places map[string][]use) map[string]string {
	ids := map[string]string{}
	for path, step := range everyActivity(workflow) {
		for name, at := range places {
			if _, known := ids[name]; !known && slices.ContainsFunc(at, func(u use) bool { return strings.HasPrefix(u.path, path+".") }) {
				ids[name] = step.ID
			}
		}
	}
	for name := range places {
		if _, known := ids[name]; !known {
			ids[name] = ""
		}
	}
	return ids
}
