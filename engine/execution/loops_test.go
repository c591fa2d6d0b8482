package execution

import (
	"strings"
	"testing"
	"time"
)

func list(items ...any) []any { return items }

const each = `
  input:
    type: object
    required: [items]
    properties: {items: {type: [array, "null"]}, width: {type: integer, default: 2}}
  activities:
    - id: each
      type: for_each
      for_each:
        items: inputs.items
        as: thing
        key: thing.name
        maxConcurrent: inputs.width
        activity:
          type: http
          inputs: {method: POST, url: "http://x/${{ thing.name }}/${{ index }}"}
          outputs: {slept: result.body.slept}
        collect: {name: thing.name, slept: result.slept}
    - {id: after, type: http, needs: [each], inputs: {url: http://x}}
  output: {results: activities.each.outputs.results, completed: activities.each.outputs.completed}
`

func named(names ...string) map[string]any {
	var items []any
	for _, n := range names {
		items = append(items, obj("name", n))
	}
	return obj("items", items)
}

func TestResultsComeInTheOrderOfTheItems(t *testing.T) {
	s := simulate(t, each, named("a", "b", "c"))
	s.slow["each[a]"], s.slow["each[b]"], s.slow["each[c]"] = 9*time.Second, time.Second, time.Second
	s.answer("each", body("slept", int64(1)))
	s.pass(1500 * time.Millisecond)
	if w := Pending(s.wf, s.st); len(w) != 2 {
		t.Errorf("%d items at a time", len(w))
	}
	s.run().is("completed").outputIs(obj("completed", int64(3), "results",
		list(obj("name", "a", "slept", int64(1)), obj("name", "b", "slept", int64(1)), obj("name", "c", "slept", int64(1)))))
	if s.keys["each[b]"][0] != testID.String()+"/each/b" || s.given["each[c]"][0].(map[string]any)["url"] != "http://x/c/2" {
		t.Errorf("keys %v, given %v", s.keys, s.given)
	}
}

func TestItemsThatCannotBe(t *testing.T) {
	simulate(t, each, obj("items", nil)).run().is("failed").failedWith("input.invalid").are("each failed after skipped")
	simulate(t, each, named("a", "a")).run().is("failed").failedWith("input.invalid")
	simulate(t, each, obj("items", list(), "width", int64(1))).run().is("completed").are("each completed after completed")
	simulateStart(t, each, Start{Input: named("a", "b", "c"), MaxItems: 2}).run().is("failed").failedWith("input.invalid")
	s := named("a")
	s["width"] = int64(0)
	simulate(t, each, s).run().is("failed").failedWith("input.invalid")
}

func failing(policy string) string {
	return `
  input: {type: object, required: [items], properties: {items: {type: array}}}
  activities:
    - id: each
      type: for_each
      for_each:
        items: inputs.items
        key: item
        ` + policy + `
        activity: {type: http, inputs: {url: http://x}, outputs: {v: result.body.v}}
    - {id: after, type: http, needs: [each], inputs: {url: http://x}}
  output: {results: activities.each.outputs.results, keys: "map(activities.each.outputs.failures, .key)"}
`
}

func TestToleratedItems(t *testing.T) {
	items := func(n int) map[string]any { return obj("items", list("a", "b", "c", "d")[:n]) }
	s := simulate(t, failing("tolerate: 1"), items(3)).answer("each", body("v", int64(1))).answer("each[b]", broken("http.500"))
	s.run().is("completed").outputIs(obj("keys", list("b"), "results", list(obj("v", int64(1)), nil, obj("v", int64(1)))))

	s = simulate(t, failing("tolerate: 1"), items(4)).answer("each", body("v", int64(1)))
	s.answer("each[a]", broken("http.500")).answer("each[b]", broken("http.500"))
	s.run().is("failed").failedWith("for_each.items_failed").are("each failed after skipped")
	if s.count(ActivityDispatched, "each") != 4 {
		t.Error("not all items were tried")
	}

	s = simulate(t, failing("tolerate: 25%"), items(4)).answer("each", body("v", int64(1))).answer("each[a]", broken("http.500"))
	s.run().is("completed")
	s = simulate(t, failing("tolerate: 25%"), items(3)).answer("each", body("v", int64(1))).answer("each[a]", broken("http.500"))
	s.run().is("failed")
	s = simulate(t, failing("maxConcurrent: 1\n        onItemFailure: stop"), items(4)).answer("each", body("v", int64(1))).answer("each[b]", broken("http.500"))
	s.run().is("failed").failedWith("for_each.items_failed")
	if s.count(ActivityDispatched, "each") != 2 {
		t.Error("it went on after the first failure")
	}
}

