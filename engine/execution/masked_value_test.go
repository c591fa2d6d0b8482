package execution

import (
	"reflect"
	"testing"
)

// What is masked is left out of what may be given again; a list keeps its order or goes as a whole, so that nothing
// comes to stand in another's place.
func TestWhatIsMaskedIsLeftOut(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		shown, rest any
		leftOut     bool
	}{
		"nothing":         {object{"a": int64(1), "b": nil}, object{"a": int64(1), "b": nil}, false},
		"a field":         {object{"a": Mask, "b": "x"}, object{"b": "x"}, true},
		"in an object":    {object{"o": object{"k": Mask}}, object{"o": object{}}, true},
		"an item":         {object{"l": []any{"x", Mask}}, object{}, true},
		"fields of items": {[]any{object{"n": "A", "k": Mask}, object{"n": "B", "k": Mask}}, []any{object{"n": "A"}, object{"n": "B"}}, true},
		"all":             {Mask, nil, true},
	} {
		if rest, leftOut := WithoutMasks(c.shown); !reflect.DeepEqual(rest, c.rest) || leftOut != c.leftOut {
			t.Errorf("%s: %v, %v", name, rest, leftOut)
		}
	}
}

func TestAMaskThatComesBackIsNoticed(t *testing.T) {
	type object = map[string]any
	shown := object{"pw": Mask, "l": []any{object{"k": Mask}}, "o": object{"u": "x"}}
	for name, c := range map[string]struct {
		value any
		holds bool
	}{
		"values":       {object{"pw": "real", "l": []any{object{"k": "k"}}, "o": object{"u": "x"}}, false},
		"a field":      {object{"pw": Mask}, true},
		"in a list":    {object{"pw": "real", "l": []any{object{"k": Mask}}}, true},
		"other shapes": {object{"pw": "real", "l": "text", "o": nil}, false},
	} {
		if got := HoldsMasks(c.value, shown); got != c.holds {
			t.Errorf("%s: %v", name, got)
		}
	}
}
