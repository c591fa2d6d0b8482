package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/instants"
)

// Identity is what the handlers need to know of tokens, teams and the audit.
type Identity interface {
	People
	CreateToken(ctx context.Context, who engine.Who, request engine.TokenRequest) (engine.Token, string, error)
	Tokens(ctx context.Context, who engine.Who, page engine.PageRequest) (engine.Page[engine.Token], error)
	DeleteToken(ctx context.Context, who engine.Who, id uuid.UUID) error
	// Once answers what act answered first for this operation and key. Another body is idempotency_mismatch;
	// a first request that is still at work is conflict. An error of act is not kept.
	Once(ctx context.Context, who engine.Who, operation, key string, body []byte, act func() (json.RawMessage, error)) (json.RawMessage, error)
	Audit(ctx context.Context, who engine.Who, filter engine.AuditFilter) (engine.Page[engine.AuditEntry], error)
}

// NewToken is a token with its value, which is shown this once.
type NewToken struct {
	engine.Token
	Value string `json:"token"`
}

// Me is who asks.
type Me struct {
	User   string   `json:"user"`
	Team   string   `json:"team"`
	Groups []string `json:"groups"`
	Roles  []string `json:"roles"`
	Scopes []string `json:"scopes"`
}

// Me answers who asks.
func (a *API) Me(c *fiber.Ctx) error {
	asker := who(c)
	return answer(c, fiber.StatusOK, Me{User: asker.User, Team: asker.TeamName,
		Groups: words(asker.Groups), Roles: words(asker.Roles), Scopes: words(asker.Scopes)})
}

func words(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// CreateToken makes a token; its value is in this answer and nowhere else. With an Idempotency-Key the answer is
// kept with the value encrypted, so that a repeat gets the same token.
func (a *API) CreateToken(c *fiber.Ctx) error {
	request, err := body[engine.TokenRequest](c)
	if err != nil {
		return err
	}
	create := func() (NewToken, error) {
		token, value, err := a.identity.CreateToken(c.UserContext(), who(c), request)
		return NewToken{Token: token, Value: value}, err
	}
	key := c.Get("Idempotency-Key")
	if key == "" {
		made, err := create()
		if err != nil {
			return err
		}
		return answer(c, fiber.StatusCreated, made)
	}
	kept, err := a.identity.Once(c.UserContext(), who(c), c.Method()+" "+c.Path(), key, c.Body(), func() (json.RawMessage, error) {
		made, err := create()
		if err == nil {
			made.Value, err = a.vault.Hide(who(c), made.Value)
		}
		if err != nil {
			return nil, err
		}
		return instants.JSON(made)
	})
	if err != nil {
		return err
	}
	return a.revealToken(c, kept)
}

func (a *API) revealToken(c *fiber.Ctx, kept json.RawMessage) error {
	var made NewToken
	if err := json.Unmarshal(kept, &made); err != nil {
		return err
	}
	value, err := a.vault.Reveal(who(c), made.Value)
	if err != nil {
		return err
	}
	made.Value = value
	return answer(c, fiber.StatusCreated, made)
}

// Tokens lists tokens without their values.
func (a *API) Tokens(c *fiber.Ctx) error {
	q := queryOf(c)
	page := q.page()
	if q.err != nil {
		return q.err
	}
	tokens, err := a.identity.Tokens(c.UserContext(), who(c), page)
	return list(c, tokens, err)
}

// DeleteToken withdraws a token.
func (a *API) DeleteToken(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	if err := a.identity.DeleteToken(c.UserContext(), who(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// Team answers the asker's team.
func (a *API) Team(c *fiber.Ctx) error {
	team, err := a.door.Team(c.UserContext(), who(c))
	return ok(c, team, err)
}

// ChangePolicy changes the fields of the policy that are given.
func (a *API) ChangePolicy(c *fiber.Ctx) error {
	change, err := body[engine.PolicyChange](c)
	if err != nil {
		return err
	}
	policy, err := a.door.ChangePolicy(c.UserContext(), who(c), change)
	return ok(c, policy, err)
}
