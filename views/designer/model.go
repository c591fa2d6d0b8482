// Package designer owns the page around the designer island: what the island is given, and what stands in
// its place without scripts. It must not know how a definition is drawn.
package designer

import (
	"encoding/json"
	"strconv"

	"weftline/engine/flow"
)

// View is the page.
type View struct {
	Name     string
	Team     string
	Text     string  // the draft, "" when there is none
	ETag     *string // of the draft, nil when there is none
	Readonly bool

	PublishedText    *string
	PublishedVersion *int
}

// data is the island's start, by the names that it reads.
type data struct {
	Name             string  `json:"name"`
	Text             string  `json:"text"`
	ETag             *string `json:"etag"`
	PublishedText    *string `json:"publishedText"`
	PublishedVersion *int    `json:"publishedVersion"`
	Layout           *string `json:"layout"` // always in the text itself
	// What the text says, so that it is drawn before anything that can read texts has arrived; nil when the text
	// cannot be read.
	Drawing *drawing `json:"drawing"`
}

type drawing struct {
	Workflow json.RawMessage `json:"workflow"`
	Layout   json.RawMessage `json:"layout"`
}

func (v View) data() data {
	d := data{Name: v.Name, Text: v.Text, ETag: v.ETag, PublishedText: v.PublishedText, PublishedVersion: v.PublishedVersion}
	text := v.Text
	if text == "" && v.PublishedText != nil {
		text = *v.PublishedText
	}
	if workflow, layout := flow.Drawing([]byte(text)); workflow != nil {
		d.Drawing = &drawing{Workflow: workflow, Layout: layout}
	}
	return d
}

func (v View) etag() string {
	if v.ETag == nil {
		return ""
	}
	return *v.ETag
}

func (v View) published() string {
	if v.PublishedVersion == nil {
		return ""
	}
	return strconv.Itoa(*v.PublishedVersion)
}
