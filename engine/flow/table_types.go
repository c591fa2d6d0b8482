package flow

// inputsOf are the inputs of the types that have fixed ones.
var inputsOf = map[string]*object{
	TypeHTTP:   httpObject,
	TypeScript: scriptObject,
	TypeSQL:    sqlObject,
	TypeEmail:  emailObject,
	TypeWorker: workerObject,
	TypeAI:     aiObject,
}

// blockOf are the blocks of the types that have one; blockRequired says which cannot do without.
var blockOf = map[string]*object{
	TypeHuman: humanObject, TypeWait: waitObject, TypeEvent: eventObject, TypeEmit: emitObject, TypeWorkflow: childObject,
	TypeForEach: forEachObject, TypeSwitch: switchObject, TypeFail: failObject, TypeEnd: endObject,
}

func blockRequired(kind string) bool { return blockOf[kind] != nil && kind != TypeEnd }

var httpObject = &object{title: "HTTP request", doc: "Calls an HTTP service.", fields: []field{
	f("connection", plainText, "Name of a connection: it says where the service is, and signs the request.").such("shop"),
	f("method", wordsOrTemplate("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"), "HTTP method.").or("GET"),
	must(f("url", filledTemplate, "Absolute http or https address; with a connection, a path.").such("https://shop.internal/orders/${{ inputs.order_id }}")),
	f("query", value, "Parameters of the address.").such(map[string]any{"page": 1}),
	f("headers", value, "Request headers.").such(map[string]any{"Accept": "application/json"}),
	f("body", value, "Sent as JSON, a text as plain text.").such(map[string]any{"amount": "${{ inputs.amount }}"}),
	f("form", value, "Sent as an HTML form instead of body."),
	f("auth", group(authObject), "Credential of the request."),
	f("expect", group(&object{title: "Expectation", doc: "What counts as success.", fields: []field{
		f("status", choice(integer(100, 599), plainText, listOf(choice(integer(100, 599), plainText))), "Status codes.").or("2xx").such("2xx"),
		f("schema", jsonSchema, "JSON Schema of the body."),
	}}), "What counts as success."),
	f("saveAs", oneOfWords("body", "file"), "Where the answer goes.").or("body"),
	f("tls", value, "Certificates in PEM: ca, cert, key; and serverName."),
	f("proxy", template, "Address of an HTTP or SOCKS5 proxy."),
}}

var authObject = &object{title: "Authentication", doc: "Credential of a request.", fields: []field{
	must(f("type", oneOfWords("basic", "bearer", "api_key", "oauth2", "hmac"), "The way.")),
	f("username", template, "basic: user name."),
	f("password", template, "basic: password.").such("${{ secrets.SHOP_PASSWORD }}"),
	f("token", template, "bearer: the token.").such("${{ secrets.SHOP_TOKEN }}"),
	f("name", template, "api_key: name of the header or parameter."),
	f("value", template, "api_key: the key."),
	f("in", oneOfWords("header", "query"), "api_key: where it goes.").or("header"),
	f("tokenUrl", template, "oauth2: address of the token service."),
	f("clientId", template, "oauth2: client."),
	f("clientSecret", template, "oauth2: secret of the client."),
	f("scope", template, "oauth2: scopes asked for."),
	f("secret", template, "hmac: the key."),
	f("header", template, "hmac: header of the signature.").or("X-Weftline-Signature"),
}}

var scriptObject = &object{title: "Script", doc: "Runs a script; data goes in by input, args, env, stdin and files.", fields: []field{
	must(f("language", oneOfWords("javascript", "bash", "python", "node"), "javascript runs everywhere, the others on workers whose operator allows them.")),
	must(f("source", foreign, "The script. No expressions: hand data in by input, env, args, stdin or files.").such("return { total: input.a + input.b }")),
	f("input", value, "javascript: the global input."),
	f("args", listOf(template), "Arguments."),
	f("env", mapOf(template), "Environment."),
	f("stdin", template, "Standard input."),
	f("files", mapOf(template), "Files by name."),
}}

