package flow

import "slices"

// ActivityTypes lists the types of activity in the order of the reference.
func ActivityTypes() []string { return slices.Clone(activityTypes) }

var activityTypes = []string{TypeHTTP, TypeScript, TypeSQL, TypeEmail, TypeHuman, TypeWait, TypeEvent, TypeEmit,
	TypeWorkflow, TypeForEach, TypeSwitch, TypeSet, TypeWorker, TypeAI, TypeFail, TypeEnd}

// leafTypes are the connectors: spec.retry and spec.defaults reach them.
var leafTypes = []string{TypeHTTP, TypeScript, TypeSQL, TypeEmail, TypeAI, TypeWorker}

func contains(words []string, word string) bool {
	for _, each := range words {
		if each == word {
			return true
		}
	}
	return false
}

// What keys of all activities mean something to: those that attempts are made of, those that take time, those
// that have a result of their own.
var (
	repeatTypes = []string{TypeHTTP, TypeScript, TypeSQL, TypeEmail, TypeAI, TypeWorker, TypeWorkflow}
	timedTypes  = []string{TypeHTTP, TypeScript, TypeSQL, TypeEmail, TypeAI, TypeWorker, TypeWorkflow, TypeForEach}
	resultTypes = []string{TypeHTTP, TypeScript, TypeSQL, TypeEmail, TypeAI, TypeWorker, TypeWorkflow, TypeForEach,
		TypeHuman, TypeEvent, TypeEmit, TypeSet}
)

// activityObject holds the keys of all types; inputs is refined by inputsOf, and a block is allowed only
// for its own type.
var activityObject = &object{title: "Activity", doc: "One node of the graph.", fields: []field{
	must(f("id", identifier, "Unique in the file: a-z, 0-9 and _.").such("charge")),
	f("name", plainText, "What people read on the canvas.").or("the id").such("Charge the card"),
	f("description", plainText, "Longer text for people."),
	must(f("type", oneOfWords(activityTypes...), "What the activity does.")),
	inline(f("needs", listOf(choice(simple(needShape), group(needObject))), "Activities, or outcomes of activities, that it waits for.").or("none: it starts at once").such([]any{"reserve", "review.approved"})),
	f("queueTimeout", duration, "Ready but not started within this time is the failure timeout.queue.").or("none").called("Time-out of the queue").of(leafTypes...).seldom(),
	inline(f("join", choice(oneOfWords("all", "every", "done", "any"), group(joinObject)), "When it runs, if it needs several.").or("all")),
	f("when", condition, "Evaluated once, after the join; false skips the activity.").or("true").such("inputs.amount > 100").called("Runs only if"),
	f("onSkip", oneOfWords("propagate", "pass"), "pass: skipped by its own when counts as done for what follows.").or("propagate").called("When skipped"),
	f("inputs", value, "What the type works with."),
	f("outputs", namedOf(expression), "What others read: an expression over result for each key.").or("the whole result").such(map[string]any{"id": "result.body.id"}).of(resultTypes...),
	inline(f("retry", retryShape, "A number of attempts, or a policy.").or("spec.retry").such(3).of(repeatTypes...)),
	f("timeout", duration, "Longest time of one attempt; of an event, how long it is awaited.").or("by type").such("30s").called("Time-out of one attempt").of(append(timedTypes, TypeEvent)...),
	f("totalTimeout", duration, "Pauses and repeats included.").or("none").called("Time-out of all attempts").of(timedTypes...),
	f("repeat", group(repeatObject), "Runs again until a condition holds.").of(repeatTypes...),
	f("onFailure", oneOfWords("fail", "continue"), "continue: what follows runs as if it had succeeded, with outputs null.").or("fail").called("On failure"),
	f("compensate", undoShape, "Runs when the execution failed later on.").called("What undoes it").of(append(timedTypes, TypeHuman, TypeEvent, TypeEmit)...),
	inline(f("affinity", group(affinityObject), "On which workers it runs.").of(leafTypes...)),
	inline(f("semaphore", group(&object{title: "Semaphore", doc: "Permits shared by all executions of the team.", fields: []field{
		must(f("name", plainText, "Name of the semaphore.").such("printer")),
		must(f("permits", integer(1, 100_000), "How many may hold it at one time; 1 is a mutex.")),
		f("key", template, "One semaphore for each value.").such("${{ inputs.customer }}"),
	}}), "Permits it must hold while it runs.").of(timedTypes...)),
	f("priority", oneOfWords("critical", "high", "normal", "low"), "Its place among what waits for a worker.").or("the execution's").of(repeatTypes...),
	f("once", boolean, "At most once: an attempt whose worker was lost is a failure, not a second try.").or("false").called("At most once").of(leafTypes...),
	f("checkpoint", boolean, "Saves after it, also in mode local_async.").or("false").seldom(),
	f("idempotencyKey", template, "The same for all attempts; sent along by http. An empty text switches it off.").or("<execution>/<id>/<item>/<iteration>").of(leafTypes...),
	f(TypeHuman, group(humanObject), "Settings of a task for a person."),
	f(TypeWait, group(waitObject), "Settings of a durable timer."),
	f(TypeEvent, group(eventObject), "Settings of waiting for an event."),
	f(TypeEmit, group(emitObject), "Settings of sending an event."),
	f(TypeWorkflow, group(childObject), "Settings of a child execution."),
	f(TypeForEach, group(forEachObject), "Settings of a loop."),
	f(TypeSwitch, group(switchObject), "Settings of a decision."),
	f(TypeFail, group(failObject), "The failure it ends with."),
	f(TypeEnd, group(endObject), "The output the execution ends with."),
}}

var needObject = &object{title: "Need", doc: "An edge with a port.", fields: []field{
	must(f("id", identifier, "The activity waited for.")),
	f("port", plainText, "The outcome waited for.").or("the good one").such("failure"),
	f("errors", listOf(pattern), "With port failure: only these errors.").such([]any{"http.404"}),
}}

var joinObject = &object{title: "Join", doc: "Wait for some of the edges.", fields: []field{
	must(f("n_of_m", integer(1, 1000), "How many edges must fire.")),
	f("cancelRest", boolean, "Cancel what the other edges wait for when it leads nowhere else.").or("false"),
}}

var repeatObject = &object{title: "Repeat", doc: "Run again until a condition holds.", fields: []field{
	must(f("until", condition, "Over self (the result) and iteration.").such(`self.body.state == "ready"`)),
	must(f("every", delay, "The pause between two turns.").such("15s")),
	must(f("max", integer(1, 10_000), "Then it fails with repeat.exhausted.").such(20).called("Most turns")),
	f("backoff", oneOfWords("fixed", "linear", "exponential"), "How the pause grows.").or("fixed"),
}}

var defaultsObject = &object{title: "Defaults", doc: "Inputs by type.", fields: []field{
	f(TypeHTTP, value, "Inputs of all http activities."),
	f(TypeScript, value, "Inputs of all script activities."),
	f(TypeSQL, value, "Inputs of all sql activities."),
	f(TypeEmail, value, "Inputs of all email activities."),
	f(TypeAI, value, "Inputs of all ai activities."),
	f(TypeWorker, value, "Inputs of all worker activities."),
}}
