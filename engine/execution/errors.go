package execution

import (
	"errors"
	"fmt"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Classes of error.
const (
	classActivity       = "activity"       // the definition, or what it was given
	classWorkflow       = "workflow"       // the execution as a whole
	classInfrastructure = "infrastructure" // ours; uses no attempt up
	classExternal       = "external"       // the other side
)

// ErrStale says that a message came too late, twice, or for something that is not there any more. It
// changes nothing and is not to be retried.
var ErrStale = errors.New("stale")

func stale(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrStale, fmt.Sprintf(format, args...))
}

// Error makes a failure usable as a Go error.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

func failure(kind, class, format string, args ...any) *Error {
	return &Error{Type: kind, Class: class, Message: fmt.Sprintf(format, args...)}
}

// asFailure turns an error of an evaluation into the failure of what was evaluated.
func asFailure(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	f := failure("expr.eval", classActivity, "%s", err)
	var e *expr.Error
	if errors.As(err, &e) {
		f.Detail = map[string]any{"expression": e.Source, "line": int64(e.Line), "column": int64(e.Column)}
	}
	return f
}

// placed says where in the execution and in the definition a failure happened.
func placed(f *Error, p place) *Error {
	c := *f
	c.Activity, c.Item, c.Attempt = p.Activity, p.Item, p.run.Attempt
	c.Detail = expr.Solid(c.Detail)
	if c.Class == "" {
		c.Class = classActivity
	}
	if c.Position == nil && p.act.Pos != (flow.Pos{}) {
		c.Position = map[string]any{"line": int64(p.act.Pos.Line), "column": int64(p.act.Pos.Column)}
	}
	return &c
}
