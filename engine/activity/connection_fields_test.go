package activity

import (
	"maps"
	"slices"
	"testing"
)

// What a form asks for is what a connection takes: filled in whole, every kind and way to authenticate is accepted,
// and without any of its required settings it is not.
func TestWhatAFormAsksForIsWhatAConnectionTakes(t *testing.T) {
	if got, want := slices.Sorted(slices.Values(ConnectionKinds())), slices.Sorted(maps.Keys(connectionFields)); !slices.Equal(got, want) {
		t.Fatalf("the kinds are %v, not %v", want, got)
	}
	for _, kind := range ConnectionKinds() {
		for _, auth := range append(ConnectionAuths(kind), "") {
			settings, secrets := map[string]any{}, map[string]string{}
			if auth != "" {
				settings["auth"] = auth
			}
			fields := ConnectionFields(kind, auth)
			for _, field := range fields {
				if field.Secret {
					secrets[field.Name] = "A_SECRET"
				} else {
					settings[field.Name] = exampleOf(field)
				}
			}
			if err := CheckConnection(kind, settings, secrets); err != nil {
				t.Errorf("%s with auth %q: %v", kind, auth, err)
			}
			for _, field := range fields {
				if !field.Required || field.Secret || !slices.Contains(connectionFields[kind].must, field.Name) {
					continue
				}
				without := maps.Clone(settings)
				delete(without, field.Name)
				if CheckConnection(kind, without, secrets) == nil {
					t.Errorf("%s is accepted without %s, which the form requires", kind, field.Name)
				}
			}
		}
	}
}

func exampleOf(field ConnectionField) any {
	switch {
	case len(field.Choices) > 0:
		return field.Choices[0]
	case field.Name == "port":
		return int64(4711)
	case field.Name == "baseUrl" || field.Name == "tokenUrl":
		return "https://example.com"
	}
	return "example"
}
