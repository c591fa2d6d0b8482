// Package designer owns the page around the designer island: what the island is given, and what stands in
// its place without scripts. It must not know how a definition is drawn.
package designer

import (
	"strconv"

	"weftline/engine/flow"
)

// View is the page.
type View struct {
	Name     string
	Team     string
	Text     string  // the draft, "" when there is none
	ETag     *string // of the draft, nil when there is none
	LastGood *string // the last text of the draft that could be drawn, nil while the draft itself can
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
	// What the text says, so that it is drawn before anything that can read texts has arrived. Of a text that
	// cannot be read it is what was last there to draw: of the draft before, else of the published version; nil
	// when there never was anything.
	Drawing *flow.Drawn `json:"drawing"`
}

func (v View) data() data {
	d := data{Name: v.Name, Text: v.Text, ETag: v.ETag, PublishedText: v.PublishedText, PublishedVersion: v.PublishedVersion}
	for _, text := range []*string{&v.Text, v.LastGood, v.PublishedText} {
		if d.Drawing == nil && text != nil {
			d.Drawing = flow.Drawing([]byte(*text))
		}
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