var sqlObject = &object{title: "SQL", doc: "Runs SQL on a named connection.", fields: []field{
	must(f("connection", plainText, "Name of the connection.").such("warehouse")),
	must(f("query", foreign, "The statement. No expressions: values go in by params.").such("select id from orders where day = :day")),
	f("params", value, "A map for :name, a list for $1.").such(map[string]any{"day": "${{ inputs.day }}"}),
	f("mode", oneOfWords("query", "exec", "batch"), "What comes back: rows, a count, or counts.").or("query"),
	f("maxRows", integer(1, 1_000_000), "Most rows.").or("1000"),
	f("saveAs", oneOfWords("body", "file"), "Where the rows go; file keeps those of a query as JSON.").or("body"),
}}

var emailObject = &object{title: "Email", doc: "Sends a mail.", fields: []field{
	f("connection", plainText, "Name of the connection to a mail server.").or("default"),
	must(f("to", choice(template, listOf(template)), "Recipients.").such([]any{"ops@example.com"})),
	f("cc", choice(template, listOf(template)), "Copies."),
	f("bcc", choice(template, listOf(template)), "Blind copies."),
	f("from", template, "Sender.").or("the connection's"),
	f("replyTo", template, "Where answers go."),
	must(f("subject", template, "Subject.").such("Order ${{ inputs.order_id }}")),
	f("text", template, "Plain text."),
	f("html", template, "HTML; values are escaped."),
	f("attachments", value, "A list of files, or of name, content (a text) or base64, and type."),
}}

var workerObject = &object{title: "Worker task", doc: "Handed to a remote worker.", fields: []field{
	must(f("task", plainText, "Name the workers registered for.").such("render-video")),
	f("input", value, "What the worker gets."),
}}

var aiObject = &object{title: "AI", doc: "Asks a chat model.", fields: []field{
	must(f("connection", plainText, "Name of the connection.").such("assistant")),
	f("model", template, "Model."),
	f("prompt", template, "The question."),
	f("messages", value, "A conversation instead of prompt."),
	f("responseSchema", jsonSchema, "JSON Schema of the answer."),
	f("maxTokens", integer(1, 1_000_000), "Longest answer."),
	f("temperature", numeric(0, 2), "Randomness."),
}}

var humanObject = &object{title: "Human task", doc: "A task for a person.", fields: []field{
	must(f("title", template, "What is asked.").such("Release ${{ inputs.service }}?")),
	f("description", template, "Longer text."),
	f("assignee", template, "The one person who decides."),
	f("candidates", group(&object{title: "Candidates", doc: "Who may decide.", fields: []field{
		f("users", choice(expression, listOf(template)), "People.").such([]any{"ann"}),
		f("groups", choice(expression, listOf(template)), "Groups.").such([]any{"managers"}),
	}}), "Who may decide; or say assignee."),
	f("quorum", integer(1, 100), "Different people who must choose the first outcome.").or("1"),
	f("notActor", boolean, "Not the person who started the execution.").or("false"),
	f("notSameAs", listOf(identifier), "Not the people who decided these tasks."),
	f("outcomes", someOf(outcome, 1, 20), "The answers; the first is the good one.").or("[approved, rejected]").such([]any{"approved", "rejected"}),
	f("form", jsonSchema, "JSON Schema of a form to fill in; x-file marks a file to choose."),
	f("due", moment, "When the task expires.").or("never").such("2d"),
	f("onDue", identifier, "Outcome when it expires.").or("expired"),
	f("remind", listOf(duration), "Reminders, counted from the creation.").such([]any{"1h"}),
	f("escalate", listOf(group(&object{title: "Escalation", doc: "Adds people after a time.", fields: []field{
		must(f("after", duration, "Counted from the creation.")),
		must(f("to", group(&object{title: "To", doc: "Who is added.", fields: []field{
			f("users", listOf(plainText), "People."),
			f("groups", listOf(plainText), "Groups."),
		}}), "Who is added.")),
	}})), "Adds people after a time."),
	f("allowComment", boolean, "A comment may be given.").or("true"),
	f("data", value, "Shown with the task."),
}}

