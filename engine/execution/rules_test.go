package execution

import "testing"

func TestOneActivity(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}, outputs: {number: result.body.count}}
  output: {number: activities.a.outputs.number}
`, nil)
	s.answer("a", fine(map[string]any{"status": int64(200), "body": map[string]any{"count": int64(7)}}))
	s.run().is("completed").are("a completed")
	if got := s.output().(map[string]any)["number"]; got != int64(7) {
		t.Errorf("output n is %v", got)
	}
}
