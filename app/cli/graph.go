package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"weftline/engine/flow"
)

// graph draws a definition: as text, one line an activity, in an order in which each stands below all that
// it waits for, or as SVG.
func graph(_ context.Context, t Terminal, args []string) error {
	flags := t.flags("graph")
	svg := flags.Bool("svg", false, "draw it as SVG")
	asJSON := flags.Bool("json", false, "print activities and edges as JSON")
	files, err := parse(flags, args, 1, 1)
	if err != nil {
		return err
	}
	if *svg && *asJSON {
		return wrongUsage(flags, "say --svg or --json, not both")
	}
	workflow, err := loadWorkflow(t, t.Err, files[0])
	switch {
	case err != nil:
		return err
	case *svg:
		return writeSVG(t.Out, workflow)
	case *asJSON:
		return printJSON(t.Out, graphJSON(workflow))
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

// graphNode and graphEdge are what graph --json prints. The activities of a loop's body name their loop.
type graphNode struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Join string `json:"join"`
	In   string `json:"in,omitempty"` // the loop or hook list it stands in
}

type graphEdge struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Ports []string `json:"ports"` // [] = the plain edge
}

func graphJSON(workflow *flow.Workflow) map[string]any {
	nodes, edges := []graphNode{}, []graphEdge{}
	var add func(g *flow.Graph, in string)
	add = func(g *flow.Graph, in string) {
		if g == nil {
			return
		}
		for _, activity := range g.Activities {
			nodes = append(nodes, graphNode{activity.ID, activity.Type, string(activity.Join.Mode), in})
			for _, edge := range activity.In {
				ports := []string{}
				for _, port := range edge.Ports {
					ports = append(ports, port.Name)
				}
				edges = append(edges, graphEdge{g.Activities[edge.From].ID, activity.ID, ports})
			}
			if activity.ForEach != nil {
				add(activity.ForEach.Body, activity.ID)
			}
		}
	}
	add(workflow.Graph, "")
	add(workflow.OnError, "onError")
	add(workflow.OnExit, "onExit")
	return map[string]any{"name": workflow.Name, "activities": nodes, "edges": edges}
}
