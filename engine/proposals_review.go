package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/engine/review"
	"weftline/queries"
)

// ReviewRequest gives a verdict. Revision, if given, must be the one under review: nobody approves what they
// have not seen.
type ReviewRequest struct {
	Verdict  string `json:"verdict"` // approve, request_changes, comment
	Body     string `json:"body"`
	Revision int    `json:"revision,omitempty" least:"1"` // absent = the current one
}

// Review is a verdict that was given.
type Review struct {
	ID          int64     `json:"id"`
	Verdict     string    `json:"verdict"`
	Body        string    `json:"body"`
	By          string    `json:"by"`
	Revision    int       `json:"revision"`
	ContentHash string    `json:"contentHash"` // of what was looked at
	Dismissed   bool      `json:"dismissed"`   // by a later revision
	At          time.Time `json:"at"`
}

// CommentRequest remarks on an activity, on a line of the proposed text, or on the whole.
type CommentRequest struct {
	Activity string `json:"activity,omitempty"`
	Line     int    `json:"line,omitempty" least:"1"`
	Body     string `json:"body"`
}

// Comment is a remark. Line is where its line stands now; Outdated says that what it is about changed since.
type Comment struct {
	ID         int64      `json:"id"`
	Activity   string     `json:"activity,omitempty"`
	Line       int        `json:"line,omitempty"`
	LineText   string     `json:"lineText,omitempty"`
	Body       string     `json:"body"`
	By         string     `json:"by"`
	Revision   int        `json:"revision"`
	Outdated   bool       `json:"outdated"`
	At         time.Time  `json:"at"`
	ResolvedBy string     `json:"resolvedBy,omitempty"`
	ResolvedAt *time.Time `json:"resolvedAt"`
}

// mayApprove is the one rule about who may approve; nil = they may.
func mayApprove(who Who, row queries.Proposal, policy Policy) *Error {
	switch {
	case !who.May(ScopeReview):
		return Refuse("forbidden", "approving needs the right to review")
	case row.State != review.Open:
		return Refuse("conflict", "the proposal is "+row.State)
	case slices.Contains(barred(row, policy), cleanText(who.User)):
		return Refuse("self_approval", "you worked on this proposal, and the policy of the team lets nobody approve their own change: ask somebody else")
	}
	return nil
}

// Review gives a verdict on the revision under review.
func (c *catalog) Review(ctx context.Context, who Who, id ProposalID, request ReviewRequest) (Review, error) {
	if err := checkReview(request); err != nil {
		return Review{}, err
	}
	var made queries.ProposalReview
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		row, err := lockOpen(ctx, q, who, id)
		if err != nil {
			return err
		}
		policy, err := lockPolicy(ctx, q, who.Team)
		if err != nil {
			return err
		}
		if request.Verdict == review.Approve {
			if refusal := mayApprove(who, row, policy); refusal != nil {
				return refusal
			}
		}
		if request.Revision > 0 && request.Revision != int(row.Revision) {
			return Refuse("conflict", fmt.Sprintf("the proposal was revised: look at revision %d, then give your verdict", row.Revision))
		}
		revision, err := revisionAt(ctx, q, row, row.Revision)
		if err != nil {
			return fmt.Errorf("read revision %d of proposal %s: %w", row.Revision, target(row), err)
		}
		made, err = q.InsertReview(ctx, queries.InsertReviewParams{TeamID: who.Team, Workflow: row.Workflow, Proposal: row.Number, Revision: row.Revision,
			Verdict: request.Verdict, Body: cleanText(request.Body), Reviewer: cleanText(who.User), ContentHash: revision.ContentHash})
		if err != nil {
			return fmt.Errorf("store the review: %w", err)
		}
		if err := q.TouchProposal(ctx, who.Team, row.Workflow, row.Number); err != nil {
			return fmt.Errorf("note the review: %w", err)
		}
		return audit(ctx, q, who, "proposal.reviewed", target(row), map[string]any{"verdict": request.Verdict, "revision": row.Revision, "contentHash": revision.ContentHash})
	})
	if err != nil {
		return Review{}, err
	}
	c.changed(Change{Team: who.Team, Workflow: id.Workflow, Drafts: true})
	return reviewOf(made), nil
}

