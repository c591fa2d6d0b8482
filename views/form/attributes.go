package form

import (
	"strings"

	"github.com/a-h/templ"
)

// described ties an input to its help and error for those who cannot see them beside it.
func described(field Field) templ.Attributes {
	attributes := templ.Attributes{}
	if ids := describedBy(field); ids != "" {
		attributes["aria-describedby"] = ids
	}
	if field.Error != "" {
		attributes["aria-invalid"] = "true"
	}
	if field.Required && field.Kind != KindCheck {
		attributes["aria-required"] = "true"
	}
	return attributes
}

func describedBy(field Field) string {
	var ids []string
	if field.Help != "" {
		ids = append(ids, field.ID+"-help")
	}
	if field.Error != "" {
		ids = append(ids, field.ID+"-error")
	}
	return strings.Join(ids, " ")
}

// inputKind chooses the keyboard and the picker. Numbers stay text fields, so that what is no number is
// kept and complained about instead of vanishing.
func inputKind(field Field) templ.Attributes {
	switch field.Kind {
	case KindNumber:
		return templ.Attributes{"type": "text", "inputmode": "decimal", "autocomplete": "off"}
	case KindInteger:
		return templ.Attributes{"type": "text", "inputmode": "numeric", "autocomplete": "off"}
	case KindDate:
		return templ.Attributes{"type": "date"}
	case KindDateTime:
		return templ.Attributes{"type": "datetime-local", "step": "1"}
	case KindTime:
		return templ.Attributes{"type": "time", "step": "1"}
	case KindEmail:
		return templ.Attributes{"type": "email", "autocomplete": "email"}
	case KindURL:
		return templ.Attributes{"type": "url"}
	case KindSecret:
		return templ.Attributes{"type": "password", "autocomplete": "off"}
	default:
		return templ.Attributes{"type": "text"}
	}
}

func emptyChoice(field Field) string {
	if field.Required {
		return "Choose…"
	}
	return "None"
}

func jsonExample(field Field) string {
	if field.Example != "" {
		return field.Example
	}
	return "JSON"
}
