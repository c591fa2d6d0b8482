package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/engine/review"
	"weftline/queries"
)

const (
	longestProposalText = 64 << 10 // bytes of a description, a review or a comment
	mostReviewers       = 20
)

// Propose snapshots the draft for a review.
func (c *catalog) Propose(ctx context.Context, who Who, workflow string, request ProposalRequest) (Proposal, error) {
	request.Title = strings.TrimSpace(cleanText(request.Title))
	switch {
	case request.Title == "" || len(request.Title) > longestTitle:
		return Proposal{}, fieldRefusal("title", fmt.Sprintf("a proposal has a title of 1 to %d bytes", longestTitle))
	case len(request.Description) > longestProposalText:
		return Proposal{}, fieldRefusal("description", fmt.Sprintf("a description has at most %d bytes", longestProposalText))
	case len(request.Reviewers) > mostReviewers:
		return Proposal{}, fieldRefusal("reviewers", fmt.Sprintf("at most %d reviewers can be asked", mostReviewers))
	}
	var made queries.Proposal
	err := c.withDraft(ctx, who, workflow, func(q *queries.Queries, row queries.Workflow, draft queries.Draft, definition *flow.Workflow) (err error) {
		if err := differs(ctx, q, who, row, draft, definition); err != nil {
			return err
		}
		made, err = q.InsertProposal(ctx, queries.InsertProposalParams{TeamID: who.Team, Workflow: workflow, Title: request.Title,
			Description: cleanText(request.Description), Reviewers: append([]string{}, request.Reviewers...), Author: cleanText(who.User),
			Editors: editors(draft.Editors, who), BaseVersion: row.PublishedVersion})
		if err != nil {
			return fmt.Errorf("store the proposal: %w", err)
		}
		if err := insertRevision(ctx, q, who, made, "draft", definition.ContentHash, draft.Text); err != nil {
			return err
		}
		return audit(ctx, q, who, "proposal.opened", target(made), map[string]any{"title": made.Title, "contentHash": definition.ContentHash, "baseVersion": made.BaseVersion})
	})
	return c.after(ctx, who, made, err)
}

func fieldRefusal(field, message string) *Error {
	return &Error{Code: "invalid_input", Message: message, Problems: []flow.Problem{{Path: "/" + field, Code: "invalid_input", Severity: "error", Message: message}}}
}

// target names a proposal in the audit.
func target(row queries.Proposal) string { return fmt.Sprintf("%s#%d", row.Workflow, row.Number) }

// withDraft checks the draft, then acts on it under the lock of its workflow. Should somebody save meanwhile,
// it begins anew.
func (c *catalog) withDraft(ctx context.Context, who Who, name string, act func(q *queries.Queries, row queries.Workflow, draft queries.Draft, definition *flow.Workflow) error) error {
	for tries := 0; ; tries++ {
		checked, definition, err := c.publishableDraft(ctx, who, name)
		if err != nil {
			return err
		}
		err = inTx(ctx, c.db, func(q *queries.Queries) error {
			row, err := lockWorkflow(ctx, q, who, name)
			if err != nil {
				return err
			}
			draft, err := q.DraftByName(ctx, who.Team, name)
			if err != nil || draft.Etag != checked.Etag {
				return errMoved
			}
			return act(q, row, draft, definition)
		})
		if !errors.Is(err, errMoved) || tries == 3 {
			return err
		}
	}
}

// differs refuses a text that is what is published already.
func differs(ctx context.Context, q *queries.Queries, who Who, row queries.Workflow, draft queries.Draft, definition *flow.Workflow) error {
	known, err := q.VersionByContent(ctx, who.Team, row.Name, definition.ContentHash)
	if err == nil && sameVersion(&known.Version, row.PublishedVersion) && bytes.Equal(known.Text, draft.Text) {
		return Refuse("conflict", fmt.Sprintf("the draft is what is published as version %d already: there is nothing to review", known.Version))
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("look for the content of %s: %w", row.Name, err)
	}
	return nil
}

func insertRevision(ctx context.Context, q *queries.Queries, who Who, row queries.Proposal, kind, hash string, text []byte) error {
	_, err := q.InsertRevision(ctx, queries.InsertRevisionParams{TeamID: who.Team, Workflow: row.Workflow, Proposal: row.Number, Revision: row.Revision,
		ContentHash: hash, Text: text, BaseVersion: row.BaseVersion, Kind: kind, MadeBy: cleanText(who.User)})
	if err != nil {
		return fmt.Errorf("store revision %d of proposal %s: %w", row.Revision, target(row), err)
	}
	return nil
}

