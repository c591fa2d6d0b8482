package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/flow"
	"weftline/views/diff"
	"weftline/views/proposals"
	"weftline/views/review"
	"weftline/views/ui"
	versionsview "weftline/views/versions"
)

// proposalList lists the proposals of the team.
func (p *Pages) proposalList(c *fiber.Ctx) error {
	state := oneOf(c.Query("state", "open"), "open", "published", "closed")
	if state == "" {
		return engine.Refuse("bad_request", "state is open, published or closed")
	}
	who := ViewOf(c).Who
	list, err := p.Door.Proposals(c.UserContext(), who, engine.ProposalFilter{State: state, Workflow: c.Query("workflow"),
		PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}})
	if err != nil {
		return err
	}
	view := proposals.List{Now: now(), Workflow: c.Query("workflow"), State: state, Next: nextPage(c, list.NextCursor)}
	for _, proposal := range list.Items {
		view.Rows = append(view.Rows, proposalRow(proposal, who))
	}
	return Render(c, proposals.ListPage(p.frame(c, "Reviews", "reviews"), view))
}

func proposalRow(proposal engine.Proposal, who engine.Who) proposals.Row {
	asked := proposal.State == "open" && slices.ContainsFunc(proposal.Reviewers, func(name string) bool { return name == who.User || slices.Contains(who.Groups, name) })
	return proposals.Row{Workflow: proposal.Workflow, Number: proposal.Number, Title: proposal.Title, Author: proposal.Author, State: proposal.State,
		Approvals: proposal.Approvals, Required: proposal.Required, UpdatedAt: proposal.UpdatedAt, Asked: asked}
}

func proposalID(c *fiber.Ctx) (engine.ProposalID, error) {
	number, err := api.NumberOf(c, "number")
	if err != nil {
		return engine.ProposalID{}, err
	}
	return engine.ProposalID{Workflow: c.Params("name"), Number: number}, nil
}

func (p *Pages) proposal(c *fiber.Ctx) error { return p.showProposal(c, "", proposals.Typed{}) }

func (p *Pages) showProposal(c *fiber.Ctx, refused string, typed proposals.Typed) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	who := ViewOf(c).Who
	detail, err := p.Door.Proposal(c.UserContext(), who, id)
	if err != nil {
		return err
	}
	view := proposalView(detail, who)
	view.Refused, view.Typed, view.CSRF = refused, typed, ViewOf(c).CSRF
	if detail.Version != nil {
		view.Published = publishing(c, id.Workflow, detail.Version)
	}
	view.MayAuthor, view.MayReview = May(c, auth.Author), May(c, auth.Review)
	if view.Open {
		if view.Next, err = p.nextVersion(c, id.Workflow, detail.Diff.ToText); err != nil {
			return err
		}
	}
	frame := p.frame(c, detail.Title, "reviews", ui.Crumb{Label: "Reviews", URL: "/reviews"}, workflowCrumb(id.Workflow))
	frame.Islands = []string{"preview"}
	return Render(c, proposals.Page(frame, view))
}

func proposalView(detail engine.ProposalDetail, who engine.Who) proposals.View {
	affects := detail.Diff.Affects
	view := proposals.View{
		Row: proposalRow(detail.Proposal, who), Now: now(), Description: detail.Description, Reviewers: detail.Reviewers, Editors: detail.Editors,
		Revision: detail.Revision, EndedBy: detail.EndedBy, MayApprove: detail.MayApprove, WhyNot: detail.WhyNot, Talk: talkOf(detail),
		Affects: append(review.Affected(affects.Running, affects.Waiting, affects.OpenTasks, affects.Schedules),
			review.AffectedAt(affects.PerActivity, detail.Diff.Changes)...),
		Open: detail.EndedAt == nil, Current: true, MayPublish: true, Activities: activityIDs(detail),
		Comparison: versionsview.Comparison{Name: detail.Workflow, From: detail.Diff.From, To: detail.Diff.To, FromText: detail.Diff.FromText, ToText: detail.Diff.ToText,
			Groups: diff.Groups(detail.Diff.Changes), Rows: diff.Rows(detail.Diff.FromText, detail.Diff.ToText)},
	}
	if detail.Version != nil {
		view.Version = *detail.Version
	}
	for _, check := range detail.Checks {
		line := proposals.Check{OK: check.OK, Message: check.Message}
		for _, problem := range check.Errors {
			line.Details = append(line.Details, problem.Message+" ("+problem.Code+", line "+strconv.Itoa(problem.Line)+")")
		}
		view.Checks = append(view.Checks, line)
		view.MayPublish = view.MayPublish && check.OK
		view.Current = view.Current && (check.OK || check.Name != "base")
	}
	for _, risk := range detail.Risks {
		view.Risks = append(view.Risks, proposals.Risk{Message: risk.Message, Activity: risk.Activity})
	}
	for _, conflict := range detail.Conflicts {
		view.Conflicts = append(view.Conflicts, proposals.Conflict{Path: conflict.Path, Base: proposals.Value(conflict.Base),
			Published: proposals.Value(conflict.Published), Proposed: proposals.Value(conflict.Proposed)})
	}
	return view
}

// activityIDs are what a comment can be about, the changed ones first.
func activityIDs(detail engine.ProposalDetail) []string {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, change := range detail.Diff.Changes {
		if change.What == "activity" {
			add(change.ID)
		}
	}
	for _, activity := range activitiesOf(detail.Diff.ToText) {
		add(activity.ID)
	}
	return ids
}

