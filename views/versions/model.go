// Package versions owns the list of a workflow's versions and the comparison of any two. It must not know
// how versions are kept.
package versions

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weftline/engine/flow"
	"weftline/views/diff"
	"weftline/views/ui"
)

// Row is one published version.
type Row struct {
	Number  int
	Message string
	By      string
	At      time.Time
	Hash    string // short
	Label   string // metadata.version
	Current bool
}

// View is the list.
type View struct {
	Now        time.Time
	Name       string
	Rows       []Row
	Draft      bool // a draft goes beyond what is published
	Next       string
	Continued  bool // not the first page of the list
	MayRestore bool
	CSRF       string
}

// Publishing is what a person has just published; Version 0 is nothing.
type Publishing struct {
	Name                string
	Version             int
	Again               bool // the version was there before: what was published does the same
	MayRun, MaySchedule bool
}

func (v Publishing) headline() string {
	if v.Again {
		return fmt.Sprintf("It does what version %d does, so version %[1]d is published with the new text.", v.Version)
	}
	return fmt.Sprintf("Version %d is published.", v.Version)
}

// Comparison is the page of two sides.
type Comparison struct {
	Name     string
	From, To string // a number, draft or published
	Sides    []string
	Groups   []diff.Group
	Unread   bool // a side cannot be read as a workflow: only the texts are compared
	Rows     []diff.Row
	FromText string
	ToText   string
}

// drawingOf is what the graph of a side is drawn from: nil when its text cannot be read, no activities without one.
func drawingOf(text string) *flow.Drawn {
	if text == "" {
		return &flow.Drawn{Workflow: json.RawMessage(`{}`)}
	}
	return flow.Drawing([]byte(text))
}

// Side is how a side of a comparison is called.
func Side(side string) string {
	switch side {
	case "draft":
		return "Draft"
	case "published":
		return "Published"
	case "proposal":
		return "Proposal"
	case "", "nothing":
		return "Nothing published"
	default:
		return "Version " + side
	}
}

// ShortHash is enough of a content hash to tell versions apart.
func ShortHash(hash string) string {
	if len(hash) > 10 {
		return hash[:10]
	}
	return hash
}

// Same is how one side is called within a sentence.
func Same(side string) string {
	if name := Side(side); name != "Nothing published" {
		return strings.ToLower(name[:1]) + name[1:]
	}
	return "empty"
}

// restoring makes an old version the draft.
func (v View) restoring(row Row) ui.Asking {
	number := strconv.Itoa(row.Number)
	return ui.Asking{URL: "/workflows/" + v.Name + "/versions/" + number + "/restore", CSRF: v.CSRF,
		Verb: "Make version " + number + " the draft", Do: "Replace the draft", Danger: true}
}

// alone: there is no second side to compare the only version with.
func (v View) alone() bool { return len(v.Rows) == 1 && !v.Draft && !v.Continued && v.Next == "" }

// older is what the newest side is compared with at first: what is published with the draft, else the version before.
func older(v View) string {
	for i, row := range v.Rows {
		if v.Draft && row.Current || !v.Draft && i == 1 {
			return strconv.Itoa(row.Number)
		}
	}
	return strconv.Itoa(v.Rows[0].Number)
}

func newest(v View) string {
	if v.Draft {
		return "draft"
	}
	return strconv.Itoa(v.Rows[0].Number)
}

func compareURL(name, from, to string) string {
	return "/workflows/" + name + "/diff?from=" + from + "&to=" + to
}

// heading sums up the comparison.
func (v Comparison) heading() string {
	if v.Unread {
		return "Not a whole workflow yet"
	}
	return diff.Counts(v.Groups)
}
