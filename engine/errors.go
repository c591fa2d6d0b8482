package engine

import (
	"errors"

	"weftline/engine/flow"
)

// Error is a refusal with a meaning for the caller; Code is one of the API's stable words.
type Error struct {
	Code              string // bad_request, forbidden, self_approval, not_found, conflict, idempotency_mismatch, review_required, not_published, limit_reached, stale, too_large, invalid_definition, invalid_input, precondition_required, not_ready …
	Message           string
	Problems          []flow.Problem // for invalid_definition and invalid_input; Path is a JSON pointer for inputs
	Draft             *Draft         // for stale: the other side
	RetryAfterSeconds int
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// isRefusal reports whether an error is a refusal with that code.
func isRefusal(err error, code string) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == code
}

// Refuse makes an Error.
func Refuse(code, message string) *Error { return &Error{Code: code, Message: message} }
