package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// Vault keeps secrets and never gives one back.
type Vault interface {
	PutSecret(ctx context.Context, who engine.Who, change engine.SecretChange) error
	DeleteSecret(ctx context.Context, who engine.Who, name string) error
	Secrets(ctx context.Context, who engine.Who, page engine.PageRequest) (engine.Page[engine.Secret], error)
	SecretsInUse(ctx context.Context, who engine.Who) (map[string][]string, error)
	// Hide encrypts a text for Reveal, which opens it for the same team; "" when there is no key.
	Hide(who engine.Who, text string) (string, error)
	Reveal(who engine.Who, hidden string) (string, error)
}

// SecretValue is a secret on its way in. Without usableBy that stays as it is; with it alone, the value does.
type SecretValue struct {
	Value    string   `json:"value"`
	UsableBy []string `json:"usableBy"`
}

// PutSecret keeps a value under a name.
func (a *API) PutSecret(c *fiber.Ctx) error {
	request, err := body[SecretValue](c)
	if err != nil {
		return err
	}
	if err := a.vault.PutSecret(c.UserContext(), who(c), engine.SecretChange{Name: c.Params("name"), Value: request.Value, UsableBy: request.UsableBy}); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// DeleteSecret forgets a secret.
func (a *API) DeleteSecret(c *fiber.Ctx) error {
	if err := a.vault.DeleteSecret(c.UserContext(), who(c), c.Params("name")); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// Secrets lists the names of secrets.
func (a *API) Secrets(c *fiber.Ctx) error {
	q := queryOf(c)
	page := q.page()
	if q.err != nil {
		return q.err
	}
	secrets, err := a.vault.Secrets(c.UserContext(), who(c), page)
	return list(c, secrets, err)
}
