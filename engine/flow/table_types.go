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
	f("connection", plainText, "Says where the service is, and signs the request.").such("shop"),
	f("method", wordsOrTemplate("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"), "What the service is asked to do.").or("GET"),
	must(f("url", filledTemplate, "A full http or https address; with a connection, a path.").such("https://shop.internal/orders/${{ inputs.order_id }}").called("URL")),
	f("query", value, "Added to the URL.").called("Query parameters").such(map[string]any{"page": 1}),
	f("headers", value, "Of the request.").such(map[string]any{"Accept": "application/json"}),
	f("body", value, "Sent as JSON, a text as plain text.").such(map[string]any{"amount": "${{ inputs.amount }}"}),
	f("form", value, "Sent as an HTML form, instead of a body.").such(map[string]any{"grant_type": "client_credentials"}).called("Form fields").seldom(),
	f("auth", group(authObject), "Credential of the request.").called("Authentication"),
	f("expect", group(&object{title: "Expectation", doc: "What counts as success.", fields: []field{
		f("status", choice(integer(100, 599), plainText, listOf(choice(integer(100, 599), plainText))), "Status codes, a text or a list.").or("2xx").such("2xx"),
		f("schema", jsonSchema, "What the body must look like.").called("Body"),
	}}), "Another answer is a failure.").called("What counts as success"),
	f("saveAs", oneOfWords("body", "file"), "file keeps the answer as a file instead of in the result.").or("body").called("Keep the answer as").seldom(),
	f("tls", value, "Certificates in PEM: ca, cert, key; and serverName.").such(map[string]any{"ca": "${{ secrets.SHOP_CA }}"}).called("TLS").seldom(),
	f("proxy", template, "Address of an HTTP or SOCKS5 proxy.").such("http://proxy.internal:3128").seldom(),
}}

var authObject = &object{title: "Authentication", doc: "Credential of a request.", fields: []field{
	must(f("type", oneOfWords("basic", "bearer", "api_key", "oauth2", "hmac"), "How the request proves who it is from.").called("Way")),
	f("username", template, "The user name.").such("weftline").called("User name").with("type", "basic"),
	f("password", template, "The password; better from a secret.").such("${{ secrets.SHOP_PASSWORD }}").with("type", "basic"),
	f("token", template, "The token; better from a secret.").such("${{ secrets.SHOP_TOKEN }}").with("type", "bearer"),
	f("name", template, "Name of the header or parameter.").such("X-Api-Key").with("type", "api_key"),
	f("value", template, "The key; better from a secret.").such("${{ secrets.SHOP_KEY }}").called("Key").with("type", "api_key"),
	f("in", oneOfWords("header", "query"), "Where the key goes.").or("header").called("Sent in").with("type", "api_key"),
	f("tokenUrl", template, "Address of the token service.").such("https://login.example/token").called("Token URL").with("type", "oauth2"),
	f("clientId", template, "Id of the client.").such("weftline").called("Client id").with("type", "oauth2"),
	f("clientSecret", template, "Better from a secret.").such("${{ secrets.SHOP_CLIENT }}").with("type", "oauth2"),
	f("scope", template, "Scopes asked for, with spaces between.").such("orders.read").with("type", "oauth2"),
	f("secret", template, "The key of the signature.").such("${{ secrets.SHOP_HMAC }}").with("type", "hmac"),
	f("header", template, "Header of the signature.").or("X-Weftline-Signature").with("type", "hmac"),
}}

// otherLanguages run in a process of their own.
var otherLanguages = []string{"bash", "python", "node"}

var scriptObject = &object{title: "Script", doc: "Runs a script; data goes in by input, args, env, stdin and files.", fields: []field{
	must(f("language", oneOfWords("javascript", "bash", "python", "node"), "javascript runs everywhere, the others on workers whose operator allows them.")),
	must(f("source", foreign, "The script. No expressions: hand data in by input, env, args, stdin or files.").such("return { total: input.a + input.b }")),
	f("input", value, "What the script reads as input.").such(map[string]any{"a": "${{ inputs.amount }}"}).with("language", "javascript"),
	f("args", listOf(template), "One after the other, commas between.").such([]any{"--day", "${{ inputs.day }}"}).called("Arguments").with("language", otherLanguages...),
	f("env", mapOf(template), "Environment variables.").such(map[string]any{"DAY": "${{ inputs.day }}"}).called("Environment").with("language", otherLanguages...),
	f("stdin", template, "What the script reads from its standard input.").such("${{ toJSON(inputs) }}").called("Standard input").with("language", otherLanguages...).seldom(),
	f("files", mapOf(template), "Laid beside the script, by name.").such(map[string]any{"orders.csv": "${{ inputs.orders }}"}).with("language", otherLanguages...).seldom(),
}}