// after tells of a change and answers the proposal as it is then.
func (c *catalog) after(ctx context.Context, who Who, row queries.Proposal, err error) (Proposal, error) {
	if err != nil {
		return Proposal{}, err
	}
	c.changed(Change{Team: who.Team, Workflow: row.Workflow, Drafts: true})
	d, err := c.dossier(ctx, who, ProposalID{row.Workflow, int(row.Number)})
	if err != nil {
		return Proposal{}, err
	}
	return proposalOf(d.row, d.policy, d.reviews), nil
}

// lockOpen locks a proposal that is still open.
func lockOpen(ctx context.Context, q *queries.Queries, who Who, id ProposalID) (queries.Proposal, error) {
	row, err := q.LockProposal(ctx, who.Team, id.Workflow, int32(id.Number))
	if row, err = found(row, id, err); err != nil {
		return row, err
	}
	if row.State != review.Open {
		return row, Refuse("conflict", fmt.Sprintf("proposal %d is %s: nothing about it changes any more", id.Number, row.State))
	}
	return row, nil
}

// Revise snapshots the draft anew.
func (c *catalog) Revise(ctx context.Context, who Who, id ProposalID) (Proposal, error) {
	if _, err := c.proposal(ctx, who, id); err != nil {
		return Proposal{}, err
	}
	var row queries.Proposal
	err := c.withDraft(ctx, who, id.Workflow, func(q *queries.Queries, workflow queries.Workflow, draft queries.Draft, definition *flow.Workflow) (err error) {
		if row, err = lockOpen(ctx, q, who, id); err != nil {
			return err
		}
		if err := differs(ctx, q, who, workflow, draft, definition); err != nil {
			return err
		}
		next := row
		next.BaseVersion, next.Editors = workflow.PublishedVersion, joined(row.Editors, editors(draft.Editors, who))
		return c.newRevision(ctx, q, who, row, next, "draft", definition.ContentHash, draft.Text)
	})
	return c.after(ctx, who, row, err)
}

