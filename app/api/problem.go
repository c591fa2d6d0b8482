package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/engine/flow"
)

// ProblemType is the media type of refusals and faults (RFC 9457).
const ProblemType = "application/problem+json"

// Problem is the body of every answer of 400 and above.
type Problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Code      string         `json:"code"` // stable machine word
	RequestID string         `json:"requestId"`
	Errors    []flow.Problem `json:"errors"`

	// Only with code stale: what the other side saved, so that nobody's work is lost.
	ETag      string     `json:"etag,omitempty"`
	Text      *string    `json:"text,omitempty"`
	UpdatedBy string     `json:"updatedBy,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`

	RetryAfter int `json:"-"` // seconds, 0 = none
}

// meaning is what a code means to HTTP and to a reader.
type meaning struct {
	status int
	title  string
}

var meanings = map[string]meaning{
	"bad_request":           {400, "The request cannot be read"},
	"unauthenticated":       {401, "A valid credential is needed"},
	"forbidden":             {403, "Not allowed"},
	"sign_in_again":         {403, "Sign in again to do this"},
	"self_approval":         {403, "Nobody may approve their own change"},
	"not_found":             {404, "Not found"},
	"method_not_allowed":    {405, "This address does not take that method"},
	"timeout":               {408, "The request took too long to arrive"},
	"conflict":              {409, "Not possible in the present state"},
	"idempotency_mismatch":  {409, "This Idempotency-Key was used with another body"},
	"review_required":       {409, "The team's policy asks for a review"},
	"not_published":         {409, "The workflow is not published"},
	"limit_reached":         {409, "The limit is reached"},
	"lease_lost":            {409, "The lease is no longer held"},
	"wrong_path":            {409, "Not the leased activity"},
	"stale":                 {412, "Somebody else saved in the meantime"},
	"too_large":             {413, "Too large"},
	"unsupported_media":     {415, "Media type not supported"},
	"invalid_definition":    {422, "The definition is not valid"},
	"invalid_input":         {422, "The input is not valid"},
	"precondition_required": {428, "A precondition header is needed"},
	"rate_limited":          {429, "Too many requests"},
	"headers_too_large":     {431, "The headers are too large"},
	"internal":              {500, "Something went wrong on this side"},
	"not_ready":             {503, "Not ready at the moment"},
}

// codes of the refusals that the HTTP library makes by itself.
var codeOfStatus = map[int]string{
	400: "bad_request", 404: "not_found", 405: "method_not_allowed", 408: "timeout", 413: "too_large",
	426: "bad_request", 431: "headers_too_large",
}

// ProblemOf turns any error into what a client may know of it. An error without a meaning for the caller
// becomes "internal" and says nothing of the inside; whoever calls this logs it.
func ProblemOf(err error, requestID string) Problem {
	refusal := refusalOf(err)
	means := meanings[refusal.Code]
	if means.status == 0 {
		means = meanings["conflict"]
	}
	problem := Problem{
		Type: "https://weftline.dev/problems/" + strings.ReplaceAll(refusal.Code, "_", "-"), Title: means.title,
		Status: means.status, Detail: refusal.Message, Code: refusal.Code, RequestID: requestID,
		Errors: refusal.Problems, RetryAfter: refusal.RetryAfterSeconds,
	}
	if problem.Errors == nil {
		problem.Errors = []flow.Problem{}
	}
	if problem.RetryAfter == 0 && (problem.Status == 429 || problem.Status == 503) {
		problem.RetryAfter = 1
	}
	if other := refusal.Draft; other != nil {
		problem.ETag, problem.Text = other.ETag, &other.Text
		problem.UpdatedBy, problem.UpdatedAt = other.By, &other.At
	}
	return problem
}

func refusalOf(err error) *engine.Error {
	var refusal *engine.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	var byLibrary *fiber.Error
	if errors.As(err, &byLibrary) {
		if code, ok := codeOfStatus[byLibrary.Code]; ok {
			return engine.Refuse(code, byLibrary.Message)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return engine.Refuse("not_ready", "the answer took too long; try again")
	}
	if engine.IsOutage(err) {
		return engine.Refuse("not_ready", "the database cannot be reached at the moment; try again")
	}
	return engine.Refuse("internal", "the fault is logged under this request id; nothing more is known here")
}

// SendProblem answers with a problem.
func SendProblem(c *fiber.Ctx, problem Problem) error {
	if problem.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, itoa(problem.RetryAfter))
	}
	if problem.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	if problem.ETag != "" {
		c.Set(fiber.HeaderETag, quoteETag(problem.ETag))
	}
	return sendJSON(c.Status(problem.Status), problem, ProblemType)
}
