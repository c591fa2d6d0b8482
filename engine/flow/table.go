package flow

// The fields of a definition, in canonical order. Texts are for people: they become the descriptions of the
// JSON Schema, the designer's forms and the reference.

var workflowObject = &object{title: "Workflow", doc: "A workflow definition.", fields: []field{
	must(f("apiVersion", oneOfWords("weftline/v1"), "Version of the language.")),
	must(f("kind", oneOfWords("Workflow"), "What the document is.")),
	must(f("metadata", group(metadataObject), "Who the workflow is.")),
	must(f("spec", group(specObject), "What the workflow does.")),
}}

var metadataObject = &object{title: "Metadata", doc: "Name and description.", fields: []field{
	must(f("name", simple(nameShape), "Unique name within the team.").such("order-fulfilment")),
	f("version", simple(versionShape), "A version number of your own.").called("Version name").such("1.10.0"),
	f("description", plainText, "What the workflow is for; shown on the canvas.").such("Reserve, charge and ship an order."),
	inline(f("labels", mapOf(plainText), "Words to find the workflow by, each a name and a value.").such(map[string]any{"team": "commerce"})),
}}

var specObject = &object{title: "Spec", doc: "Inputs, triggers, policies and activities.", fields: []field{
	f("input", jsonSchema, "What a start must give, as JSON Schema 2020-12: the fields of its form. Defaults are applied; x-sensitive: true encrypts and masks a value, x-file marks a file.").or("no input").
		such(map[string]any{"type": "object", "required": []any{"amount"}, "properties": map[string]any{"amount": map[string]any{"type": "number"}}}),
	f("variables", namedOf(value), "Values computed once at the start from inputs, vars, trigger and execution; read as vars.<name>.").such(map[string]any{"api": "https://shop.internal"}),
	f("defaults", group(defaultsObject), "Inputs that all activities of a type begin with."),
	f("schedule", listOf(group(scheduleObject)), "Each starts an execution at its times.").called("By the clock"),
	f("webhooks", listOf(group(webhookObject)), "Each is an address that starts an execution when it is called.").called("By a web request"),
	f("events", listOf(group(eventTriggerObject)), "Each starts an execution when an event of its name arrives.").called("By an event"),
	inline(f("retry", retryShape, "Retry policy of http, script, sql, email, ai and worker activities that have none.").called("Retry of all connectors")),
	f("limits", group(limitsObject), "Bounds of the workflow."),
	inline(f("affinity", group(affinityObject), "Where activities run unless they say otherwise; its queue is that of the executions too.")),
	inline(f("execution", group(modeObject), "Who drives an execution and how often it commits.")),
	f("compensation", group(compensationObject), "When and how completed work is undone."),
	must(f("activities", activityList, "The activities, in the author's order.")),
	f("transitions", listOf(group(transitionObject)), "Edges apart from the activities; fmt writes them as needs."),
	f("output", namedOf(expression), "Output of the execution: an expression for each key.").such(map[string]any{"total": "activities.sum.outputs.total"}),
	f("onError", activityList, "Activities that run when the execution failed, after compensation; they may read error."),
	f("onExit", activityList, "Activities that run last, however the execution ended; they may read execution.status."),
}}

// activityList is filled in init: activities hold activities.
var (
	activityList = &shape{kind: listShape}
	bodyShape    = &shape{kind: objectShape}
	undoShape    = &shape{kind: objectShape}
)

func init() {
	activityList.of, activityList.least = group(activityObject), 1
	bodyShape.object = without(activityObject, "the single activity of a loop body", "id", "needs", "join", "when", "onSkip")
	undoShape.object = without(activityObject, "what undoes a completed activity", "id", "needs", "join", "when", "onSkip", "compensate", "onFailure", "repeat")
}

func without(o *object, doc string, keys ...string) *object {
	out := &object{title: o.title, doc: doc}
	for _, each := range o.fields {
		if !contains(keys, each.key) {
			out.fields = append(out.fields, each)
		}
	}
	return out
}

var transitionObject = &object{title: "Transition", doc: "An edge.", fields: []field{
	must(f("from", simple(needShape), "Where the edge comes from: id or id.port.")),
	must(f("to", identifier, "Where the edge goes.")),
}}