func checkReview(request ReviewRequest) error {
	switch {
	case !slices.Contains([]string{review.Approve, review.RequestChanges, review.Comment}, request.Verdict):
		return fieldRefusal("verdict", fmt.Sprintf("a verdict is approve, request_changes or comment, not %q", request.Verdict))
	case request.Verdict != review.Approve && strings.TrimSpace(request.Body) == "":
		return fieldRefusal("body", "say in the body what you think: only an approval may go without words")
	case len(request.Body) > longestProposalText:
		return fieldRefusal("body", fmt.Sprintf("a review has at most %d bytes", longestProposalText))
	}
	return nil
}

func reviewOf(row queries.ProposalReview) Review {
	return Review{ID: row.ID, Verdict: row.Verdict, Body: row.Body, By: row.Reviewer, Revision: int(row.Revision),
		ContentHash: row.ContentHash, Dismissed: row.Dismissed, At: row.At}
}

// CommentProposal adds a remark; it is kept with the revision that it was made about.
func (c *catalog) CommentProposal(ctx context.Context, who Who, id ProposalID, request CommentRequest) (Comment, error) {
	if strings.TrimSpace(request.Body) == "" || len(request.Body) > longestProposalText {
		return Comment{}, fieldRefusal("body", fmt.Sprintf("a comment has a body of 1 to %d bytes", longestProposalText))
	}
	if request.Activity != "" && request.Line != 0 {
		return Comment{}, fieldRefusal("line", "a comment is about an activity or a line, not both")
	}
	var made queries.ProposalComment
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		row, err := lockOpen(ctx, q, who, id)
		if err != nil {
			return err
		}
		params := queries.InsertCommentParams{TeamID: who.Team, Workflow: row.Workflow, Proposal: row.Number, Revision: row.Revision,
			Body: cleanText(request.Body), Author: cleanText(who.User)}
		if err := anchor(ctx, q, row, request, &params); err != nil {
			return err
		}
		if made, err = q.InsertComment(ctx, params); err != nil {
			return fmt.Errorf("store the comment: %w", err)
		}
		if err := q.TouchProposal(ctx, who.Team, row.Workflow, row.Number); err != nil {
			return fmt.Errorf("note the comment: %w", err)
		}
		return audit(ctx, q, who, "proposal.commented", target(row), map[string]any{"comment": made.ID, "activity": request.Activity, "line": request.Line})
	})
	if err != nil {
		return Comment{}, err
	}
	c.changed(Change{Team: who.Team, Workflow: id.Workflow, Drafts: true})
	return commentOf(made), nil
}

// anchor ties a comment to what it is about, which must exist in the revision under review or in its base.
func anchor(ctx context.Context, q *queries.Queries, row queries.Proposal, request CommentRequest, params *queries.InsertCommentParams) error {
	revision, err := revisionAt(ctx, q, row, row.Revision)
	if err != nil {
		return fmt.Errorf("read revision %d of proposal %s: %w", row.Revision, target(row), err)
	}
	switch {
	case request.Activity != "":
		workflow, err := flow.Load(revision.Text)
		if err != nil {
			return fmt.Errorf("read revision %d of proposal %s: %w", row.Revision, target(row), err)
		}
		if !hasActivity(workflow, request.Activity) && !removedActivity(ctx, q, row, request.Activity) {
			return fieldRefusal("activity", "there is no activity "+request.Activity+" in the proposal")
		}
		params.Activity = &request.Activity
	case request.Line != 0:
		lines := strings.Split(string(revision.Text), "\n")
		if request.Line < 1 || request.Line > len(lines) {
			return fieldRefusal("line", fmt.Sprintf("the proposed text has %d lines", len(lines)))
		}
		line, text := int32(request.Line), cleanText(strings.TrimSuffix(lines[request.Line-1], "\r"))
		params.Line, params.LineText = &line, &text
	}
	return nil
}

func hasActivity(workflow *flow.Workflow, id string) bool {
	for _, step := range everyActivity(workflow) {
		if step.ID == id {
			return true
		}
	}
	return false
}