var sqlObject = &object{title: "SQL", doc: "Runs SQL on a named connection.", fields: []field{
	must(f("connection", plainText, "The database, as named in the settings.").such("warehouse")),
	must(f("query", foreign, "The statement. No expressions: values go in by params.").such("select id from orders where day = :day")),
	f("params", value, "A map for :name, a list for $1.").called("Parameters").such(map[string]any{"day": "${{ inputs.day }}"}),
	f("mode", oneOfWords("query", "exec", "batch"), "What comes back: rows, a count, or counts.").or("query").called("Gives"),
	f("maxRows", integer(1, 1_000_000), "More are a failure.").or("1000").called("Most rows").with("mode", "query").seldom(),
	f("saveAs", oneOfWords("body", "file"), "file keeps the rows of a query as JSON in a file.").or("body").called("Keep the rows as").seldom(),
}}

var emailObject = &object{title: "Email", doc: "Sends a mail.", fields: []field{
	f("connection", plainText, "The mail server, as named in the settings.").or("default").seldom(),
	must(f("to", choice(template, listOf(template)), "Who gets it, commas between.").such([]any{"ops@example.com"})),
	f("cc", choice(template, listOf(template)), "Who gets a copy.").such([]any{"lead@example.com"}).seldom(),
	f("bcc", choice(template, listOf(template)), "Who gets a copy that the others do not see.").such([]any{"archive@example.com"}).seldom(),
	f("from", template, "The sender.").or("the connection's").seldom(),
	f("replyTo", template, "Where answers go.").such("service@example.com").seldom(),
	must(f("subject", template, "One line.").such("Order ${{ inputs.order_id }}")),
	f("text", template, "The mail in plain text.").such("Your order ${{ inputs.order_id }} is on its way."),
	f("html", template, "The mail in HTML; values are escaped.").such("<p>Order ${{ inputs.order_id }}</p>").called("HTML").seldom(),
	f("attachments", value, "A list of files, or of name, content (a text) or base64, and type.").such([]any{"${{ inputs.contract }}"}).seldom(),
}}

var workerObject = &object{title: "Worker task", doc: "Handed to a remote worker.", fields: []field{
	must(f("task", plainText, "Name the workers registered for.").such("render-video")),
	f("input", value, "What the worker gets.").such(map[string]any{"order": "${{ inputs.order_id }}"}),
}}

var aiObject = &object{title: "AI", doc: "Asks a chat model.", fields: []field{
	must(f("connection", plainText, "The service, as named in the settings.").such("assistant")),
	f("model", template, "Its name at the service.").or("the connection's"),
	f("prompt", template, "What the model is asked.").such("Summarize in one sentence: ${{ inputs.text }}"),
	f("messages", value, "A conversation, instead of a prompt.").such([]any{map[string]any{"role": "user", "content": "${{ inputs.text }}"}}).seldom(),
	f("responseSchema", jsonSchema, "The fields that the answer must have.").called("Answer"),
	f("maxTokens", integer(1, 1_000_000), "Of the answer.").such(500).called("Most tokens").seldom(),
	f("temperature", numeric(0, 2), "From 0, always the same, to 2.").or("the service's").seldom(),
}}

var humanObject = &object{title: "Human task", doc: "A task for a person.", fields: []field{
	must(f("title", template, "One line; it heads the task.").such("Release ${{ inputs.service }}?").called("Question")),
	f("description", template, "What one must know to answer.").such("Built from ${{ inputs.branch }}.").called("Details"),
	f("assignee", template, "Instead of candidates.").such("ann").called("One person").seldom(),
	f("candidates", group(&object{title: "Candidates", doc: "Who may decide.", fields: []field{
		f("users", choice(expression, listOf(template)), "Commas between.").such([]any{"ann"}).called("People"),
		f("groups", choice(expression, listOf(template)), "Commas between.").such([]any{"managers"}),
	}}), "Any of them answers.").called("Who may decide"),
	f("quorum", integer(1, 100), "So many different people must choose the first outcome.").or("1").called("People who must agree").seldom(),
	f("notActor", boolean, "Four eyes: another person must answer.").or("false").called("Not who started it").seldom(),
	f("notSameAs", listOf(identifier), "Ids of human activities, commas between.").such([]any{"first_check"}).called("Not who decided").seldom(),
	f("outcomes", someOf(outcome, 1, 20), "The buttons of the task; the first is the good one.").or("[approved, rejected]").called("Outcomes").such([]any{"approved", "rejected"}),
	f("form", jsonSchema, "What a person fills in with the answer, as JSON Schema; x-file marks a file to choose."),
	f("due", moment, "Then the task expires.").or("never").such("2d").called("Due after"),
	f("onDue", identifier, "What is taken then.").or("expired").called("Outcome when overdue").seldom(),
	f("remind", listOf(duration), "Counted from the creation, commas between.").such([]any{"1h", "1d"}).called("Remind after").seldom(),
	f("escalate", listOf(group(&object{title: "Escalation", doc: "Adds people after a time.", fields: []field{
		must(f("after", duration, "Counted from the creation.").such("1d")),
		must(f("to", group(&object{title: "To", doc: "Who is added.", fields: []field{
			f("users", listOf(plainText), "Commas between.").such([]any{"ann"}).called("People"),
			f("groups", listOf(plainText), "Commas between.").such([]any{"heads"}),
		}}), "Who is added.")),
	}})), "Adds people who may answer after a time.").seldom(),
	f("allowComment", boolean, "A person may add a remark.").or("true").called("With a comment").seldom(),
	f("data", value, "Shown with the task.").such(map[string]any{"total": "${{ inputs.amount }}"}),
}}

