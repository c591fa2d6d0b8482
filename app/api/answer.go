package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

// answer sends a value as JSON with the status.
func answer(c *fiber.Ctx, status int, value any) error {
	return sendJSON(c.Status(status), value, fiber.MIMEApplicationJSON)
}

// sendJSON keeps <, > and & as they are: the answer is never part of a page, and texts stay readable.
func sendJSON(c *fiber.Ctx, value any, mediaType string) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, mediaType)
	c.Response().SetBodyRaw(body.Bytes())
	return nil
}

func quoteETag(etag string) string { return `"` + etag + `"` }

func itoa(n int) string { return strconv.Itoa(n) }
