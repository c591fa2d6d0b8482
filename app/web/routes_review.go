package web

import (
	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
)

// reviewRoutes: authors propose and publish, reviewers give verdicts, both may talk.
func reviewRoutes(a *api.API) []Route {
	const one = "/workflows/:name/proposals/:number"
	states := append([]string{"state", "awaiting"}, paging...)
	return []Route{
		{Method: get, Path: "/proposals", Needs: auth.Read, Handle: a.Proposals,
			Says: "Lists the proposals of the team, the one changed last first.", Query: states, Answers: api.Page[engine.Proposal]{}},
		{Method: get, Path: "/workflows/:name/proposals", Needs: auth.Read, Handle: a.WorkflowProposals,
			Says: "Lists the proposals of a workflow.", Query: states, Answers: api.Page[engine.Proposal]{}},
		{Method: post, Path: "/workflows/:name/proposals", Needs: auth.Author, Handle: a.Propose,
			Says: "Snapshots the draft for a review.", Takes: engine.ProposalRequest{}, Answers: engine.Proposal{}, Status: 201},
		{Method: get, Path: one, Needs: auth.Read, Handle: a.Proposal,
			Says: "One proposal with its diff, reviews, comments, checks, conflicts and risks.", Answers: engine.ProposalDetail{}},
		{Method: post, Path: one + "/revise", Needs: auth.Author, Handle: a.Revise,
			Says: "Snapshots the draft anew; approvals of another content are dismissed.", Answers: engine.Proposal{}},
		{Method: post, Path: one + "/rebase", Needs: auth.Author, Handle: a.Rebase,
			Says: "Merges it with what was published meanwhile; choices decide conflicts.", Takes: api.RebaseRequest{}, Answers: engine.Proposal{}},
		{Method: post, Path: one + "/reviews", Needs: auth.Review, Handle: a.Review,
			Says: "Gives a verdict; 403 self_approval for who worked on it.", Takes: engine.ReviewRequest{}, Answers: engine.Review{}, Status: 201},
		{Method: post, Path: one + "/comments", Needs: auth.Discuss, Handle: a.CommentProposal,
			Says: "Remarks on an activity, a line or the whole.", Takes: engine.CommentRequest{}, Answers: engine.Comment{}, Status: 201},
		{Method: post, Path: one + "/comments/:comment/resolve", Needs: auth.Discuss, Handle: a.ResolveComment,
			Says: "Settles a remark.", Answers: engine.Comment{}},
		{Method: post, Path: one + "/publish", Needs: auth.Author, Handle: a.PublishProposal,
			Says: "Publishes what was approved; 409 review_required before that.", Takes: api.PublishRequest{}, Answers: engine.Version{}, Status: 201},
		{Method: post, Path: one + "/close", Needs: auth.Author, Handle: a.CloseProposal,
			Says: "Ends it without publishing.", Answers: engine.Proposal{}},
	}
}
