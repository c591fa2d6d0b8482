package flow

import (
	"maps"
	"slices"
)

// explanation is what a code means: a title, why it is refused (or advised against), and the way out.
type explanation struct{ title, why, fix string }

// Explain tells what a code means: the title on the first line, then why and what to do. "" for a code that
// does not exist.
func Explain(code string) string {
	e, ok := explanations[code]
	if !ok {
		return ""
	}
	return e.title + "\n\n" + e.why + "\n\nWhat to do: " + e.fix + "\n"
}

// Codes are all codes, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(explanations)) }

// Title is the one line that names a code.
func Title(code string) string { return explanations[code].title }

var explanations = map[string]explanation{
	"E101": {"not YAML", "The text cannot be read as YAML 1.2, so nothing else can be checked.", "Look at the place named: a bracket or quote that is never closed, a wrong indentation, or a plain text that holds \": \" or \" #\" and must be quoted."},
	"E102": {"tab in the indentation", "YAML allows spaces only at the beginning of a line.", "Replace the tab by spaces; two for each level."},
	"E103": {"key twice", "A map may have each key once; other tools would silently take one of the two.", "Remove or rename one of them."},
	"E104": {"YAML tag", "A word that begins with ! is a tag in YAML, not a negation; tags have no meaning here.", "Write not x instead of !x, or quote the text."},
	"E105": {"YAML directive", "Lines that begin with % steer YAML parsers; a definition needs none.", "Remove the line."},
	"E106": {"merge key", "<< is not part of YAML 1.2, and readers cannot see what a step has.", "Write the keys out, or put what all activities of a type share into spec.defaults."},
	"E107": {"too deep, or too many values through aliases", "The text grows beyond what a definition can need.", "Write the values out, or use spec.defaults."},
	"E108": {"text too large", "A definition may have 1 MiB.", "Move data out of it, or split it into child workflows."},
	"E109": {"not UTF-8", "Texts are UTF-8.", "Save the file as UTF-8."},
	"E110": {"not exactly one Workflow", "A text holds one document of kind Workflow; WorkflowTest and Layout may stand beside it.", "Add the missing document, or put the second workflow into a file of its own."},
	"E111": {"unknown apiVersion", "This server knows weftline/v1.", "Write apiVersion: weftline/v1."},
	"E112": {"unknown kind", "The document must be a Workflow.", "Write kind: Workflow."},
	"E113": {"not a map", "A document is a map with apiVersion, kind, metadata and spec.", "Begin with apiVersion: weftline/v1."},

	"E201": {"id twice", "Ids are unique in the file, loop bodies and hooks included, so that an expression names one activity.", "Give one of them another id."},
	"E202": {"circle of needs", "Each of these activities waits for the next, so none can begin.", "Remove one of the needs. To run something again, use repeat; for several items, for_each."},
	"E203": {"activity needs itself", "It would wait for itself for ever.", "Remove the need. To run again, use repeat."},
	"E204": {"unknown activity", "A name leads to no activity of this list.", "Check the spelling; needs may name activities of the same list only."},
	"E205": {"unknown port", "The activity never ends with that outcome.", "Use one of its ports: success, failure, done, skipped, and the cases, outcomes or event ports of its type."},
	"E206": {"join waits for more edges than there are", "n_of_m can never be reached, so the activity would never run.", "Lower n_of_m, or add needs."},
	"E207": {"activity can never run", "Its needs exclude each other, or name an edge that never fires.", "Use join: all (which waits for the branch that was taken), or name the right port."},
	"E208": {"errors without port failure", "Error patterns choose among failures.", "Write {id: x, port: failure, errors: […]}."},
	"E209": {"edge in needs and in transitions", "The same edge is written twice; a change of one would be missed in the other.", "Keep needs and remove the transition; fmt rewrites transitions as needs."},
	"E210": {"not an id", "Ids stand in expressions, so they are a-z, 0-9 and _, begin with a letter, and are no word that YAML 1.1 tools read as a boolean. Outcomes and cases cannot be named like a port.", "Choose another id."},
	"E211": {"loops too deep", "A loop may stand in a loop, but not deeper: results and histories would become unreadable.", "Move the inner loop into a child workflow."},
	"E212": {"need across lists", "needs may name activities of the same list: the body of a loop runs many times, the list around it once.", "Need the loop itself."},

	"E301": {"not an expression", "The text cannot be read as an expression.", "Look at the place named. In YAML, quote an expression that holds \": \" or \" #\"."},
	"E302": {"unknown name", "Expressions read inputs, vars, activities, execution and trigger, and some places more.", "Check the spelling; put a text in quotes."},
	"E303": {"unknown key", "The value is known not to have this key.", "Check the spelling. If the key may be absent, write ?. or give a value with ??."},
	"E304": {"unknown activity in an expression", "There is no activity with this id.", "Check the spelling."},
	"E305": {"types do not fit", "Nothing is converted by itself: a number is no text, null is no number, and there is no truthiness.", "Convert with int, float or string, compare explicitly, or give a value with ??."},
	"E306": {"expression too large", "An expression may have 4 KiB and 1,000 parts, and bounded work.", "Move a part into spec.variables or a set activity, heavy work into a script."},
	"E307": {"activity that does not come before", "An expression reads activities that surely had their turn: those the activity needs, directly or through others.", "Add the activity to needs."},
	"E308": {"name that is not known here", "Some names exist in certain places only: result in outputs, self in repeat, error in hooks and after a failure, event in where, item in loops.", "Use what the hint says."},
	"E309": {"unknown function", "Only listed functions exist, all of them pure.", "Check the spelling and the number of arguments."},
	"E310": {"clock or randomness in an expression", "A definition is replayed, tested and retried; it must give the same answer each time.", "Use execution.startedAt, trigger.scheduledAt, activities.x.endedAt, uuid5(namespace, name), or a step that asks the outside."},
	"E311": {"expression wrapped in part", "The field is one bare expression. With ${{ }} around a part of it, the rest would be text.", "Write the whole without ${{ and }}."},
	"E312": {"value that cannot stand in a text", "Inside a text only texts, numbers and booleans have a clear form.", "Use toJSON(x) for lists and objects, x ?? \"\" for null."},
	"E313": {"not a boolean", "A condition must be true or false; there is no truthiness.", "Compare: x > 0, x != null, len(list) > 0."},
	"E314": {"expression in foreign code", "Values pasted into scripts or SQL can break out of them.", "Hand values in: script by input, env, args, stdin or files; sql by params."},
	"E315": {"variables in a circle", "Each needs the next, so none can be computed.", "Compute one of them without the other."},
	"E316": {"code that cannot be run", "The script is not in its language, so the activity would fail each time before it does anything.", "Correct the place named."},
	"E317": {"parameters of a query", "What the query asks for as :name and what params gives are not the same, so the activity would fail each time.", "Give each :name its value in params, and nothing else."},

	"E401": {"unknown key", "A misspelt key would be ignored silently, so every key is checked.", "Check the spelling; keys of your own begin with x-."},
	"E402": {"missing key", "It cannot do without this key.", "Add it."},
	"E403": {"wrong type", "The value has another type than the key takes.", "Write what is asked for; quote a number that is a text."},
	"E404": {"value not allowed", "The key takes certain words only.", "Use one of them."},
	"E405": {"not a duration or an instant", "A duration is a number with a unit; years and months have no fixed length. An instant is RFC 3339.", "Write 30s, 10m, 1h30m, 2d or PT1H30M; 2027-01-31T09:00:00Z."},
	"E406": {"unknown activity type", "There is no such type.", "Check the spelling."},
	"E407": {"part of another type", "Each type has its own inputs or block.", "Remove the part, or change the type."},
	"E408": {"not a name", "Names of workflows are a-z, 0-9 and -, at most 63 characters.", "Choose another name."},
	"E409": {"not a JSON Schema", "The schema does not follow JSON Schema 2020-12, or refers to something outside.", "Correct the place named."},
	"E410": {"not a cron line", "Five fields: minute, hour, day of month, month, day of week; L, W and # are not known.", "Write for example 30 2 * * 1-5 or @daily."},
	"E411": {"unknown time zone", "Time zones have IANA names.", "Write for example Europe/Berlin."},
	"E412": {"not a size", "A size is a number with B, KiB, MiB or GiB.", "Write for example 256MiB."},
	"E413": {"not a version", "metadata.version is a semantic version in quotes; a child takes a published number or a range.", "Write \"1.2.0\", or \"1.x\"."},
	"E414": {"out of bounds", "The number or list is smaller or larger than allowed.", "Stay within the bounds named."},
	"E415": {"onDue names no outcome", "When a task expires it ends with a declared outcome, or with expired.", "Use one of its outcomes."},
	"E417": {"keys that exclude each other", "Only one of these keys can be meant.", "Remove the other."},
	"E418": {"not an error type", "Own error types have a dot, and do not begin with a word of the engine's.", "Write for example order.declined."},
	"E419": {"named otherwise than its workflow", "A workflow keeps its name: a draft of one workflow cannot name another in metadata.name.", "Write the name of the workflow, or save the text as another one."},
	"E420": {"value does not fit the schema", "An input, form or event does not fit its JSON Schema.", "Correct the value at the pointer named."},

	"E501": {"too many activities", "A file may have 1,000 activities.", "Move parts into child workflows."},
	"E502": {"secret in a stored place", "What is computed here is stored in histories and shown to people.", "Use secrets only in the inputs of http, script, sql, email, worker and ai."},
	"E503": {"sensitive value in a plain place", "Names, keys, people and types of errors are stored as they are, since others find something by them. A value that is marked x-sensitive must not be stored so, and the activity would fail when it runs.", "Use an id that is not sensitive, such as execution.id."},

	"E601": {"unknown workflow", "The workflow named here is not published in this team; it must be when this one is published.", "Publish it first, or correct the name."},
	"E602": {"no fitting version", "No published version of the workflow fits.", "Publish one, or widen the range."},
	"E603": {"unknown connection", "No connection of this name is set up for the team.", "Set it up, or correct the name."},
	"E604": {"activity type that cannot run here", "No worker of this server knows how to run activities of this type, so one would wait for ever.", "Start a worker that can run it, or use another type."},
	"E605": {"schedule that cannot be kept", "Its calendar is not known here, or it fires more than once a second.", "Name a calendar that exists, or make the interval longer."},
	"E606": {"path of a webhook", "A path has letters, digits, dots, dashes and slashes between them, and belongs to one webhook of the team.", "Choose another path."},
	"E607": {"webhook without auth", "Anybody who knows the address could start the workflow, and the policy of the team does not allow that.", "Add auth with a secret, or let an admin set the policy allowUnsignedWebhooks."},

	"E609": {"activity type that the team does not allow", "The policy of the team names the types of activity that may run, and this one is not among them.", "Use another type, or let an admin change the policy allowedActivityTypes."},
	"E610": {"secret or connection for other workflows", "An admin named the workflows that may use it, and this one is not among them.", "Use another one, or let an admin add this workflow to its usableBy."},
	"E611": {"more activities than the team allows", "The policy of the team bounds the activities of one definition.", "Move parts into child workflows, or let an admin change the policy limits.activities."},

	"W701": {"output that may be null", "The activity may have been skipped or have failed on a way to here; then its outputs are null and reading a key fails.", "Write activities.x.outputs?.y, or give a value with ??."},
	"W702": {"human task without due", "Nobody is reminded that it is late, and it may wait for ever.", "Add due, and an activity that needs x.expired."},
	"W703": {"event without timeout", "It may wait for ever.", "Add timeout, and an activity that needs x.timeout."},
	"W704": {"schedule without a time zone", "It runs in UTC, which moves by an hour against local time twice a year.", "Add timezone."},
	"W705": {"retried without idempotency key", "A POST or PATCH that was received but not answered takes effect again.", "Leave the idempotency key on, or do not retry."},
	"W706": {"acts outside in local_async", "A crash runs the activities since the last commit again.", "Add once: true or checkpoint: true, or use another mode."},
	"W707": {"waits longer than the execution may last", "The execution ends before the wait does.", "Shorten the wait, or raise limits.timeout."},
	"W710": {"need that never fires", "A switch ends in one of its cases; its plain edge is dead.", "Name a port: switch.case."},
	"W711": {"join without needs", "There is nothing to join.", "Remove join, or add needs."},
	"W712": {"test out of step", "A WorkflowTest beside the workflow names an activity or an outcome that is not there, so its case will fail.", "Correct the name, or remove the part of the test."},
	"W713": {"text that looks like an expression", "It is taken as it stands: only what is between ${{ and }} is computed.", "Write ${{ inputs.x }}, or leave it if the text is meant."},
}