func TestAFailedLoopThatIsTakenKeepsItsResults(t *testing.T) {
	text := strings.Replace(failing("tolerate: 0"), "needs: [each]", "needs: [each.failure]", 1)
	s := simulate(t, text, obj("items", list("a", "b"))).answer("each", body("v", int64(1))).answer("each[b]", broken("http.500"))
	s.run().is("completed").are("each failed after completed").outputIs(obj("keys", list("b"), "results", list(obj("v", int64(1)), nil)))
}

const orders = `
  input: {type: object, required: [orders], properties: {orders: {type: array}}}
  activities:
    - id: orders
      type: for_each
      for_each:
        items: inputs.orders
        as: order
        key: order.id
        maxConcurrent: 2
        activities:
          - {id: check, type: http, inputs: {url: "http://x/${{ order.id }}"}, outputs: {ok: result.body.ok}}
          - {id: send, type: http, needs: [check], when: activities.check.outputs.ok, inputs: {url: http://x}}
          - id: lines
            type: for_each
            needs: [check]
            for_each:
              items: order.lines
              as: line
              key: line
              activity: {type: http, inputs: {method: POST, url: "http://x/${{ order.id }}/${{ line }}/${{ index }}"}}
        collect: {id: order.id, sent: activities.send.status == "completed", lines: activities.lines.outputs.completed}
  output: {results: activities.orders.outputs.results}
`

func TestALoopBodyMayBeAGraphWithALoop(t *testing.T) {
	input := obj("orders", list(obj("id", "o1", "lines", list("x", "y/z")), obj("id", "o2", "lines", list())))
	s := simulate(t, orders, input).answer("check[o1]", body("ok", true)).answer("check[o2]", body("ok", false))
	s.run().is("completed").outputIs(obj("results", list(
		obj("id", "o1", "sent", true, "lines", int64(2)), obj("id", "o2", "sent", false, "lines", int64(0)))))
	if got := s.given["lines[o1/y~1z]"]; len(got) != 1 || got[0].(map[string]any)["url"] != "http://x/o1/y/z/1" {
		t.Errorf("given: %v", s.given)
	}
	if s.keys["lines[o1/x]"][0] != testID.String()+"/lines/o1/x" {
		t.Errorf("keys: %v", s.keys)
	}
}

func TestAnItemWithAGraphFailsAsAnExecutionWould(t *testing.T) {
	input := obj("orders", list(obj("id", "o1", "lines", list("x")), obj("id", "o2", "lines", list())))
	s := simulate(t, orders, input).answer("check", body("ok", true)).answer("send[o1]", broken("http.400"))
	s.run().is("failed").failedWith("for_each.items_failed")
	items := Describe(s.wf, s.st).Activities["orders"].Items
	if items.Total != 2 || items.Completed != 1 || items.Failed != 1 || len(items.List) != 1 || items.List[0].Error.Type != "http.400" {
		t.Errorf("items: %+v", items)
	}
}

func TestWithoutCollectAnItemIsWhatItsLastActivitiesPutOut(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: each
      type: for_each
      for_each:
        items: [1, 2]
        activities:
          - {id: first, type: set, outputs: {v: item}}
          - {id: left, type: set, needs: [first], outputs: {v: activities.first.outputs.v * 10}}
          - {id: right, type: set, needs: [first], outputs: {v: index}}
  output: {results: activities.each.outputs.results}
`, nil).run().is("completed")
	s.outputIs(obj("results", list(
		obj("left", obj("v", int64(10)), "right", obj("v", int64(0))),
		obj("left", obj("v", int64(20)), "right", obj("v", int64(1))))))
}

func TestALoopOfPureActivities(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: b, type: for_each, for_each: {items: [1, 2, 3], activity: {type: set, outputs: {twice: item * 2}}}}
  output: {twice: "map(activities.b.outputs.results, .twice)"}
`, nil).run().is("completed")
	s.outputIs(obj("twice", list(int64(2), int64(4), int64(6))))
}

