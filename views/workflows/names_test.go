package workflows

import (
	"strings"
	"testing"

	"weftline/engine/flow"
)

func TestWordsBecomeAName(t *testing.T) {
	for words, want := range map[string]string{
		"My First Flow": "my-first-flow", "order-fulfilment": "order-fulfilment", "  Prüfe, dann zahle! ": "prufe-dann-zahle",
		"Ångström №5": "angstrom-no5", "日本": "", "--": "", strings.Repeat("ab ", 40): strings.Repeat("ab-", 21)[:62],
	} {
		got := NameOf(words)
		if got != want {
			t.Errorf("%q became %q, not %q", words, got, want)
		}
		if got == "" {
			continue
		}
		if _, err := flow.Load([]byte(Blank(got, `it "does": #this`))); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
}