var scheduleObject = &object{title: "Schedule", doc: "A start by the clock: one of cron, every and at.", fields: []field{
	f("cron", simple(cronShape), "Five fields: minute hour day month weekday; names and @daily allowed.").such("30 2 * * *"),
	f("every", duration, "A fixed interval, instead of cron.").such("15m"),
	f("at", simple(instantShape), "One instant, instead of cron.").such("2027-01-31T09:00:00Z"),
	f("timezone", zone, "IANA time zone of the cron fields.").called("Time zone").or("UTC").such("Europe/Berlin"),
	f("input", mapOf(expression), "Input of the execution: an expression for each key.").such(map[string]any{"day": `formatTime(trigger.scheduledAt, "2006-01-02")`}),
	f("overlap", oneOfWords("skip", "allow", "buffer_one"), "What happens when the execution before still runs.").or("skip"),
	f("catchUp", oneOfWords("none", "last", "all"), "Which missed times are made up for after an outage.").or("none"),
	f("catchUpLimit", integer(1, 10000), "Most missed times made up for.").or("100").with("catchUp", "all").seldom(),
	f("dst", group(&object{title: "Summer time", doc: "What happens when clocks change.", fields: []field{
		f("gap", oneOfWords("shift", "skip"), "A time that does not exist runs at the next valid instant, or not at all.").or("shift"),
		f("overlap", oneOfWords("first", "both"), "A time that exists twice runs once or twice.").or("first"),
	}}), "A start in the hour that is left out or comes twice.").called("When clocks change").seldom(),
	f("startDeadline", duration, "Latest start after the planned instant.").or("1h").called("Too late after").seldom(),
	f("jitter", duration, "Random delay up to this, so that not all start in the same second.").or("none").seldom(),
	f("paused", boolean, "The schedule does not fire.").or("false"),
	f("calendar", plainText, "Name of a calendar of days without starts.").seldom(),
}}

var webhookObject = &object{title: "Webhook", doc: "A start by an HTTP request.", fields: []field{
	must(f("path", plainText, "Path below the team's webhook address.").such("/orders")),
	f("method", oneOfWords("POST", "PUT", "GET"), "HTTP method.").or("POST"),
	f("auth", group(&object{title: "Authentication", doc: "How the caller proves who it is.", fields: []field{
		must(f("type", oneOfWords("none", "bearer", "basic", "hmac_sha256"), "The way.")),
		f("secret", plainText, "Name of the secret that holds the token, user:password or key.").such("SHOP_WEBHOOK_KEY").with("type", "bearer", "basic", "hmac_sha256"),
		f("header", plainText, "Header of the signature.").or("X-Weftline-Signature").with("type", "hmac_sha256"),
	}}), "How the caller proves who it is.").called("Authentication"),
	f("input", expression, "Input of the execution, over trigger.body, trigger.query and trigger.headers.").or("trigger.body").such("trigger.body"),
	f("when", condition, "Only requests for which this holds start something.").such(`trigger.body.state == "new"`).called("Only if"),
	f("dedupeKey", expression, "Requests with the same key start one execution within 24 h.").called("Same start if equal").such("trigger.body.order_id"),
	f("respond", oneOfWords("accepted", "result"), "Answer at once, or wait up to 10 s for the result.").or("accepted"),
}}

var eventTriggerObject = &object{title: "Event trigger", doc: "A start by an event.", fields: []field{
	must(f("name", plainText, "Name of the event.").such("sensor.too_warm")),
	f("when", condition, "Only events for which this holds start something.").such("trigger.payload.degrees > 8").called("Only if"),
	f("input", expression, "Input of the execution, over trigger.payload.").or("trigger.payload").such("trigger.payload"),
	f("dedupeKey", expression, "Events with the same key start one execution within 24 h.").such("trigger.payload.sensor").called("Same start if equal"),
}}

