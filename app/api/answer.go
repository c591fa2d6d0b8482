package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"weftline/engine/instants"
)

// answer sends a value as JSON with the status.
func answer(c *fiber.Ctx, status int, value any) error {
	return sendJSON(c.Status(status), value, fiber.MIMEApplicationJSON)
}

func sendJSON(c *fiber.Ctx, value any, mediaType string) error {
	body, err := instants.JSON(value)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, mediaType)
	c.Response().SetBodyRaw(append(body, '\n'))
	return nil
}

func quoteETag(etag string) string { return `"` + etag + `"` }

func itoa(n int) string { return strconv.Itoa(n) }
