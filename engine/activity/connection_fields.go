package activity

import (
	"maps"
	"slices"
)

// ConnectionField is one field of a connection, as a form asks for it.
type ConnectionField struct {
	Name     string
	Secret   bool // it takes the name of a secret
	Required bool
	Choices  []string // nil: any text
	Default  string   // what an empty field means
}

// connectionKinds are all kinds, the most usual first.
var connectionKinds = []string{"http", "sql", "smtp", "ai"}

// ConnectionKinds lists the kinds, the most usual first.
func ConnectionKinds() []string { return slices.Clone(connectionKinds) }

// ConnectionAuths lists the ways in which a kind of connection may authenticate; none where the kind has one of its own.
func ConnectionAuths(kind string) []string {
	if kind != "http" {
		return nil
	}
	return slices.Sorted(maps.Keys(authKeys))
}

// ConnectionFields are the fields of a kind in the order of a form. auth is one of its ConnectionAuths or "";
// the setting that names it is not among them.
func ConnectionFields(kind, auth string) []ConnectionField {
	known := connectionFields[kind]
	must, may := known.must, slices.Concat(known.may, known.secrets)
	if ConnectionAuths(kind) != nil {
		keys := authKeys[auth]
		must, may = slices.Concat(known.must, keys.must), keys.may
	}
	var fields []ConnectionField
	for i, name := range slices.Concat(must, may) {
		said := choicesOf[kind+"."+name]
		fields = append(fields, ConnectionField{Name: name, Secret: slices.Contains(known.secrets, name), Required: i < len(must),
			Choices: said.choices, Default: said.otherwise})
	}
	return fields
}

// choicesOf are the values of settings that take no other, and what a setting is when it is not given.
var choicesOf = map[string]struct {
	choices   []string
	otherwise string
}{
	"http.in":       {choices: []string{"header", "query"}, otherwise: "header"},
	"sql.port":      {otherwise: "5432"},
	"sql.sslmode":   {choices: sslModes, otherwise: "require"},
	"smtp.security": {choices: []string{"starttls", "tls", "none"}, otherwise: "starttls"},
	"smtp.port":     {otherwise: "587, 465 or 25"},
}
