package web

import (
	"fmt"
	"io"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

const (
	envelope = 64 << 10 // what a body may hold beside its payload
	drainMax = 64 << 20 // of a body that is too large, so much is read away before the connection is given up
)

// readBody reads the whole body of at most limit bytes. The server streams bodies, so nothing larger is
// ever held in memory, and a client that sends too much still gets its answer.
func readBody(c *fiber.Ctx, limit int) error {
	stream := c.Context().RequestBodyStream()
	if stream == nil {
		return nil
	}
	if c.Request().Header.ContentLength() > limit {
		return tooLarge(limit)
	}
	body, err := io.ReadAll(io.LimitReader(stream, int64(limit)+1))
	if err != nil {
		c.Context().SetConnectionClose()
		return engine.Refuse("bad_request", "the body broke off: "+err.Error())
	}
	if len(body) > limit {
		return tooLarge(limit)
	}
	c.Request().SetBody(body)
	return nil
}

func tooLarge(limit int) error {
	return engine.Refuse("too_large", fmt.Sprintf("a body of this request may have at most %d bytes", limit))
}

// drainBody reads away what no handler read: else it would be taken for the next request.
func drainBody(c *fiber.Ctx) error {
	err := c.Next()
	if stream := c.Context().RequestBodyStream(); stream != nil {
		n, readErr := io.CopyN(io.Discard, stream, drainMax)
		if readErr != io.EOF || n == drainMax {
			c.Context().SetConnectionClose()
		}
	}
	return err
}
