package flow

// The documents that may stand beside a Workflow: its tests and its layout. They are checked, and are no
// part of the content hash.

var testObject = &object{title: "Workflow test", doc: "Cases that run without effects, on a clock of their own.", fields: []field{
	must(f("apiVersion", oneOfWords("weftline/v1"), "Version of the language.")),
	must(f("kind", oneOfWords("WorkflowTest"), "What the document is.")),
	must(f("metadata", group(metadataObject), "Who the test is.")),
	must(f("spec", group(&object{title: "Test", doc: "The workflow and the cases.", fields: []field{
		f("workflow", plainText, "Path of the workflow's file.").or("this file"),
		must(f("cases", someOf(group(caseObject), 1, 1000), "The cases.")),
	}}), "What is tested.")),
}}

var caseObject = &object{title: "Test case", doc: "One run with given outcomes.", fields: []field{
	must(f("name", plainText, "What the case shows.")),
	f("startedAt", simple(instantShape), "What the clock shows at the start.").or("2026-01-01T09:00:00Z"),
	f("startedBy", plainText, "Who starts the execution.").or("tester"),
	f("trigger", mapOf(anything), "What expressions read as trigger.").or("{type: api}"),
	f("input", mapOf(anything), "Input of the execution."),
	f("mocks", mapOf(anything), "What each activity comes to: its outputs, {result: …}, {error: type}, a list of them by attempt, or items by key."),
	f("script", listOf(group(&object{title: "Step", doc: "What happens at a time of the clock.", fields: []field{
		must(f("at", duration, "Time since the start.")),
		f("event", plainText, "An event of this name arrives."),
		f("key", anything, "Its key.").or("none: a signal to the execution"),
		f("payload", anything, "Its payload."),
		f("human", plainText, "The task of this activity is decided."),
		f("item", anything, "Key of the loop item whose task it is.").or("the first that is open"),
		f("outcome", plainText, "The decision."),
		f("by", plainText, "Who decides."),
		f("comment", plainText, "A remark with the decision."),
		f("form", mapOf(anything), "The form."),
		f("cancel", anything, "The execution is cancelled: true, or the reason."),
		f("reason", plainText, "Why it is cancelled."),
		f("compensate", boolean, "Whether the cancelled execution is undone.").or("compensation.runOn"),
		f("crash", anything, "The engine is killed here and goes on from the history: true, or a remark."),
		f("note", plainText, "A remark."),
	}})), "What happens from outside."),
	f("expect", group(&object{title: "Expectation", doc: "What must be seen.", fields: []field{
		f("status", plainText, "Status of the execution."),
		f("error", plainText, "Type of its error."),
		f("path", listOf(plainText), "Activities that completed, all of them, in order."),
		f("skipped", listOf(plainText), "Activities that were skipped, all of them."),
		inline(f("attempts", mapOf(integer(0, 100)), "Attempts by activity.")),
		f("inputs", mapOf(anything), "Resolved inputs by activity; what is not named is not compared."),
		f("output", anything, "Output of the execution."),
		f("duration", duration, "Time from start to end."),
	}}), "What must be seen."),
}}

var layoutObject = &object{title: "Layout", doc: "Where nodes stand that a person moved.", fields: append([]field{
	must(f("apiVersion", oneOfWords("weftline/v1"), "Version of the language.")),
	must(f("kind", oneOfWords("Layout"), "What the document is.")),
	f("metadata", group(metadataObject), "Whose layout it is."),
	f("spec", group(&object{title: "Layout", doc: "Positions and marks.", fields: layoutFields}), "Positions and marks."),
}, layoutFields...)}

var layoutFields = []field{
	f("positions", namedOf(someOf(integer(-1_000_000, 1_000_000), 2, 2)), "Left and top edge by activity, on a grid of 10.").such(map[string]any{"approve": []any{480, 240}}),
	f("collapsed", listOf(identifier), "Loops shown closed."),
	f("notes", anything, "Notes on the canvas, each a text and where it stands; the designer draws a list of {text, at}.").such([]any{map[string]any{"text": "Ask the bank first", "at": []any{480, 120}}}),
	f("colours", mapOf(plainText), "Colours by activity."),
}

// besides checks the documents that stand beside the workflow.
func (c *checker) besides(others []*document) {
	for _, d := range others {
		table := layoutObject
		if d.root.get("kind").text() == "WorkflowTest" {
			table = testObject
		}
		c.check(d.root, group(table))
	}
}

// Document is one document of a text as a plain value: kind Workflow, WorkflowTest or Layout.
type Document struct {
	Kind  string
	Value map[string]any
}

// Documents are all documents of a text, the Workflow first. A text that is not YAML, or holds not exactly
// one Workflow, is a *LoadError.
func Documents(text []byte) ([]Document, error) {
	ps := &problems{}
	workflow, others := documentsOf(text, ps)
	if ps.hasErrors() {
		return nil, &LoadError{ps.report("")}
	}
	all := []Document{{"Workflow", workflow.root.plainMap()}}
	for _, d := range others {
		all = append(all, Document{d.root.get("kind").text(), d.root.plainMap()})
	}
	return all, nil
}
