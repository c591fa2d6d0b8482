// Package run owns the page that starts an execution: a form made from the workflow's input schema, or the
// same input as JSON. It must not know how an execution is started.
package run

import "weftline/views/form"

// Names of the page's own fields; input fields are JSON pointers and so begin with a slash.
const (
	AsField   = "_as" // form or json: the way to give the input
	JSONField = "_json"
)

// View is the page.
type View struct {
	Name        string
	Version     int
	Description string
	Form        form.Form
	AsJSON      bool
	JSON        string // as typed
	Refused     string // why the last try was refused, when it was not about a field
	CSRF        string
	MayRun      bool
}

func (v View) needsNothing() bool { return !v.AsJSON && len(v.Form.Fields) == 0 }
