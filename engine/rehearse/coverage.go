package rehearse

import (
	"slices"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Coverage says how much of a workflow its cases have seen.
type Coverage struct {
	Percent    int     `json:"percent"` // of all three together, rounded down
	Activities Covered `json:"activities"`
	Ports      Covered `json:"ports"` // outcomes besides the plain one: of people, events and handled failures
	Cases      Covered `json:"cases"` // of switches
}

// Covered counts one kind; Missing names what no case has seen, in the order of the definition.
type Covered struct {
	Covered int      `json:"covered"`
	Total   int      `json:"total"`
	Missing []string `json:"missing"`
}

// cover holds what was seen: "load", "load/compensate", "approve.rejected".
type cover map[string]bool

func (c *cover) add(history []execution.Event) {
	if *c == nil {
		*c = cover{}
	}
	for i := range history {
		c.event(&history[i])
	}
}

func (c cover) event(ev *execution.Event) {
	if ev.Activity == "" {
		return
	}
	see := func(port string) { c[ev.Activity+"."+port] = true }
	switch d := ev.Data.(type) {
	case *execution.Completed:
		if d.Outcome != "" {
			see(d.Outcome)
		}
	case *execution.TaskDecided:
		see(d.Outcome)
	case *execution.TaskNotice:
		if ev.Type == execution.HumanTaskExpired {
			see(d.Outcome)
		}
	case *execution.Failed:
		see(flow.PortFailure)
		if d.Error != nil && d.Error.Type == "event.timeout" {
			see("timeout")
		}
	}
	switch {
	case ev.Type == execution.ActivitySkipped:
		see(flow.PortSkipped)
	case ev.Compensating:
		c[ev.Activity+"/compensate"] = true
	case ev.Type == execution.ActivityReady:
		c[ev.Activity] = true
	}
}

// Coverage of all cases that ran so far.
func (r *Runner) Coverage() Coverage {
	t := targets{}
	for _, graph := range []*flow.Graph{r.Workflow.Graph, r.Workflow.OnError, r.Workflow.OnExit} {
		t.graph(graph)
	}
	c := Coverage{Activities: r.cover.of(t.activities), Ports: r.cover.of(t.ports), Cases: r.cover.of(t.cases)}
	total := c.Activities.Total + c.Ports.Total + c.Cases.Total
	c.Percent = 100
	if total > 0 {
		c.Percent = 100 * (c.Activities.Covered + c.Ports.Covered + c.Cases.Covered) / total
	}
	return c
}

func (c cover) of(names []string) Covered {
	covered := Covered{Total: len(names), Missing: []string{}}
	for _, name := range names {
		if c[name] {
			covered.Covered++
		} else {
			covered.Missing = append(covered.Missing, name)
		}
	}
	return covered
}

// targets is what can be covered, in the order of the definition.
type targets struct{ activities, ports, cases []string }

func (t *targets) graph(g *flow.Graph) {
	if g == nil {
		return
	}
	for _, act := range g.Activities {
		t.activities = append(t.activities, act.ID)
		inner := single(act)
		if inner.Compensate != nil {
			t.activities = append(t.activities, act.ID+"/compensate")
		}
		t.outcomes(act.ID, inner)
		for _, port := range []string{flow.PortFailure, flow.PortSkipped} {
			if consumed(g, act, port) {
				t.ports = append(t.ports, act.ID+"."+port)
			}
		}
		if inner.ForEach != nil {
			t.graph(inner.ForEach.Body)
		}
	}
}

func (t *targets) outcomes(id string, act *flow.Activity) {
	add := func(list *[]string, port string) { *list = append(*list, id+"."+port) }
	switch {
	case act.Switch != nil:
		for _, c := range act.Switch.Cases {
			add(&t.cases, c.Name)
		}
		if act.Switch.Default != "" {
			add(&t.cases, act.Switch.Default)
		}
	case act.Human != nil:
		for _, outcome := range act.Human.Outcomes {
			add(&t.ports, outcome)
		}
		if act.Human.Due != nil && !slices.Contains(act.Human.Outcomes, act.Human.OnDue) {
			add(&t.ports, "expired")
		}
	case act.Event != nil:
		add(&t.ports, "received")
		if act.Timeout > 0 {
			add(&t.ports, "timeout")
		}
	}
}

// consumed: some need names this port of the activity.
func consumed(g *flow.Graph, act *flow.Activity, port string) bool {
	for _, target := range act.Out {
		for _, edge := range g.Activities[target].In {
			if edge.From == act.Index && slices.ContainsFunc(edge.Ports, func(p flow.Port) bool { return p.Name == port }) {
				return true
			}
		}
	}
	return false
}
