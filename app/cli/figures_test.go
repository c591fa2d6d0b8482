package cli

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"weftline/engine"
	"weftline/engine/enginetest"
)

// allowedLabels are words of the program; an id, a name or a path would make a series of each.
var allowedLabels = []string{"", "method", "route", "status", "type", "state", "reason", "class"}

// The table of docs/metrics.md lists every figure of the engine with its label, and nothing else.
func TestTheFiguresAreThoseOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(weftline_[a-z_]+)` \\| (?:`([a-z]+)`)?").FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	e, err := engine.Open(t.Context(), engine.Options{DatabaseURL: enginetest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	descriptions := make(chan *prometheus.Desc, 100)
	for _, collector := range engineFigures(e) {
		collector.Describe(descriptions)
	}
	close(descriptions)
	form := regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: \{([^}]*)\}`)
	for d := range descriptions {
		found := form.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("cannot read %s", d)
		}
		name, label := found[1], found[2]
		if !slices.Contains(allowedLabels, label) {
			t.Errorf("%s has the label %q", name, label)
		}
		if said, ok := documented[name]; !ok || said != label {
			t.Errorf("%s with the label %q is not in docs/metrics.md, which says %q", name, label, said)
		}
		delete(documented, name)
	}
	for name := range documented {
		if name != "weftline_http_request_seconds" && name != "weftline_live_sockets" && name != "weftline_live_frames_total" {
			t.Errorf("docs/metrics.md lists %s, which is not there", name)
		}
	}
}

func TestDesiredWorkers(t *testing.T) {
	for _, c := range []struct {
		alive, depth int
		oldest       float64
		want         float64
	}{{4, 0, 0, 4}, {4, 10, 1, 4}, {4, 10, 25, 10}, {0, 3, 1, 1}} {
		if got := desiredWorkers(c.alive, c.depth, c.oldest); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