func joined(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// newRevision stores the next snapshot and dismisses approvals that it is not covered by.
func (c *catalog) newRevision(ctx context.Context, q *queries.Queries, who Who, row, next queries.Proposal, kind, hash string, text []byte) error {
	last, err := revisionAt(ctx, q, row, row.Revision)
	if err != nil {
		return fmt.Errorf("read revision %d of proposal %s: %w", row.Revision, target(row), err)
	}
	if last.ContentHash == hash && sameVersion(last.BaseVersion, next.BaseVersion) && string(last.Text) == string(text) {
		return Refuse("conflict", "the draft is what is under review already")
	}
	before, err := measured(ctx, q, who, last.BaseVersion, row.Workflow, last.ContentHash, last.Text)
	if err != nil {
		return err
	}
	after, err := measured(ctx, q, who, next.BaseVersion, row.Workflow, hash, text)
	if err != nil {
		return err
	}
	after.Rebased = kind == "rebase"
	next.Revision = row.Revision + 1
	if err := insertRevision(ctx, q, who, next, kind, hash, text); err != nil {
		return err
	}
	err = q.ReviseProposal(ctx, queries.ReviseProposalParams{TeamID: who.Team, Workflow: row.Workflow, Number: row.Number,
		Revision: next.Revision, BaseVersion: next.BaseVersion, Editors: next.Editors})
	if err != nil {
		return fmt.Errorf("revise proposal %s: %w", target(row), err)
	}
	detail := map[string]any{"revision": next.Revision, "kind": kind, "contentHash": hash, "baseVersion": next.BaseVersion}
	if !review.Keeps(before, after) {
		if detail["approvalsDismissed"], err = q.DismissApprovals(ctx, who.Team, row.Workflow, row.Number); err != nil {
			return fmt.Errorf("dismiss the approvals of proposal %s: %w", target(row), err)
		}
	}
	return audit(ctx, q, who, "proposal.revised", target(row), detail)
}

// measured is a revision in the form that says whether approvals hold.
func measured(ctx context.Context, q *queries.Queries, who Who, base *int32, workflow, hash string, text []byte) (review.Revision, error) {
	var older []byte
	if base != nil {
		version, err := findVersion(ctx, q, who, workflow, int(*base))
		if err != nil {
			return review.Revision{}, err
		}
		older = version.Text
	}
	changes, err := flow.Compare(orNothing(older, workflow), text)
	if err != nil {
		return review.Revision{}, fmt.Errorf("compare the revisions of %s: %w", workflow, err)
	}
	content, err := json.Marshal(changes)
	return review.Revision{ContentHash: hash, Changes: string(content)}, err
}

// Rebase carries a proposal over to what was published meanwhile.
func (c *catalog) Rebase(ctx context.Context, who Who, id ProposalID, choices map[string]string) (Proposal, error) {
	for path, choice := range choices {
		if choice != flow.Published && choice != flow.Proposed {
			return Proposal{}, fieldRefusal("choices", fmt.Sprintf("the choice for %s is published or proposed, not %q", path, choice))
		}
	}
	d, err := c.dossier(ctx, who, id)
	if err != nil {
		return Proposal{}, err
	}
	text, definition, err := c.rebased(ctx, who, d, choices)
	if err != nil {
		return Proposal{}, err
	}
	err = inTx(ctx, c.db, func(q *queries.Queries) error {
		workflow, err := lockWorkflow(ctx, q, who, id.Workflow)
		if err != nil {
			return err
		}
		row, err := lockOpen(ctx, q, who, id)
		if err != nil {
			return err
		}
		if row.Revision != d.row.Revision || !sameVersion(workflow.PublishedVersion, d.workflow.PublishedVersion) {
			return Refuse("conflict", "the proposal or what is published changed at this moment: rebase again")
		}
		next := row
		next.BaseVersion = workflow.PublishedVersion
		if len(choices) > 0 {
			next.Editors = editors(row.Editors, who)
		}
		if err := c.newRevision(ctx, q, who, row, next, "rebase", definition.ContentHash, text); err != nil {
			return err
		}
		return followDraft(ctx, q, who, workflow, d.revision.Text, text)
	})
	return c.after(ctx, who, d.row, err)
}

// rebased merges a proposal with what is published; the result must be publishable.
func (c *catalog) rebased(ctx context.Context, who Who, d dossier, choices map[string]string) ([]byte, *flow.Workflow, error) {
	if sameVersion(d.revision.BaseVersion, d.workflow.PublishedVersion) {
		return nil, nil, Refuse("conflict", "the proposal is made against what is published: there is nothing to rebase")
	}
	base, err := c.baseText(ctx, who, d.row.Workflow, d.revision.BaseVersion)
	if err != nil {
		return nil, nil, err
	}
	current, err := c.baseText(ctx, who, d.row.Workflow, d.workflow.PublishedVersion)
	if err != nil {
		return nil, nil, err
	}
	text, conflicts, err := flow.Merge(orNothing(base, d.row.Workflow), orNothing(current, d.row.Workflow), d.revision.Text, choices)
	if err != nil {
		return nil, nil, Refuse("conflict", "the two cannot be merged: "+err.Error()+"; change the draft by hand and revise the proposal")
	}
	if len(conflicts) > 0 {
		refusal := Refuse("conflict", "both sides changed "+count(len(conflicts), "field")+" otherwise: say for each which side wins")
		for _, conflict := range conflicts {
			refusal.Problems = append(refusal.Problems, flow.Problem{Path: conflict.Path, Code: "conflict", Severity: "error",
				Message: "published and proposed differ", Hint: "choices: {\"" + conflict.Path + "\": \"published\" or \"proposed\"}"})
		}
		return nil, nil, refusal
	}
	definition, err := c.publishable(ctx, who, d.row.Workflow, text)
	return text, definition, err
}

// followDraft lets the draft follow a rebase, if nobody went on with it.
func followDraft(ctx context.Context, q *queries.Queries, who Who, workflow queries.Workflow, before, after []byte) error {
	draft, err := q.DraftByName(ctx, who.Team, workflow.Name)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && string(draft.Text) != string(before) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the draft of %s: %w", workflow.Name, err)
	}
	_, err = writeDraft(ctx, q, who, workflow, flow.Read(after), draft.Editors)
	return err
}

// CloseProposal ends a proposal without publishing it.
func (c *catalog) CloseProposal(ctx context.Context, who Who, id ProposalID) error {
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		row, err := lockOpen(ctx, q, who, id)
		if err != nil {
			return err
		}
		if err := endProposal(ctx, q, who, row, review.Closed, nil); err != nil {
			return err
		}
		return audit(ctx, q, who, "proposal.closed", target(row), map[string]any{"revision": row.Revision})
	})
	if err == nil {
		c.changed(Change{Team: who.Team, Workflow: id.Workflow, Drafts: true})
	}
	return err
}

func endProposal(ctx context.Context, q *queries.Queries, who Who, row queries.Proposal, state string, version *int32) error {
	by := cleanText(who.User)
	err := q.EndProposal(ctx, queries.EndProposalParams{TeamID: who.Team, Workflow: row.Workflow, Number: row.Number, State: state, Version: version, EndedBy: &by})
	if err != nil {
		return fmt.Errorf("end proposal %s: %w", target(row), err)
	}
	return nil
}
