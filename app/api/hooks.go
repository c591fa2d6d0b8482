package api

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/strictjson"
	"weftline/engine"
)

// GetHook takes GET requests.
func (a *API) GetHook(c *fiber.Ctx) error { return a.hook(c) }

// PostHook takes POST requests.
func (a *API) PostHook(c *fiber.Ctx) error { return a.hook(c) }

// PutHook takes PUT requests.
func (a *API) PutHook(c *fiber.Ctx) error { return a.hook(c) }

// hook hands a request from outside to the webhook that its address names. Who sends it is the webhook's
// own question.
func (a *API) hook(c *fiber.Ctx) error {
	result, err := a.door.Hook(c.UserContext(), engine.HookRequest{
		Team: c.Params("team"), Path: c.Params("*"), Method: c.Method(), Headers: headersOf(c), Query: queryMap(c),
		Raw: c.Request().Body(), Body: func() (any, error) { return hookBody(c) },
		Address: c.IP(), Request: string(c.Response().Header.Peek(fiber.HeaderXRequestID)),
	})
	if err != nil {
		return err
	}
	if result.Ended || result.Skipped {
		return answer(c, fiber.StatusOK, result)
	}
	return answer(c, fiber.StatusAccepted, result)
}

// headersOf has names in lower case, several values joined.
func headersOf(c *fiber.Ctx) map[string]string {
	headers := map[string]string{}
	c.Request().Header.VisitAll(func(name, value []byte) {
		key := strings.ToLower(string(name))
		if before, several := headers[key]; several {
			headers[key] = before + ", " + string(value)
		} else {
			headers[key] = string(value)
		}
	})
	return headers
}

func queryMap(c *fiber.Ctx) map[string]string {
	values := map[string]string{}
	c.Context().QueryArgs().VisitAll(func(name, value []byte) { values[string(name)] = string(value) })
	return values
}

// hookBody reads a body by its content type: JSON, a form as an object, anything else as text; none is null.
func hookBody(c *fiber.Ctx) (any, error) {
	raw := c.Request().Body()
	mediaType := mediaTypeOf(c)
	switch {
	case len(raw) == 0:
		return nil, nil
	case mediaType == fiber.MIMEApplicationForm:
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, engine.Refuse("bad_request", "the form cannot be read: "+err.Error())
		}
		return formValues(form), nil
	case mediaType == "", mediaType == fiber.MIMEApplicationJSON, strings.HasSuffix(mediaType, "+json"):
		value, err := strictjson.Parse(raw)
		if err != nil {
			return nil, unreadable("bad_request", err)
		}
		return value, nil
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD"), nil
}

func formValues(form url.Values) map[string]any {
	values := make(map[string]any, len(form))
	for name, given := range form {
		values[name] = strings.Join(given, ", ")
	}
	return values
}
