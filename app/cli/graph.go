package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"weftline/engine/flow"
)

// graph draws a definition as text: one line an activity, in an order in which each stands below all that
// it waits for.
func graph(_ context.Context, t Terminal, args []string) error {
	files, err := parse(t.flags("graph"), args, 1, 1)
	if err != nil {
		return err
	}
	text, err := readFile(t, files[0])
	if err != nil {
		return err
	}
	report := flow.Validate(text)
	if !report.Valid {
		writeLines(t.Err, files[0], report)
		return exit(1)
	}
	workflow, err := flow.Load(text)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.Out, workflow.Name)
	writeGraph(t.Out, workflow.Graph, "  ")
	for _, hook := range []struct {
		name  string
		graph *flow.Graph
	}{{"onError", workflow.OnError}, {"onExit", workflow.OnExit}} {
		if hook.graph != nil {
			fmt.Fprintln(t.Out, hook.name)
			writeGraph(t.Out, hook.graph, "  ")
		}
	}
	return nil
}

func writeGraph(w io.Writer, g *flow.Graph, indent string) {
	for _, activity := range inOrder(g) {
		fmt.Fprintf(w, "%s%s (%s)%s\n", indent, activity.ID, activity.Type, arrows(g, activity))
		if activity.ForEach == nil {
			continue
		}
		if activity.ForEach.Body != nil {
			writeGraph(w, activity.ForEach.Body, indent+"  ")
		} else if body := activity.ForEach.Activity; body != nil {
			fmt.Fprintf(w, "%s  each item: %s\n", indent, body.Type)
		}
	}
}

// arrows: "  ← check.success, decide.approved (any)".
func arrows(g *flow.Graph, activity *flow.Activity) string {
	var sources []string
	for _, edge := range activity.In {
		name := g.Activities[edge.From].ID
		if edge.Plain {
			sources = append(sources, name)
		}
		for _, port := range edge.Ports {
			sources = append(sources, name+"."+port.Name)
		}
	}
	if len(sources) == 0 {
		return ""
	}
	join := ""
	if len(activity.In) > 1 && activity.Join.Mode != flow.JoinAll {
		join = " (" + string(activity.Join.Mode) + ")"
	}
	return "  ← " + strings.Join(sources, ", ") + join
}

// inOrder puts each activity below its sources and keeps the author's order otherwise.
func inOrder(g *flow.Graph) []*flow.Activity {
	placed := make([]bool, len(g.Activities))
	var order []*flow.Activity
	for len(order) < len(g.Activities) {
		before := len(order)
		for _, activity := range g.Activities {
			if !placed[activity.Index] && allPlaced(placed, activity.In) {
				placed[activity.Index] = true
				order = append(order, activity)
			}
		}
		if len(order) == before {
			break // a valid graph has no cycle, so this is never reached with one
		}
	}
	return order
}

func allPlaced(placed []bool, edges []flow.Edge) bool {
	for _, edge := range edges {
		if !placed[edge.From] {
			return false
		}
	}
	return true
}
