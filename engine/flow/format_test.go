package flow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weftline/engine/flow"
)

func TestCanonicalFormOfAMessyText(t *testing.T) {
	messy, err := os.ReadFile("testdata/messy.in")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/messy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := flow.Format(messy)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s", flow.Unified(string(want), string(got), "want", "got"))
	}
}

func TestFormattingIsIdempotentAndChangesNoMeaning(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		once, err := flow.Format(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		twice, err := flow.Format(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s: not idempotent: %v\n%s", file, err, flow.Unified(string(once), string(twice), "once", "twice"))
		}
		if a, b := load(t, text).ContentHash, load(t, once).ContentHash; a != b {
			t.Errorf("%s: the hash changed", file)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if comment := strings.TrimSpace(line); strings.HasPrefix(comment, "#") && !strings.Contains(string(once), comment) {
				t.Errorf("%s: the comment %q is lost", file, comment)
			}
		}
	}
}

// Whatever a text holds, it comes back the same after formatting.
func TestTextsOfAnyKindSurviveFormatting(t *testing.T) {
	for _, value := range []string{
		"plain", "", " lead", "trail ", "yes", "NO", "null", "~", "017", "0x1f", "1_000", "1:30", "2026-01-02", "1e3", ".5", "-", "- x", "?", ": x", "a: b", "a:",
		"a #b", "#x", "*x", "&x", "!x", "%x", "@x", "`x", "|", ">", "[x", "{x", "x]", "'q'", `"q"`, `both ' and "`, `back\slash`, "tab\there", "bell\a",
		"two\nlines", "two\nlines\n", "two\n\n", "\nlead", " indented\nlines", "end space \nx", "é漢🚀", "\u2028", "\ufeff", "a\u0301", "---", "...", "--- x", "<<", "=", "${{ 1 + 1 }}", "$${{ x }}", "}", "a, b",
	} {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\a", `\a`, "\u2028", `\u2028`, "\ufeff", `\ufeff`).Replace(value)
		text := definition("  activities:\n    - id: a\n      type: emit\n      emit: {name: x.y, payload: {v: \"" + quoted + "\", l: [\"" + quoted + "\"]}}\n")
		out, err := flow.Format(text)
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		plain, err := flow.Plain(out)
		if err != nil {
			t.Errorf("%q: %v\n%s", value, err, out)
			continue
		}
		emit := plain.(map[string]any)["spec"].(map[string]any)["activities"].([]any)[0].(map[string]any)["emit"].(map[string]any)
		payload := emit["payload"].(map[string]any)
		if payload["v"] != value || payload["l"].([]any)[0] != value {
			t.Errorf("%q became %q and %q in\n%s", value, payload["v"], payload["l"], out)
		}
	}
}
