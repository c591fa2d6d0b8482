package api

import (
	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// RebaseRequest decides conflicts: for the path of each, published or proposed.
type RebaseRequest struct {
	Choices map[string]string `json:"choices"`
}

// proposalID reads which proposal the address names.
func proposalID(c *fiber.Ctx) (engine.ProposalID, error) {
	number, err := NumberOf(c, "number")
	return engine.ProposalID{Workflow: c.Params("name"), Number: number}, err
}

// Proposals lists proposals of the team, or of one workflow.
func (a *API) Proposals(c *fiber.Ctx) error { return a.listProposals(c, "") }

// WorkflowProposals lists the proposals of one workflow.
func (a *API) WorkflowProposals(c *fiber.Ctx) error { return a.listProposals(c, c.Params("name")) }

func (a *API) listProposals(c *fiber.Ctx, workflow string) error {
	q := queryOf(c)
	filter := engine.ProposalFilter{PageRequest: q.page(), Workflow: workflow, State: q.text("state"), AwaitsMe: q.text("awaiting") == "me"}
	if other := q.text("awaiting"); other != "" && other != "me" {
		return engine.Refuse("bad_request", "awaiting is me")
	}
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Proposals(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// Propose snapshots the draft for a review.
func (a *API) Propose(c *fiber.Ctx) error {
	request, err := body[engine.ProposalRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		proposal, err := a.door.Propose(c.UserContext(), who(c), c.Params("name"), request)
		return fiber.StatusCreated, proposal, err
	})
}

// Proposal answers one with all that a reviewer needs.
func (a *API) Proposal(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	proposal, err := a.door.Proposal(c.UserContext(), who(c), id)
	return ok(c, proposal, err)
}

// Revise snapshots the draft anew.
func (a *API) Revise(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	proposal, err := a.door.Revise(c.UserContext(), who(c), id)
	return ok(c, proposal, err)
}

// Rebase carries a proposal over to what was published meanwhile.
func (a *API) Rebase(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	request, err := body[RebaseRequest](c)
	if err != nil {
		return err
	}
	proposal, err := a.door.Rebase(c.UserContext(), who(c), id, request.Choices)
	return ok(c, proposal, err)
}

// Review gives a verdict.
func (a *API) Review(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	request, err := body[engine.ReviewRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		review, err := a.door.Review(c.UserContext(), who(c), id, request)
		return fiber.StatusCreated, review, err
	})
}

// CommentProposal adds a remark.
func (a *API) CommentProposal(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	request, err := body[engine.CommentRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		comment, err := a.door.CommentProposal(c.UserContext(), who(c), id, request)
		return fiber.StatusCreated, comment, err
	})
}

// ResolveComment settles a remark.
func (a *API) ResolveComment(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	number, err := NumberOf(c, "comment")
	if err != nil {
		return err
	}
	comment, err := a.door.ResolveComment(c.UserContext(), who(c), id, int64(number))
	return ok(c, comment, err)
}

// PublishProposal makes the proposed content the current version.
func (a *API) PublishProposal(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	request, err := body[PublishRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		version, created, err := a.door.PublishProposal(c.UserContext(), who(c), id, request.Message)
		if created {
			return fiber.StatusCreated, version, err
		}
		return fiber.StatusOK, version, err
	})
}

// CloseProposal ends one without publishing it.
func (a *API) CloseProposal(c *fiber.Ctx) error {
	id, err := proposalID(c)
	if err != nil {
		return err
	}
	if err := a.door.CloseProposal(c.UserContext(), who(c), id); err != nil {
		return err
	}
	proposal, err := a.door.Proposal(c.UserContext(), who(c), id)
	return ok(c, proposal.Proposal, err)
}
