package designer

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestThePageBringsWhatIsDrawn(t *testing.T) {
	const text = "kind: Workflow\nspec: {activities: [{id: a}]}\n"
	published, good := strings.Replace(text, "id: a", "id: b", 1), strings.Replace(text, "id: a", "id: c", 1)
	for name, c := range map[string]struct {
		view View
		want string
	}{
		"the draft":                  {View{Text: text, PublishedText: &published}, `{"workflow":{"kind":"Workflow","spec":{"activities":[{"id":"a"}]}},"layout":null}`},
		"the version, if no draft":   {View{PublishedText: &published}, `{"workflow":{"kind":"Workflow","spec":{"activities":[{"id":"b"}]}},"layout":null}`},
		"what a broken draft was":    {View{Text: "spec: [", LastGood: &good, PublishedText: &published}, `{"workflow":{"kind":"Workflow","spec":{"activities":[{"id":"c"}]}},"layout":null}`},
		"the version, if it was not": {View{Text: "spec: [", PublishedText: &published}, `{"workflow":{"kind":"Workflow","spec":{"activities":[{"id":"b"}]}},"layout":null}`},
		"nothing, if it never was":   {View{Text: "spec: ["}, `null`},
		"nothing of nothing":         {View{}, `null`},
	} {
		got, err := json.Marshal(c.view.data().Drawing)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}
