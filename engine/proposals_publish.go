package engine

import (
	"context"
	"fmt"
	"strings"

	"weftline/engine/flow"
	"weftline/engine/review"
	"weftline/queries"
)

// PublishProposal makes the proposed content the current version.
func (c *catalog) PublishProposal(ctx context.Context, who Who, id ProposalID, message string) (Version, bool, error) {
	d, err := c.dossier(ctx, who, id)
	if err != nil {
		return Version{}, false, err
	}
	if d.row.State != review.Open {
		return Version{}, false, Refuse("conflict", fmt.Sprintf("proposal %d is %s already", id.Number, d.row.State))
	}
	definition, err := c.publishable(ctx, who, id.Workflow, d.revision.Text)
	if err != nil {
		return Version{}, false, err
	}
	if strings.TrimSpace(message) == "" {
		message = d.row.Title
	}
	var version queries.Version
	var created bool
	err = inTx(ctx, c.db, func(q *queries.Queries) (err error) {
		version, created, err = c.publishReviewed(ctx, q, who, id, d, publication{definition: definition, text: d.revision.Text, message: message,
			proposal: d.row.Number, at: c.now()})
		return err
	})
	if err != nil {
		return Version{}, false, err
	}
	c.changed(Change{Team: who.Team, Workflow: id.Workflow, Drafts: true})
	return versionOf(version), created, nil
}

// publishReviewed checks everything again under the locks: what was approved is what is published.
func (c *catalog) publishReviewed(ctx context.Context, q *queries.Queries, who Who, id ProposalID, d dossier, p publication) (version queries.Version, created bool, err error) {
	workflow, err := lockWorkflow(ctx, q, who, id.Workflow)
	if err != nil {
		return version, false, err
	}
	row, err := lockOpen(ctx, q, who, id)
	if err != nil {
		return version, false, err
	}
	if row.Revision != d.row.Revision {
		return version, false, Refuse("conflict", fmt.Sprintf("the proposal was revised at this moment: look at revision %d first", row.Revision))
	}
	policy, err := lockPolicy(ctx, q, who.Team)
	if err != nil {
		return version, false, err
	}
	reviews, err := q.ListReviews(ctx, who.Team, id.Workflow, row.Number)
	if err != nil {
		return version, false, fmt.Errorf("read the reviews of proposal %s: %w", target(row), err)
	}
	if err := mayPublish(row, workflow, policy, tallyOf(row, policy, reviews)); err != nil {
		return version, false, err
	}
	if version, created, err = release(ctx, q, who, policy, workflow, p); err != nil {
		return version, false, err
	}
	if err := endProposal(ctx, q, who, row, review.Published, &version.Version); err != nil {
		return version, false, err
	}
	tally := tallyOf(row, policy, reviews)
	return version, created, audit(ctx, q, who, "proposal.published", target(row), map[string]any{"version": version.Version,
		"contentHash": version.ContentHash, "revision": row.Revision, "approvedBy": tally.Approved})
}

// mayPublish is the one rule about when a proposal may be published; nil = it may.
func mayPublish(row queries.Proposal, workflow queries.Workflow, policy Policy, tally review.Tally) error {
	switch needed := policy.Approvals(); {
	case len(tally.Objecting) > 0:
		return Refuse("review_required", strings.Join(tally.Objecting, ", ")+" asked for changes: revise the proposal, and let them look again")
	case len(tally.Approved) < needed:
		return Refuse("review_required", fmt.Sprintf("the proposal has %d of %s that the policy of the team asks for", len(tally.Approved), count(needed, "approval")))
	case !sameVersion(row.BaseVersion, workflow.PublishedVersion):
		refusal := Refuse("conflict", "another version was published since: rebase the proposal, then publish it")
		refusal.Problems = []flow.Problem{{Path: "/baseVersion", Code: "conflict", Severity: "error", Message: "the base is not what is published"}}
		return refusal
	}
	return nil
}
