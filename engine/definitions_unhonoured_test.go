package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"weftline/engine"
	"weftline/engine/flow"
)

// TestASettingWithoutEffectIsRefused: what this server does not act on is a warning of the draft and refused
// at publish, with its place.
func TestASettingWithoutEffectIsRefused(t *testing.T) {
	w := newWorld(t)
	const step = "  activities:\n    - {id: a, type: set, outputs: {x: \"1\"}%s}\n"
	for path, spec := range map[string]string{
		"spec.activities[0].affinity":                   fmt.Sprintf(step, ", affinity: {labels: {gpu: \"true\"}}"),
		"spec.activities[0].for_each.activity.affinity": "  activities:\n    - {id: a, type: for_each, for_each: {items: [1], activity: {type: set, outputs: {x: index}, affinity: {queue: slow}}}}\n",
	} {
		text := []byte(fmt.Sprintf(textHead, "unhonoured") + spec)
		isIt := func(p flow.Problem) bool { return p.Code == "E608" && p.Path == path && p.Line > 4 }
		saved, err := w.SaveDraft(t.Context(), w.who, "unhonoured", text, "", true)
		if err != nil {
			t.Fatal(err)
		}
		if !saved.Valid || !slices.ContainsFunc(saved.Warnings, isIt) {
			t.Errorf("the draft with %s: %+v", path, saved)
		}
		_, _, err = w.Publish(t.Context(), w.who, "unhonoured", "")
		var refusal *engine.Error
		if !errors.As(err, &refusal) || refusal.Code != "invalid_definition" || !slices.ContainsFunc(refusal.Problems, isIt) {
			t.Errorf("publishing %s answered %v", path, err)
		}
		w.exec("delete from workflows where name = 'unhonoured'")
	}
}

// TestProblemsOfTriggersNameTheirPlace: each stands at its own entry, also when another comes first.
func TestProblemsOfTriggersNameTheirPlace(t *testing.T) {
	w := newWorld(t)
	text := []byte(fmt.Sprintf(textHead, "placed") + `  webhooks:
    - {path: /good, auth: {type: bearer, secret: s}}
    - path: "/bad path"
      auth: {type: bearer, secret: s}
    - path: /open
      auth:
        type: none
  activities:
    - {id: schedule, type: set, outputs: {x: "1"}}
`)
	saved, err := w.SaveDraft(t.Context(), w.who, "placed", text, "", true)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, p := range saved.Warnings {
		got[p.Code] = p.Line
	}
	if got["E606"] != 7 || got["E607"] < 10 || got["E607"] > 11 {
		t.Errorf("problems at lines %v: %+v", got, saved.Warnings)
	}
}