// talkOf joins verdicts and comments in the order of time.
func talkOf(detail engine.ProposalDetail) []proposals.Remark {
	var talk []proposals.Remark
	for _, verdict := range detail.Reviews {
		talk = append(talk, proposals.Remark{By: verdict.By, Verdict: verdict.Verdict, Body: verdict.Body, At: verdict.At, Revision: verdict.Revision, Dismissed: verdict.Dismissed})
	}
	for _, comment := range detail.Comments {
		remark := proposals.Remark{ID: strconv.FormatInt(comment.ID, 10), By: comment.By, Body: comment.Body, At: comment.At, Revision: comment.Revision,
			Outdated: comment.Outdated, ResolvedBy: comment.ResolvedBy, Line: comment.LineText}
		switch {
		case comment.Activity != "":
			remark.About = "activity " + comment.Activity
		case comment.Line > 0:
			remark.About = "line " + strconv.Itoa(comment.Line)
		case comment.LineText != "":
			remark.About = "a line that is gone"
		}
		talk = append(talk, remark)
	}
	slices.SortStableFunc(talk, func(a, b proposals.Remark) int { return a.At.Compare(b.At) })
	return talk
}

// propose asks for a review of the draft; a refusal shows the review page again.
func (p *Pages) propose(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	name := c.Params("name")
	made, err := p.Door.Propose(c.UserContext(), ViewOf(c).Who, name, engine.ProposalRequest{
		Title: form.Get("title"), Description: form.Get("description"), Reviewers: listed(form.Get("reviewers"))})
	if refusal := shown(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showReview(c, form.Get("title"), refusal)
	}
	if err != nil {
		return err
	}
	return seeOther(c, proposals.Address(name, made.Number))
}

// listed reads names that are separated by commas.
func listed(text string) []string {
	names := []string{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// shown is the text of a refusal that is shown on the page it belongs to, "" for any other error.
func shown(err error) string {
	var refusal *engine.Error
	if errors.As(err, &refusal) && refusal.Code != "not_found" && refusal.Code != "forbidden" {
		return refusal.Message
	}
	return ""
}

// onProposal does something with a proposal and shows it again, with the refusal if there is one.
func (p *Pages) onProposal(c *fiber.Ctx, typed proposals.Typed, act func(ctx context.Context, who engine.Who, id engine.ProposalID) error) error {
	return p.onProposalThen(c, typed, act, func(page string) string { return page })
}

// onProposalThen is onProposal with the address of the page that it leads to.
func (p *Pages) onProposalThen(c *fiber.Ctx, typed proposals.Typed, act func(ctx context.Context, who engine.Who, id engine.ProposalID) error, then func(page string) string) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	err = act(c.UserContext(), ViewOf(c).Who, id)
	if refusal := shown(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showProposal(c, refusal, typed)
	}
	if err != nil {
		return err
	}
	return seeOther(c, then(proposals.Address(id.Workflow, id.Number)))
}

func (p *Pages) reviseProposal(c *fiber.Ctx) error {
	return p.onProposal(c, proposals.Typed{}, func(ctx context.Context, who engine.Who, id engine.ProposalID) error {
		_, err := p.Door.Revise(ctx, who, id)
		return err
	})
}

func (p *Pages) publishProposal(c *fiber.Ctx) error {
	var version engine.Version
	var created bool
	return p.onProposalThen(c, proposals.Typed{}, func(ctx context.Context, who engine.Who, id engine.ProposalID) (err error) {
		version, created, err = p.Door.PublishProposal(ctx, who, id, "")
		return err
	}, func(page string) string { return publishedAt(page, version, created) })
}

func (p *Pages) closeProposal(c *fiber.Ctx) error {
	return p.onProposal(c, proposals.Typed{}, p.Door.CloseProposal)
}

func (p *Pages) rebaseProposal(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	choices := map[string]string{}
	for i, path := range form["path"] {
		if side := oneOf(form.Get("side-"+strconv.Itoa(i)), flow.Published, flow.Proposed); side != "" {
			choices[path] = side
		}
	}
	return p.onProposal(c, proposals.Typed{}, func(ctx context.Context, who engine.Who, id engine.ProposalID) error {
		_, err := p.Door.Rebase(ctx, who, id, choices)
		return err
	})
}

func (p *Pages) resolveComment(c *fiber.Ctx) error {
	comment, err := api.NumberOf(c, "comment")
	if err != nil {
		return err
	}
	return p.onProposal(c, proposals.Typed{}, func(ctx context.Context, who engine.Who, id engine.ProposalID) error {
		_, err := p.Door.ResolveComment(ctx, who, id, int64(comment))
		return err
	})
}

// say gives a verdict or remarks on something; which of the two is the button that was pressed.
func (p *Pages) say(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	typed := proposals.Typed{Body: form.Get("body"), Activity: form.Get("activity"), Line: form.Get("line")}
	revision, _ := strconv.Atoi(form.Get("revision"))
	line, _ := strconv.Atoi(typed.Line)
	return p.onProposal(c, typed, func(ctx context.Context, who engine.Who, id engine.ProposalID) error {
		if verdict := form.Get("verdict"); verdict != "remark" {
			if !May(c, auth.Review) {
				return engine.Refuse("forbidden", "verdicts need the right to review")
			}
			_, err := p.Door.Review(ctx, who, id, engine.ReviewRequest{Verdict: verdict, Body: typed.Body, Revision: revision})
			return err
		}
		_, err := p.Door.CommentProposal(ctx, who, id, engine.CommentRequest{Activity: typed.Activity, Line: line, Body: typed.Body})
		return err
	})
}
