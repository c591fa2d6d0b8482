package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"weftline/engine/instants"
)

// keptAnswer is a first answer as it is kept for repeats of the request.
type keptAnswer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// once does what creates something, and answers. With an Idempotency-Key the first good answer is kept for
// 24 hours: the same key with the same body answers it again and does nothing.
func (a *API) once(c *fiber.Ctx, act func() (status int, value any, err error)) error {
	key := c.Get("Idempotency-Key")
	if key == "" {
		status, value, err := act()
		if err != nil {
			return err
		}
		return answer(c, status, value)
	}
	kept, err := a.identity.Once(c.UserContext(), who(c), c.Method()+" "+c.Path(), key, c.Body(), func() (json.RawMessage, error) {
		status, value, err := act()
		if err != nil {
			return nil, err
		}
		body, err := instants.JSON(value)
		if err != nil {
			return nil, err
		}
		return json.Marshal(keptAnswer{Status: status, Body: body})
	})
	if err != nil {
		return err
	}
	var first keptAnswer
	if err := json.Unmarshal(kept, &first); err != nil {
		return err
	}
	return answer(c, first.Status, first.Body)
}