func TestItemsMayWait(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: each
      type: for_each
      for_each:
        items: [a, b, c]
        key: item
        maxConcurrent: 2
        activity: {type: human, human: {title: "${{ item }}?", candidates: {groups: [g]}, due: 1h}}
`, nil)
	s.advance()
	s.is("waiting")
	if items := Describe(s.wf, s.st).Activities["each"].Items; items.Waiting != 2 || len(items.List) != 2 {
		t.Errorf("items: %+v", items)
	}
	v := s.voteOf("each", "ben", "approved")
	if v.Item != "a" {
		t.Errorf("the first task is of item %q", v.Item)
	}
	s.receive(Message{Vote: v})
	s.pass(time.Minute)
	s.is("waiting")
	s.receive(Message{Cancel: &Cancel{}})
	s.run().is("cancelled").are("each cancelled")
	open := 0
	for _, row := range s.all.Tasks {
		if row.Create {
			open++
		} else {
			open--
		}
	}
	if open != 0 {
		t.Errorf("%d tasks are left open", open)
	}
}

func TestFailFastEndsALoopThatStillRuns(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: bad, type: http, inputs: {url: http://x}}
    - {id: each, type: for_each, for_each: {items: [1, 2, 3], maxConcurrent: 1, activity: {type: http, inputs: {url: http://x}}}}
    - {id: clean, type: http, needs: [each], join: done, inputs: {url: http://x}}
`, nil).answer("bad", broken("http.400"))
	s.slow["bad"], s.slow["each[0]"] = time.Second, 5*time.Second
	s.run().is("failed").failedWith("http.400").are("each cancelled clean completed")
	if s.count(ActivityCompleted, "each") != 1 || s.count(ActivityReady, "each") != 2 {
		t.Errorf("items: %s", s.tail())
	}
}

func TestManyItems(t *testing.T) {
	items := make([]any, 1000)
	for i := range items {
		items[i] = int64(i)
	}
	s := simulate(t, `
  input: {type: object, properties: {items: {type: array}}}
  activities:
    - {id: each, type: for_each, for_each: {items: inputs.items, maxConcurrent: 50, activity: {type: http, inputs: {url: http://x}, outputs: {v: item}}}}
  output: {sum: "sum(map(activities.each.outputs.results, .v))"}
`, obj("items", items))
	s.sparse = true
	s.run().is("completed").outputIs(obj("sum", int64(999*500)))
	s.mustFold()
	if len(s.history) != 1000*4+7 {
		t.Errorf("%d events", len(s.history))
	}
}

// TestARetryKeepsWhatCompletedInAFailedItem: of an item with a graph as body only what failed, and what was left
// out because of that, runs again.
func TestARetryKeepsWhatCompletedInAFailedItem(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: each
      type: for_each
      for_each:
        items: [1, 2]
        activities:
          - {id: fetch, type: http, inputs: {url: http://x}}
          - {id: store, type: http, needs: [fetch], inputs: {url: http://x}}
          - {id: tell, type: http, needs: [store], inputs: {url: http://x}}
`, nil)
	s.answer("store[1]", broken("http.400"), fine(map[string]any{"status": int64(201)})).run().is(StatusFailed)
	s.receive(Message{Retry: &Retry{By: "bob"}})
	s.run().is(StatusCompleted)
	for name, want := range map[string]int{"fetch[0]": 1, "fetch[1]": 1, "store[0]": 1, "store[1]": 2, "tell[0]": 1, "tell[1]": 1} {
		if s.asked[name] != want {
			t.Errorf("%s ran %d times, expected %d", name, s.asked[name], want)
		}
	}
	results := Describe(s.wf, s.st).Activities["each"].Output.(map[string]any)["results"].([]any)
	if len(results) != 2 || results[1] == nil {
		t.Errorf("results are %v", results)
	}
}

// TestARetriedItemIsUndoneWhole: what stayed completed in an item that began once more is undone with the rest.
func TestARetriedItemIsUndoneWhole(t *testing.T) {
	s := simulate(t, `
  compensation: {runOn: [cancel]}
  activities:
    - id: each
      type: for_each
      for_each:
        items: [1]
        activities:
          - {id: book, type: http, inputs: {url: http://x}, compensate: {type: http, inputs: {url: http://undo}}}
          - {id: pay, type: http, needs: [book], inputs: {url: http://x}, compensate: {type: http, inputs: {url: http://undo}}}
    - {id: approve, type: human, needs: [each], human: {title: Well?, candidates: {groups: [g]}}}
`, nil)
	s.answer("pay[0]", broken("http.400"), fine(map[string]any{})).run().is(StatusFailed)
	s.receive(Message{Retry: &Retry{By: "bob"}})
	s.run().is(StatusWaiting)
	s.receive(Message{Cancel: &Cancel{By: "bob"}})
	s.run().is(StatusCancelled)
	if got := s.ran(); got != "book[0] pay[0] undo pay[0] undo book[0]" {
		t.Errorf("it ran %s", got)
	}
}
