package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/engine/review"
	"weftline/queries"
)

// Reviews are proposals: changes that others look at before they are published.
type Reviews interface {
	Proposals(ctx context.Context, who Who, filter ProposalFilter) (Page[Proposal], error)
	Proposal(ctx context.Context, who Who, id ProposalID) (ProposalDetail, error)
	// Propose snapshots the draft. An invalid draft, or one that is what is published already, is refused.
	Propose(ctx context.Context, who Who, workflow string, request ProposalRequest) (Proposal, error)
	// Revise snapshots the draft anew; approvals of another content are dismissed.
	Revise(ctx context.Context, who Who, id ProposalID) (Proposal, error)
	// Rebase carries the proposal over to what was published meanwhile. choices says for each conflict, by its
	// path, which side wins: published or proposed. A conflict without a choice is a refusal that names it.
	Rebase(ctx context.Context, who Who, id ProposalID, choices map[string]string) (Proposal, error)
	Review(ctx context.Context, who Who, id ProposalID, request ReviewRequest) (Review, error)
	CommentProposal(ctx context.Context, who Who, id ProposalID, request CommentRequest) (Comment, error)
	ResolveComment(ctx context.Context, who Who, id ProposalID, comment int64) (Comment, error)
	// PublishProposal makes the proposed content the current version, if the policy and the base allow it.
	PublishProposal(ctx context.Context, who Who, id ProposalID, message string) (version Version, created bool, err error)
	CloseProposal(ctx context.Context, who Who, id ProposalID) error
}

// ProposalID names a proposal: they count from 1 within a workflow.
type ProposalID struct {
	Workflow string
	Number   int
}

// ProposalFilter narrows the list of proposals; State is open, published, closed or "" for all.
type ProposalFilter struct {
	PageRequest
	Workflow, State string
	AwaitsMe        bool // only what waits for a verdict of the asker, who was asked by name or by group
}

// ProposalRequest asks for a review of the draft. Reviewers are names of people or groups.
type ProposalRequest struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Reviewers   []string `json:"reviewers"`
}