var limitsObject = &object{title: "Limits", doc: "Bounds of the workflow.", fields: []field{
	f("maxConcurrent", integer(1, 1_000_000), "More wait, or what you choose below.").or("unlimited").called("Executions at once"),
	f("concurrencyKey", expression, "One pool for each value, over inputs.").or("one pool").such("inputs.customer").called("Counted per"),
	f("onLimit", oneOfWords("queue", "skip", "replace", "reject"), "What a start over the limit does.").or("queue").called("Over the limit"),
	f("queueMax", integer(0, 1_000_000), "Starts that may wait; further ones are rejected.").or("1000").called("Longest queue").with("onLimit", "queue").seldom(),
	f("maxParallel", integer(1, 10_000), "Of one execution.").or("50").called("Activities at once"),
	f("maxPerSecond", numeric(0.001, 100_000), "Attempts of worker activities and children started a second, evenly spaced, over all executions of the pool (concurrencyKey).").or("unlimited").called("Starts a second").seldom(),
	f("maxMemory", simple(sizeShape), "Memory of a script or worker activity, and of all outputs of an execution; more is the failure limit.memory.").or("none").such("256MiB").called("Memory").seldom(),
	f("priority", oneOfWords("critical", "high", "normal", "low"), "Queue order of the executions.").or("normal"),
	f("timeout", duration, "From start to end, waits included.").or("none").such("3d").called("Longest execution"),
	f("onFailFast", oneOfWords("finish", "cancel"), "What happens to running work after an unhandled failure.").or("finish").called("Running work at a failure").seldom(),
	f("failFast", boolean, "After an unhandled failure nothing new starts.").or("true").called("Stop at the first failure"),
	f("historyRetention", duration, "How long ended executions are kept; the team's executionRetention counts when it is longer.").or("90d").called("Kept after the end").seldom(),
}}

var affinityObject = &object{title: "Affinity", doc: "Where work runs.", fields: []field{
	inline(f("labels", mapOf(plainText), "Labels the worker must have.").such(map[string]any{"gpu": "true"})),
	inline(f("prefer", mapOf(plainText), "Labels tried first, for waitFor.")),
	f("queue", plainText, "Name of a queue of its own.").such("reports"),
	f("waitFor", duration, "How long prefer is tried.").or("5s").called("Prefer for"),
}}

var modeObject = &object{title: "Execution", doc: "Who drives an execution and how often it commits.", fields: []field{
	f("mode", oneOfWords("default", "server", "local_sync", "local_async"), "Hand over after each activity, chain with a commit each, or chain and commit in groups.").or("default"),
	f("maxActivities", integer(1, 10_000), "Activities between two commits.").or("64").called("Activities a commit").with("mode", "local_async"),
	f("flushEvery", duration, "Longest time between two commits.").or("50ms").with("mode", "local_async"),
}}

var compensationObject = &object{title: "Compensation", doc: "When and how completed work is undone.", fields: []field{
	f("runOn", listOf(oneOfWords("failure", "timeout", "cancel")), "Ends after which completed work is undone.").or("[failure, timeout]").called("Undo after"),
	f("order", oneOfWords("reverse", "parallel"), "Order of undoing: latest completed first, or all at once.").or("reverse"),
	inline(f("retry", retryShape, "Retry policy of undoing.").or("5 attempts, exponential, 2s to 1m")),
	f("onError", oneOfWords("continue", "stop"), "What happens when something cannot be undone.").or("continue"),
}}

var retryObject = &object{title: "Retry", doc: "When and how often a failed attempt is repeated.", fields: []field{
	f("attempts", integer(1, 100), "The first included; 1 means no retry.").or("3").called("Attempts in all"),
	f("strategy", oneOfWords("fixed", "linear", "exponential"), "How the pause grows from one attempt to the next.").or("exponential").called("Pauses"),
	f("delay", duration, "Between the first attempt and the second.").or("2s").called("First pause"),
	f("maxDelay", duration, "However much the pause grows.").or("1m").called("Longest pause"),
	f("jitter", oneOfWords("full", "none"), "Whether a pause is shortened at random.").or("full for exponential, else none").seldom(),
	f("errors", listOf(pattern), "Types of errors that are retried.").or("transport.*, timeout.attempt, http.5xx, http.408, http.425, http.429, script.exit, sql.transient, engine.worker_lost").such([]any{"http.5xx", "transport.*"}).called("Only these errors").seldom(),
	f("except", listOf(pattern), "Errors that are not retried after all.").such([]any{"http.501"}).called("Never these errors").seldom(),
}}

var retryShape = choice(integer(1, 100), group(retryObject))
