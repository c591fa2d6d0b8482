// Package proposals owns the pages of review before publishing: the list of proposals, and one proposal with
// its checks, verdicts, remarks and conflicts. It must not know how verdicts are counted or texts merged.
package proposals

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"weftline/views/state"
	"weftline/views/versions"
)

// List is the page of proposals.
type List struct {
	Now      time.Time
	Workflow string // "" = of the whole team
	State    string // open, published, closed
	Rows     []Row
	Next     string // address of the next page
}

// address is that of the list in another state.
func (l List) address(state string) string {
	query := url.Values{"state": {state}}
	if l.Workflow != "" {
		query.Set("workflow", l.Workflow)
	}
	return "/reviews?" + query.Encode()
}

// Row is one proposal of the list.
type Row struct {
	Workflow, Title, Author, State string
	Number, Approvals, Required    int
	Asked                          bool // the viewer was asked to review it
	UpdatedAt                      time.Time
}

// URL is the page of the proposal.
func (r Row) URL() string { return Address(r.Workflow, r.Number) }

func (r Row) approvals() string {
	if r.Required == 0 {
		return strconv.Itoa(r.Approvals)
	}
	return strconv.Itoa(r.Approvals) + " of " + strconv.Itoa(r.Required)
}

// Address is the page of a proposal.
func Address(workflow string, number int) string {
	return "/workflows/" + workflow + "/proposals/" + strconv.Itoa(number)
}

// View is the page of one proposal.
type View struct {
	Row
	Now                    time.Time
	Description            string
	Reviewers, Editors     []string
	Revision, Next         int // Next is the version that publishing makes
	Version                int // that it was published as, 0 = none
	Published              versions.Publishing
	EndedBy                string
	Checks                 []Check
	Risks                  []Risk
	Affects                []string
	Conflicts              []Conflict
	Talk                   []Remark
	Activities             []string // that a comment can be about
	Comparison             versions.Comparison
	Open, Current          bool // Current: made against what is published
	MayAuthor, MayReview   bool
	MayApprove, MayPublish bool
	WhyNot                 string // why the viewer may not approve
	Refused                string // why the last try was refused
	Typed                  Typed
	CSRF                   string
}

// Typed is what the form held when it was refused.
type Typed struct{ Body, Activity, Line string }

// Check is one condition of publishing.
type Check struct {
	OK      bool
	Message string
	Details []string
}

// Risk is something that reviewers should not overlook.
type Risk struct{ Message, Activity string }

// Conflict is a field that both sides changed.
type Conflict struct {
	Path, Base, Published, Proposed string
}

// Remark is a verdict or a comment, in the order of time.
type Remark struct {
	ID          string // of a comment, "" for a verdict
	By, Verdict string
	Body        string
	About       string // "activity pay", "line 12"
	Line        string // the text of that line
	At          time.Time
	Revision    int
	Dismissed   bool
	Outdated    bool
	ResolvedBy  string
}

func (r Remark) headline() string {
	switch r.Verdict {
	case "approve":
		return "approved revision " + strconv.Itoa(r.Revision)
	case "request_changes":
		return "asked for changes"
	case "comment":
		return "remarked"
	}
	if r.About != "" {
		return "on " + r.About
	}
	return "remarked"
}

// look is the mark of a proposal's state, in the words of the list.
func look(name string) state.Look {
	switch name {
	case "approved":
		return state.Look{Mark: "tick", Tone: "completed", Word: "Approved"}
	case "changes_requested":
		return state.Look{Mark: "retry", Tone: "retrying", Word: "Changes asked for"}
	case "published":
		return state.Look{Mark: "tick", Tone: "completed", Word: "Published"}
	case "closed":
		return state.Look{Mark: "square", Tone: "cancelled", Word: "Closed"}
	}
	return state.Look{Mark: "person", Tone: "person", Word: "Waiting for a review"}
}

func checkLook(ok bool) state.Look {
	if ok {
		return state.Look{Mark: "tick", Tone: "completed", Word: "met"}
	}
	return state.Look{Mark: "ring", Tone: "person", Word: "not met"}
}

// Value is a value of a conflict for people.
func Value(value any) string {
	if value == nil {
		return "absent"
	}
	if text, ok := value.(string); ok {
		return text
	}
	content, _ := json.MarshalIndent(value, "", "  ") // plain JSON values always have a form
	return string(content)
}