// Proposal is a change put forward to be published.
type Proposal struct {
	Workflow    string     `json:"workflow"`
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	State       string     `json:"state"` // open, approved, changes_requested, published, closed
	Author      string     `json:"author"`
	Editors     []string   `json:"editors"`   // who worked on it, the author too
	Reviewers   []string   `json:"reviewers"` // who was asked
	Revision    int        `json:"revision"`
	BaseVersion *int       `json:"baseVersion"` // null = nothing was published
	Version     *int       `json:"version"`     // that it was published as
	Approvals   int        `json:"approvals"`
	Required    int        `json:"requiredApprovals"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	EndedAt     *time.Time `json:"endedAt"`
	EndedBy     string     `json:"endedBy,omitempty"`
}

// ProposalDetail is one proposal with all that a reviewer needs.
type ProposalDetail struct {
	Proposal
	Description string          `json:"description"`
	ContentHash string          `json:"contentHash"`
	Diff        Diff            `json:"diff"` // of the base and the proposal
	Reviews     []Review        `json:"reviews"`
	Comments    []Comment       `json:"comments"`
	Checks      []Check         `json:"checks"` // all ok = it may be published
	Conflicts   []flow.Conflict `json:"conflicts"`
	Risks       []review.Risk   `json:"risks"`
	Revisions   []Revision      `json:"revisions"`
	Current     *int            `json:"publishedVersion"` // of the workflow now
	MayApprove  bool            `json:"mayApprove"`
	WhyNot      string          `json:"whyNot,omitempty"`
}

// Check is one condition of publishing.
type Check struct {
	Name    string         `json:"name"` // definition, base, reviews, approvals
	OK      bool           `json:"ok"`
	Message string         `json:"message"`
	Errors  []flow.Problem `json:"errors,omitempty"`
}

// Revision is a snapshot of a proposal.
type Revision struct {
	Revision    int       `json:"revision"`
	ContentHash string    `json:"contentHash"`
	BaseVersion *int      `json:"baseVersion"`
	Kind        string    `json:"kind"` // draft, rebase
	By          string    `json:"by"`
	At          time.Time `json:"at"`
}

// Proposals lists proposals, the one changed last first.
func (c *catalog) Proposals(ctx context.Context, who Who, filter ProposalFilter) (Page[Proposal], error) {
	none := Page[Proposal]{}
	if filter.State != "" && filter.State != review.Open && filter.State != review.Published && filter.State != review.Closed {
		return none, Refuse("bad_request", "state is open, published or closed")
	}
	if filter.Workflow != "" {
		if _, err := c.q.WorkflowByName(ctx, who.Team, filter.Workflow); errors.Is(err, pgx.ErrNoRows) {
			return none, noWorkflow(filter.Workflow)
		}
	}
	after, err := decodeCursor[proposalCursor](filter.Cursor)
	if err != nil {
		return none, err
	}
	params := queries.ListProposalsParams{TeamID: who.Team, Workflow: filter.Workflow, State: filter.State, PageSize: filter.size() + 1,
		BeforeWorkflow: after.Workflow, BeforeNumber: after.Number}
	if params.Awaiting = []string{}; filter.AwaitsMe {
		params.Awaiting, params.Asker = append([]string{who.User}, who.Groups...), who.User
	}
	if after.Number > 0 {
		params.Before = &after.At
	}
	rows, err := c.q.ListProposals(ctx, params)
	if err != nil {
		return none, fmt.Errorf("list proposals: %w", err)
	}
	policy, err := c.policies.of(ctx, who.Team)
	if err != nil {
		return none, err
	}
	verdicts, err := c.verdictsOf(ctx, who, rows)
	if err != nil {
		return none, err
	}
	return paginate(rows, filter.PageRequest,
		func(row queries.Proposal) Proposal {
			return proposalOf(row, policy, verdicts[ProposalID{row.Workflow, int(row.Number)}])
		},
		func(last queries.Proposal) any { return proposalCursor{last.UpdatedAt, last.Workflow, last.Number} })
}

type proposalCursor struct {
	At       time.Time
	Workflow string
	Number   int32
}

// verdictsOf reads the reviews of many proposals at once.
func (c *catalog) verdictsOf(ctx context.Context, who Who, rows []queries.Proposal) (map[ProposalID][]queries.ProposalReview, error) {
	names, numbers := make([]string, len(rows)), make([]int32, len(rows))
	for i, row := range rows {
		names[i], numbers[i] = row.Workflow, row.Number
	}
	reviews, err := c.q.ReviewsOf(ctx, names, numbers, who.Team)
	if err != nil {
		return nil, fmt.Errorf("read reviews: %w", err)
	}
	all := map[ProposalID][]queries.ProposalReview{}
	for _, r := range reviews {
		id := ProposalID{r.Workflow, int(r.Proposal)}
		all[id] = append(all[id], r)
	}
	return all, nil
}

func proposalOf(row queries.Proposal, policy Policy, reviews []queries.ProposalReview) Proposal {
	tally := tallyOf(row, policy, reviews)
	p := Proposal{Workflow: row.Workflow, Number: int(row.Number), Title: row.Title, Author: row.Author, Editors: row.Editors,
		Reviewers: row.Reviewers, Revision: int(row.Revision), BaseVersion: optionalInt(row.BaseVersion), Version: optionalInt(row.Version),
		State: review.State(row.State, tally, policy.Approvals()), Approvals: len(tally.Approved), Required: policy.Approvals(),
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, EndedAt: row.EndedAt}
	if row.EndedBy != nil {
		p.EndedBy = *row.EndedBy
	}
	return p
}

// tallyOf counts verdicts; editors are barred unless the policy lets them approve their own change.
func tallyOf(row queries.Proposal, policy Policy, reviews []queries.ProposalReview) review.Tally {
	verdicts := make([]review.Verdict, len(reviews))
	for i, r := range reviews {
		verdicts[i] = review.Verdict{By: r.Reviewer, Verdict: r.Verdict, Dismissed: r.Dismissed}
	}
	return review.Count(verdicts, barred(row, policy))
}

// barred are those who may not approve a proposal.
func barred(row queries.Proposal, policy Policy) []string {
	if policy.AllowSelfApproval {
		return nil
	}
	return row.Editors
}

func noProposal(id ProposalID) *Error {
	return Refuse("not_found", fmt.Sprintf("there is no proposal %d of a workflow %s", id.Number, id.Workflow))
}

// found turns the answer of a look-up into a refusal where there is nothing.
func found(row queries.Proposal, id ProposalID, err error) (queries.Proposal, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return row, noProposal(id)
	}
	if err != nil {
		return row, fmt.Errorf("read proposal %d of %s: %w", id.Number, id.Workflow, err)
	}
	return row, nil
}

func (c *catalog) proposal(ctx context.Context, who Who, id ProposalID) (queries.Proposal, error) {
	row, err := c.q.ProposalByNumber(ctx, who.Team, id.Workflow, int32(id.Number))
	return found(row, id, err)
}