var waitObject = &object{title: "Wait", doc: "A durable timer.", fields: []field{
	must(f("timer", group(&object{title: "Timer", doc: "One of after and at.", fields: []field{
		f("after", delay, "A duration, or an expression that gives one.").such("10m"),
		f("at", instant, "An instant, or an expression that gives one.").such("inputs.start_date"),
		f("timezone", zone, "Zone of an instant without offset.").or("UTC"),
	}}), "When it ends.")),
}}

var eventObject = &object{title: "Event", doc: "Waits for an event or signal.", fields: []field{
	must(f("name", template, "Name of the event.").such("warehouse.packed")),
	f("correlation", expression, "The key the event must carry.").such("inputs.order_id"),
	f("where", condition, "Over event: which ones count.").such("event.payload.size > 10"),
	f("count", integer(1, 10_000), "How many must come.").or("1"),
	f("schema", jsonSchema, "JSON Schema of the payload."),
}}

var emitObject = &object{title: "Emit", doc: "Sends an event.", fields: []field{
	must(f("name", template, "Name of the event.").such("warehouse.pack_requested")),
	f("key", expression, "The key it carries.").such("inputs.order_id"),
	f("payload", value, "What it carries."),
}}

var childObject = &object{title: "Child workflow", doc: "Starts another workflow.", fields: []field{
	must(f("name", simple(nameShape), "The workflow.").such("load-test")),
	f("version", simple(versionShape), "A published number, or a range over metadata.version.").or("the latest").such("1.x"),
	f("wait", boolean, "Wait for its end.").or("true"),
	f("onCancel", oneOfWords("cancel", "abandon"), "What happens to it when this is cancelled.").or("cancel"),
	f("dedupeKey", template, "Starts of the child with the same key within 24 h are one: the others wait for the same execution."),
}}

var forEachObject = &object{title: "Loop", doc: "Runs a body for each item.", fields: []field{
	must(f("items", choice(listOf(value), expression), "A list, or an expression that gives one.").such("inputs.lines")),
	f("as", identifier, "Name of the item in the body.").or("item"),
	f("key", expression, "Unique text of an item.").or("the index").such("item.sku"),
	f("maxConcurrent", choice(integer(1, 10_000), expression), "Items at one time.").or("10"),
	f("onItemFailure", oneOfWords("continue", "stop"), "Try all items, or stop at the first that fails.").or("continue"),
	f("tolerate", simple(toleranceShape), "Items that may fail: a count or a percentage.").or("0").such("5%"),
	f("activity", bodyShape, "The body: one activity."),
	f("activities", activityList, "The body: a small graph."),
	f("collect", mapOf(expression), "Result of an item: an expression for each key.").or("the outputs"),
}}

var switchObject = &object{title: "Switch", doc: "Takes the first case that is true.", fields: []field{
	must(f("cases", someOf(group(&object{title: "Case", doc: "A named condition.", fields: []field{
		must(f("name", outcome, "Name of the port.").such("large")),
		must(f("when", condition, "The condition.").such("inputs.amount > 100")),
	}}), 1, 100), "In order; the first that is true is taken.")),
	f("default", outcome, "Port when none is true.").or("none: it fails with switch.no_match"),
}}

var failObject = &object{title: "Fail", doc: "Ends as failed.", fields: []field{
	must(f("error", template, "Error type of your own, with a dot.").such("order.declined")),
	f("message", template, "What went wrong."),
	f("detail", value, "Data about it."),
}}

var endObject = &object{title: "End", doc: "Ends the execution as completed.", fields: []field{
	f("output", mapOf(expression), "Output of the execution: an expression for each key."),
}}
