package api

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"weftline/app/strictjson"
	"weftline/engine"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// body reads the request's JSON body into T. No body at all is the same as {}.
func body[T any](c *fiber.Ctx) (T, error) {
	var target T
	if len(c.Body()) == 0 {
		return target, nil
	}
	if mediaType := mediaTypeOf(c); mediaType != "" && mediaType != fiber.MIMEApplicationJSON {
		return target, engine.Refuse("unsupported_media", "send the body as Content-Type: application/json, not "+mediaType)
	}
	value, err := strictjson.Parse(c.Body())
	if err != nil {
		return target, unreadable("bad_request", err)
	}
	if _, isObject := value.(map[string]any); !isObject {
		return target, engine.Refuse("bad_request", "the body must be a JSON object")
	}
	if err := strictjson.Assign(value, &target); err != nil {
		return target, unreadable("invalid_input", err)
	}
	return target, nil
}

func mediaTypeOf(c *fiber.Ctx) string {
	mediaType, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}

func unreadable(code string, err error) error {
	refusal := &engine.Error{Code: code, Message: err.Error()}
	var at *strictjson.Error
	if errors.As(err, &at) {
		refusal.Problems = []flow.Problem{{
			Path: at.Pointer, Pos: flow.Pos{Line: at.Line, Column: at.Column, EndLine: at.Line, EndColumn: at.Column},
			Code: code, Severity: "error", Message: at.Message,
		}}
	}
	return refusal
}

// missing refuses a body without one of its required fields.
func missing(field string) error {
	return unreadable("invalid_input", &strictjson.Error{Pointer: "/" + field, Message: "the field " + strconv.Quote(field) + " is required"})
}

// idOf reads an id from the path. What is no id names nothing, so it is not found.
func idOf(c *fiber.Ctx, name string) (uuid.UUID, error) {
	text := c.Params(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, engine.Refuse("not_found", "there is nothing with the id "+strconv.Quote(text))
	}
	return id, nil
}

// NumberOf reads a whole number of at least 1 from the path, in the one spelling it has: 01 and +1 name nothing.
func NumberOf(c *fiber.Ctx, name string) (int, error) {
	text := c.Params(name)
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || strconv.Itoa(number) != text {
		return 0, engine.Refuse("not_found", "there is no "+name+" "+strconv.Quote(text))
	}
	return number, nil
}

// query reads query parameters and keeps the first complaint.
type query struct {
	args *fasthttp.Args
	err  error
}

func queryOf(c *fiber.Ctx) *query { return &query{args: c.Context().QueryArgs()} }

func (q *query) text(name string) string { return string(q.args.Peek(name)) }

// RefuseForeign refuses a parameter that is not among the known: a misspelt filter would answer what it was to leave out.
func RefuseForeign(args *fasthttp.Args, known []string) (refused error) {
	args.VisitAll(func(key, _ []byte) {
		name := string(key)
		if refused != nil || slices.Contains(known, name) {
			return
		}
		message := "there is no query parameter " + strconv.Quote(name) + " here"
		if near := expr.Nearest(name, known); near != "" {
			message += "; did you mean " + near + "?"
		}
		refused = engine.Refuse("bad_request", message)
	})
	return refused
}

// Repeatable are the parameters that may be given more than once.
var Repeatable = []string{"label", "status"}

// RefuseRepeated refuses a parameter of one value that is given twice: one of the two would be passed over.
func RefuseRepeated(args *fasthttp.Args) (refused error) {
	seen := map[string]bool{}
	args.VisitAll(func(key, _ []byte) {
		name := string(key)
		if seen[name] && refused == nil && !slices.Contains(Repeatable, name) {
			refused = engine.Refuse("bad_request", "the query parameter "+name+" is given twice, it has one value")
		}
		seen[name] = true
	})
	return refused
}

// list answers all values of a parameter that may be repeated or hold commas.
func (q *query) list(name string) []string {
	var all []string
	for _, value := range q.args.PeekMulti(name) {
		for _, part := range strings.Split(string(value), ",") {
			if part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

func (q *query) number(name string, least, most, otherwise int64) int64 {
	text := q.text(name)
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < least || number > most {
		q.refuse(name, "a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
	}
	return number
}

// oneOf refuses what is none of the known values; "" is not given.
func (q *query) oneOf(name string, known ...string) string {
	text := q.text(name)
	q.among(name, text, known)
	return text
}

func (q *query) among(name, value string, known []string) {
	if value != "" && !slices.Contains(known, value) && q.err == nil {
		q.err = engine.Refuse("bad_request", "the query parameter "+name+" is one of "+strings.Join(known, ", ")+", not "+strconv.Quote(value))
	}
}

// listOf is a list of known values.
func (q *query) listOf(name string, known []string) []string {
	values := q.list(name)
	for _, value := range values {
		q.among(name, value, known)
	}
	return values
}

func (q *query) truth(name string) bool {
	text := q.text(name)
	if text != "" && text != "true" && text != "false" {
		q.refuse(name, "true or false")
	}
	return text == "true"
}

func (q *query) time(name string) *time.Time {
	text := q.text(name)
	if text == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.refuse(name, "a time such as 2026-03-29T00:30:00.000Z")
	}
	return &at
}

func (q *query) id(name string) *uuid.UUID {
	text := q.text(name)
	if text == "" {
		return nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		q.refuse(name, "an id (a UUID)")
	}
	return &id
}

// labels reads label=k=v, which may be repeated.
func (q *query) labels() map[string]string {
	labels := map[string]string{}
	for _, pair := range q.list("label") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			q.refuse("label", "key=value")
		}
		labels[key] = value
	}
	return labels
}

func (q *query) page() engine.PageRequest {
	return engine.PageRequest{Limit: int(q.number("limit", 1, 500, 50)), Cursor: q.text("cursor")}
}

func (q *query) refuse(name, expected string) {
	if q.err == nil {
		q.err = engine.Refuse("bad_request", "the query parameter "+name+" must be "+expected+", not "+strconv.Quote(q.text(name)))
	}
}
