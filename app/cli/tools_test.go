package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestFix(t *testing.T) {
	text := strings.Replace(strings.Replace(good, "needs: [hello]", "needs: [helo]", 1), "type: set", "type: sett", 1)
	path := file(t, "greet.yaml", text)
	list := call(t, nil, "", "fix", path, "--list")
	if list.code != 0 || !strings.Contains(list.out, "E204@18: ") || !strings.Contains(list.out, "E406@13: ") {
		t.Fatalf("%+v", list)
	}
	if got := call(t, nil, "", "fix", path, "--apply", "E204@18"); got.code != 0 || !strings.Contains(got.out, "E204 corrected") {
		t.Errorf("%+v", got)
	}
	if now, _ := os.ReadFile(path); !strings.Contains(string(now), "needs: [hello]") || !strings.Contains(string(now), "type: sett") {
		t.Errorf("%s", now)
	}
	if got := call(t, nil, text, "fix", "--all", "-"); got.code != 0 || got.out != good {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"--apply", "E999@1"}, {"--apply", "E204@3"}} {
		if got := call(t, nil, "", append([]string{"fix", path}, args...)...); got.code != 1 || !strings.Contains(got.err, "there is no") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for _, args := range [][]string{{path}, {path, "--list", "--all"}, {path, "--apply", "E204"}} {
		if got := call(t, nil, "", append([]string{"fix"}, args...)...); got.code != int(usageFault) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestGraphAsSVGAndJSON(t *testing.T) {
	path := file(t, "greet.yaml", strings.Replace(good, "id: hello", "name: Say <hello>\n      id: hello", 1))
	drawn := call(t, nil, "", "graph", path, "--svg")
	if drawn.code != 0 || strings.Count(drawn.out, `<rect class="n"`) != 2 || strings.Count(drawn.out, `<path class="e"`) != 2 || !strings.Contains(drawn.out, "Say &lt;hello&gt;") {
		t.Errorf("%+v", drawn)
	}
	decoder := xml.NewDecoder(strings.NewReader(drawn.out))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	var graph struct {
		Activities []graphNode
		Edges      []graphEdge
	}
	asJSON := call(t, nil, "", "graph", "--json", path)
	if err := json.Unmarshal([]byte(asJSON.out), &graph); err != nil || len(graph.Activities) != 2 || len(graph.Edges) != 1 || graph.Edges[0].From != "hello" {
		t.Errorf("%v %+v", err, asJSON)
	}
}

func TestImport(t *testing.T) {
	path := file(t, "machine.json", `{"StartAt": "Rest", "States": {"Rest": {"Type": "Wait", "Seconds": 5, "Next": "Do"}, "Do": {"Type": "Task", "Resource": "arn:x", "End": true}}}`)
	got := call(t, nil, "", "import", "--from", "step-functions", path)
	if got.code != 0 || !strings.Contains(got.out, "name: machine") || !strings.Contains(got.err, "machine.json: States.Do: the resource arn:x") {
		t.Errorf("%+v", got)
	}
	if checked := call(t, nil, got.out, "validate", "-"); checked.code != 0 {
		t.Errorf("%+v", checked)
	}
	if got := call(t, nil, "", "import", path); got.code != int(usageFault) || !strings.Contains(got.err, "step-functions") {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "import", "--from", "n8n", path); got.code != 1 || !strings.Contains(got.err, "no n8n workflow") {
		t.Errorf("%+v", got)
	}
}
