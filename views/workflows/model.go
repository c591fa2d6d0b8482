// Package workflows owns the list of workflows and the page that begins a new one. It must not know how
// they are read or stored.
package workflows

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"weftline/views/lists"
)

// View is the list.
type View struct {
	Now   time.Time
	Query string
	Label string
	Rows  []lists.WorkflowRow
	Next  string // address of the next page, "" at the end
}

// New is the page that asks for the name of a new workflow.
type New struct {
	Name, Error string
	Words       string // as typed, when Name is made of them: the description
	Template    string // the example that the draft starts from, "" = one activity
	CSRF        string
	Examples    []string
}

// longestName is the limit of a name.
const longestName = 63

// NameOf makes a name of words: "Prüfe den Auftrag" becomes prufe-den-auftrag; "" when nothing of them can stand in
// a name.
func NameOf(words string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(words)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			name.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // the mark over a letter
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	return strings.Trim(name.String()[:min(name.Len(), longestName)], "-")
}

// Blank is the draft that a new workflow starts with: valid, and with one place to go on from. The description is
// one line, "" is none.
func Blank(name, description string) string {
	if description != "" {
		description = "\n  description: " + strconv.Quote(description)
	}
	return `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: ` + name + description + `
spec:
  activities:
    - id: start
      name: Start
      type: set
      outputs:
        ready: "true"
`
}

// Renamed is a definition's text under another name, everything else byte for byte.
func Renamed(text, from, to string) string {
	line := regexp.MustCompile(`(?m)^(\s*name:\s*["']?)` + regexp.QuoteMeta(from) + `(["']?\s*(?:#.*)?)$`)
	found := line.FindStringSubmatchIndex(text)
	if found == nil {
		return text
	}
	return text[:found[3]] + to + text[found[4]:]
}
