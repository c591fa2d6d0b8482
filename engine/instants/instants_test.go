package instants_test

import (
	stdjson "encoding/json"
	"testing"
	"time"

	"weftline/engine/instants"
)

type part struct {
	At    time.Time           `json:"at"`
	Until *time.Time          `json:"until"`
	Gone  *time.Time          `json:"gone,omitempty"`
	Any   any                 `json:"any"`
	Map   map[string]any      `json:"map"`
	List  []time.Time         `json:"list"`
	Raw   stdjson.RawMessage  `json:"raw"`
	None  []string            `json:"none"`
	Empty map[string]struct{} `json:"empty,omitempty"`
	Text  string              `json:"text"`
	Share float64             `json:"share"`
}

func TestMomentsHaveThreeDigitsWhereverTheyStand(t *testing.T) {
	east := time.FixedZone("", 2*3600)
	at := time.Date(2026, 3, 29, 2, 30, 0, 0, east)
	fine := time.Date(2026, 3, 29, 0, 30, 0, 120_456_000, time.UTC)
	got, err := instants.JSON(part{At: at, Until: &fine, Any: at, Map: map[string]any{"b": fine, "a": []any{at}},
		List: []time.Time{fine}, Raw: stdjson.RawMessage(`{"kept":"2026-03-29T00:30:00Z"}`), Text: "a<b & 2026-03-29T00:30:00Z", Share: 1e21})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"at":"2026-03-29T00:30:00.000Z","until":"2026-03-29T00:30:00.120Z","any":"2026-03-29T00:30:00.000Z",` +
		`"map":{"a":["2026-03-29T00:30:00.000Z"],"b":"2026-03-29T00:30:00.120Z"},"list":["2026-03-29T00:30:00.120Z"],` +
		`"raw":{"kept":"2026-03-29T00:30:00Z"},"none":null,"text":"a<b & 2026-03-29T00:30:00Z","share":1e+21}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Whatever holds no moment is written as encoding/json does.
func TestTheRestIsWrittenAsBefore(t *testing.T) {
	values := []any{nil, 1.0, 0.1, 1e-9, int64(1) << 60, "ü\u2028\x00\"\\", []byte("bytes"), []any{}, []string(nil), map[string]int{"b": 1, "a": 2},
		struct {
			A int    `json:"a,omitempty"`
			B *int   `json:"b,omitempty"`
			C string `json:"-"`
			D time.Duration
		}{D: time.Second}}
	for _, value := range values {
		want, err := stdjson.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := instants.JSON(value); err != nil || string(got) != string(want) {
			t.Errorf("%#v: %s, %v, want %s", value, got, err, want)
		}
	}
	if _, err := instants.JSON(func() {}); err == nil {
		t.Error("a function was written")
	}
}
