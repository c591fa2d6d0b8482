package flow

// Schema is a compiled JSON Schema 2020-12 with its source.
type Schema struct {
	Source   map[string]any // as written, defaults and x-sensitive included
	compiled any
}

// Report is the answer of a validation, in the shape of the API.
type Report struct {
	Valid    bool      `json:"valid"`
	Name     string    `json:"name"`
	Errors   []Problem `json:"errors"`
	Warnings []Problem `json:"warnings"`
}
