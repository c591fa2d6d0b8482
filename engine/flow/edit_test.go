package flow

import "testing"

func TestApplyEdits(t *testing.T) {
	text := "näme: helo\r\nother: ä-wrold\n"
	edits := []Edit{
		{Pos: Pos{2, 10, 2, 15}, Text: "world"},
		{Pos: Pos{1, 7, 1, 11}, Text: "hello"},
	}
	got, err := ApplyEdits([]byte(text), edits)
	if want := "näme: hello\r\nother: ä-world\n"; err != nil || string(got) != want {
		t.Errorf("%q %v", got, err)
	}
	for _, wrong := range [][]Edit{
		{{Pos: Pos{9, 1, 9, 2}}},
		{{Pos: Pos{1, 1, 1, 99}}},
		{{Pos: Pos{1, 1, 1, 5}}, {Pos: Pos{1, 3, 1, 7}}},
	} {
		if _, err := ApplyEdits([]byte(text), wrong); err == nil {
			t.Errorf("%v was applied", wrong)
		}
	}
}

// What the validator offers, applied, removes the problem it was offered for.
func TestOfferedEditsHelp(t *testing.T) {
	text := []byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: x}\nspec:\n  activities:\n" +
		"    - {id: load_test, type: set, outputs: {a: \"1\"}}\n    - {id: next, type: wiat, needs: [load_tset], wait: {timer: {after: 1s}}}\n")
	for range 5 {
		report := Validate(text)
		if report.Valid {
			return
		}
		if len(report.Errors[0].Edits) == 0 {
			t.Fatalf("no edit for %+v", report.Errors[0])
		}
		fixed, err := ApplyEdits(text, report.Errors[0].Edits)
		if err != nil {
			t.Fatal(err)
		}
		text = fixed
	}
	t.Errorf("still wrong: %s", text)
}
