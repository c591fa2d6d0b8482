package api

import (
	"io"
	"maps"
	"math"
	"mime"
	"mime/multipart"
	"slices"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// SaveFile keeps an upload: the body as it is, named by ?name=, or the first part of a multipart form.
func (a *API) SaveFile(c *fiber.Ctx) error {
	q := queryOf(c)
	name, kind, content := q.text("name"), c.Get(fiber.HeaderContentType), c.Body()
	if q.err != nil {
		return q.err
	}
	if mediaTypeOf(c) == fiber.MIMEMultipartForm {
		var err error
		if name, kind, content, err = firstPart(c); err != nil {
			return err
		}
	}
	return a.once(c, func() (int, any, error) {
		file, err := a.door.SaveFile(c.UserContext(), who(c), name, kind, content)
		return fiber.StatusCreated, file, err
	})
}

func firstPart(c *fiber.Ctx) (name, kind string, content []byte, err error) {
	form, err := c.MultipartForm()
	if err != nil {
		return "", "", nil, engine.Refuse("bad_request", "the form cannot be read: "+err.Error())
	}
	for _, field := range slices.Sorted(maps.Keys(form.File)) {
		if parts := form.File[field]; len(parts) > 0 {
			content, err := ReadPart(parts[0])
			return parts[0].Filename, parts[0].Header.Get(fiber.HeaderContentType), content, err
		}
	}
	return "", "", nil, engine.Refuse("bad_request", "the form holds no file")
}

// ReadPart reads a file of a form.
func ReadPart(part *multipart.FileHeader) ([]byte, error) {
	file, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// File answers the content of a file, always as a download.
func (a *API) File(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	file, content, err := a.door.File(c.UserContext(), who(c), id)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, file.Type)
	c.Set(fiber.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}))
	c.Set(fiber.HeaderETag, quoteETag(file.SHA256))
	return c.Send(content)
}

// Log answers what an attempt of an activity printed.
func (a *API) Log(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	q := queryOf(c)
	request := engine.LogRequest{Item: q.text("item"), Attempt: int(q.number("attempt", 0, math.MaxInt32, 0)), After: int(q.number("after", 0, math.MaxInt32, 0))}
	activity := c.Params("activity")
	if q.truth("compensating") {
		activity += "/compensate"
	}
	if q.err != nil {
		return q.err
	}
	log, err := a.door.ActivityLog(c.UserContext(), who(c), id, activity, request)
	return ok(c, log, err)
}
