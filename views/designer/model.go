// Package designer owns the page around the designer island: what the island is given, and what stands in
// its place without scripts. It must not know how a definition is drawn.
package designer

import "strconv"

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
}

func (v View) data() data {
	return data{Name: v.Name, Text: v.Text, ETag: v.ETag, PublishedText: v.PublishedText, PublishedVersion: v.PublishedVersion}
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
