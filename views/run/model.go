// Package run owns the page that starts an execution: a form made from the workflow's input schema, or the
// same input as JSON. It must not know how an execution is started.
package run

import "weftline/views/form"

// Names of the page's own fields; input fields are JSON pointers and so begin with a slash.
const (
	AsField     = "_as" // json when the input is given so, else the form
	JSONField   = "_json"
	SwitchField = "_switch" // pressed to change the way
	KeyField    = "_key"    // idempotency key of the start
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
	Key         string // idempotency key: one form starts one execution
	CSRF        string
	MayRun      bool
	From        string // the execution whose input fills the form, "" = none
	LeftOut     bool   // sensitive values of that input, which nobody may see
	Differs     bool   // the draft is another than what runs
}

func (v View) needsNothing() bool { return !v.AsJSON && len(v.Form.Fields) == 0 }
