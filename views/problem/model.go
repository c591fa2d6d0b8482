// Package problem owns the page of a refusal or a fault: what happened, what it means for the person's
// work, what to do next, and the request id. It must not know where the failure came from.
package problem

// View is the page.
type View struct {
	Again     string // where to sign in anew for what was refused, "" = nowhere
	Status    int
	Title     string
	Detail    string
	RequestID string
}

// meaning says what a failure means for the person's work.
func (v View) meaning() string {
	switch {
	case v.Status == 404:
		return "It may have been renamed or removed, or it belongs to another team."
	case v.Status == 401:
		return "You are not signed in, or your session has ended. Nothing was changed."
	case v.Status == 403:
		return "Nothing was changed. Somebody who administers the team can give you the right."
	case v.Status == 409:
		return "Somebody or something was faster. Nothing was changed by you; look at how it stands now."
	case v.Status == 412:
		return "The text was changed elsewhere since you opened it. Your own text is not lost: go back to it."
	case v.Status == 413:
		return "Nothing was saved. Go back: what you typed is still there."
	case v.Status == 429, v.Status == 503:
		return "Nothing was lost. Try again in a moment."
	case v.Status >= 500:
		return "This is our fault, not yours. What was acknowledged before is safe; running executions go on."
	default:
		return "Nothing was changed. Go back: what you typed is still there."
	}
}