var waitObject = &object{title: "Wait", doc: "A durable timer.", fields: []field{
	must(f("timer", group(&object{title: "Timer", doc: "One of after and at.", fields: []field{
		f("after", delay, "A duration, or an expression that gives one.").such("10m").called("For"),
		f("at", instant, "Instead: an instant, or an expression that gives one.").such("inputs.start_date").called("Until"),
		f("timezone", zone, "Of an instant without one.").or("UTC").called("Time zone").seldom(),
	}}), "For a time, or until an instant.").called("Wait")),
}}

var eventObject = &object{title: "Event", doc: "Waits for an event or signal.", fields: []field{
	must(f("name", template, "Name of the event; also of a signal to the execution.").such("warehouse.packed").called("Event")),
	f("correlation", expression, "The key the event must carry.").such("inputs.order_id"),
	f("where", condition, "Over event: which ones count.").such("event.payload.size > 10").called("Only if"),
	f("count", integer(1, 10_000), "So many must come.").or("1").called("How many").seldom(),
	f("schema", jsonSchema, "The fields that the event must bring.").called("Payload").seldom(),
}}

var emitObject = &object{title: "Emit", doc: "Sends an event.", fields: []field{
	must(f("name", template, "Name of the event.").such("warehouse.pack_requested").called("Event")),
	f("key", expression, "The key it carries.").such("inputs.order_id"),
	f("payload", value, "What it carries.").such(map[string]any{"order": "${{ inputs.order_id }}"}),
}}

var childObject = &object{title: "Child workflow", doc: "Starts another workflow.", fields: []field{
	must(f("name", simple(nameShape), "Its name; it must be published.").such("load-test").called("Workflow")),
	f("version", simple(versionShape), "A published number, or a range over metadata.version.").or("the latest").such("1.x").seldom(),
	f("wait", boolean, "Otherwise it runs apart from this one.").or("true").called("Wait for its end"),
	f("onCancel", oneOfWords("cancel", "abandon"), "What happens to it when this is cancelled.").or("cancel").called("When cancelled").seldom(),
	f("dedupeKey", template, "Starts of the child with the same key within 24 h are one: the others wait for the same execution.").such("${{ inputs.order_id }}").called("Same start if equal").seldom(),
}}

var forEachObject = &object{title: "Loop", doc: "Runs a body for each item.", fields: []field{
	must(f("items", choice(listOf(value), expression), "A list, or an expression that gives one.").such("inputs.lines")),
	f("as", identifier, "How the body reads the item.").or("item").called("Called").seldom(),
	f("key", expression, "Unique text of an item.").or("the index").such("item.sku").called("Key of an item").seldom(),
	f("maxConcurrent", choice(integer(1, 10_000), expression), "So many items run side by side.").or("10").called("At the same time"),
	f("onItemFailure", oneOfWords("continue", "stop"), "Try all items, or stop at the first that fails.").or("continue").called("When an item fails"),
	f("tolerate", simple(toleranceShape), "Items that may fail: a count or a percentage.").or("0").such("5%").called("Failures tolerated").seldom(),
	f("activity", bodyShape, "The body: one activity."),
	f("activities", activityList, "The body: a small graph."),
	f("collect", mapOf(expression), "What is kept of each item: an expression for each key.").or("the outputs").seldom(),
}}

var switchObject = &object{title: "Switch", doc: "Takes the first case that is true.", fields: []field{
	must(f("cases", someOf(group(&object{title: "Case", doc: "A named condition.", fields: []field{
		must(f("name", outcome, "Name of the port.").such("large").called("Case")),
		must(f("when", condition, "Its condition.").such("inputs.amount > 100").called("When")),
	}}), 1, 100), "In order; the first that is true is taken.")),
	f("default", outcome, "The port when none is true.").or("none: it fails with switch.no_match").called("Otherwise"),
}}

var failObject = &object{title: "Fail", doc: "Ends as failed.", fields: []field{
	must(f("error", template, "A word of your own, with a dot.").such("order.declined").called("Error type")),
	f("message", template, "What went wrong.").such("The order ${{ inputs.order_id }} was declined."),
	f("detail", value, "Data about it.").such(map[string]any{"order": "${{ inputs.order_id }}"}),
}}

var endObject = &object{title: "End", doc: "Ends the execution as completed.", fields: []field{
	f("output", mapOf(expression), "Output of the execution: an expression for each key."),
}}