// removedActivity reports whether the base has an activity: what is taken out can be talked about too.
func removedActivity(ctx context.Context, q *queries.Queries, row queries.Proposal, id string) bool {
	if row.BaseVersion == nil {
		return false
	}
	version, err := findVersion(ctx, q, Who{Team: row.TeamID}, row.Workflow, int(*row.BaseVersion))
	if err != nil {
		return false
	}
	workflow, err := flow.Load(version.Text)
	return err == nil && hasActivity(workflow, id)
}

// ResolveComment marks a remark as settled; the first who does so is kept.
func (c *catalog) ResolveComment(ctx context.Context, who Who, id ProposalID, comment int64) (Comment, error) {
	if _, err := c.proposal(ctx, who, id); err != nil {
		return Comment{}, err
	}
	by := cleanText(who.User)
	var row queries.ResolveCommentRow
	err := inTx(ctx, c.db, func(q *queries.Queries) (err error) {
		row, err = q.ResolveComment(ctx, queries.ResolveCommentParams{TeamID: who.Team, Workflow: id.Workflow, Proposal: int32(id.Number), ID: comment, ResolvedBy: &by})
		if err != nil || !row.Fresh { // resolved before: nothing is done, so nothing is told
			return err
		}
		return audit(ctx, q, who, "proposal.comment_resolved", fmt.Sprintf("%s#%d", id.Workflow, id.Number), map[string]any{"comment": comment})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Comment{}, Refuse("not_found", fmt.Sprintf("proposal %d has no comment %d", id.Number, comment))
	}
	if err != nil {
		return Comment{}, fmt.Errorf("resolve comment %d: %w", comment, err)
	}
	c.changed(Change{Team: who.Team, Workflow: id.Workflow, Drafts: true})
	return commentOf(row.ProposalComment), nil
}

func commentOf(row queries.ProposalComment) Comment {
	comment := Comment{ID: row.ID, Body: row.Body, By: row.Author, Revision: int(row.Revision), At: row.At, ResolvedAt: row.ResolvedAt}
	set(&comment.Activity, row.Activity)
	set(&comment.LineText, row.LineText)
	set(&comment.ResolvedBy, row.ResolvedBy)
	if row.Line != nil {
		comment.Line = int(*row.Line)
	}
	return comment
}

// commentsOf says for each remark where it stands in the revision under review, and whether what it is about
// changed since it was made.
func (c *catalog) commentsOf(ctx context.Context, d dossier) ([]Comment, error) {
	comments := []Comment{}
	touched := map[int32]map[string]bool{} // activities that changed since a revision
	for _, row := range d.comments {
		comment := commentOf(row)
		switch {
		case row.Line != nil:
			comment.Line, comment.Outdated = lineNow(string(d.revision.Text), comment.Line, comment.LineText)
		case row.Activity != nil && row.Revision != d.row.Revision:
			if touched[row.Revision] == nil {
				changed, err := c.changedSince(ctx, d, row.Revision)
				if err != nil {
					return nil, err
				}
				touched[row.Revision] = changed
			}
			comment.Outdated = touched[row.Revision][comment.Activity]
		}
		comments = append(comments, comment)
	}
	return comments, nil
}

func (c *catalog) changedSince(ctx context.Context, d dossier, revision int32) (map[string]bool, error) {
	then, err := revisionAt(ctx, c.q, d.row, revision)
	if err != nil {
		return nil, fmt.Errorf("read revision %d of proposal %s: %w", revision, target(d.row), err)
	}
	changes, err := flow.Compare(then.Text, d.revision.Text)
	if err != nil {
		return nil, fmt.Errorf("compare the revisions of proposal %s: %w", target(d.row), err)
	}
	changed := map[string]bool{}
	for _, change := range changes {
		if change.What == "test" { // its name is no activity's
			continue
		}
		changed[change.ID] = true
		if _, to, isEdge := strings.Cut(change.ID, " → "); isEdge {
			changed[to] = true
		}
	}
	return changed, nil
}

// lineNow finds the line with a text that is nearest to where it was; outdated when there is none.
func lineNow(text string, was int, wanted string) (line int, outdated bool) {
	best := 0
	for i, each := range strings.Split(text, "\n") {
		if strings.TrimSuffix(each, "\r") == wanted && (best == 0 || distance(i+1, was) < distance(best, was)) {
			best = i + 1
		}
	}
	return best, best == 0
}

func distance(a, b int) int { return max(a-b, b-a) }
