package execution

import "weftline/engine/flow"

// EdgeDetail is one need of an activity. Port is "" for the plain edge; Lit says that its source ended so
// that it fired.
type EdgeDetail struct {
	From string `json:"from"`
	To   string `json:"to"`
	Port string `json:"port,omitempty"`
	Lit  bool   `json:"lit"`
}

// Edges is a query: every need of the main graph and of the hooks that have begun, in the order of the
// definition.
func Edges(wf *flow.Workflow, st *State) []EdgeDetail {
	edges := edgesOf(wf.Graph, &st.Main, []EdgeDetail{})
	edges = edgesOf(wf.OnError, st.OnError, edges)
	return edgesOf(wf.OnExit, st.OnExit, edges)
}

func edgesOf(g *flow.Graph, s *scope, edges []EdgeDetail) []EdgeDetail {
	if g == nil || s == nil {
		return edges
	}
	for _, act := range g.Activities {
		for i := range act.In {
			e := &act.In[i]
			src, r := g.Activities[e.From], &run{}
			if e.From < len(s.Runs) {
				r = &s.Runs[e.From]
			}
			if e.Plain {
				edges = append(edges, EdgeDetail{From: src.ID, To: act.ID, Lit: plainFires(src, r)})
			}
			for n := range e.Ports {
				edges = append(edges, EdgeDetail{From: src.ID, To: act.ID, Port: e.Ports[n].Name, Lit: portFires(&e.Ports[n], src, r)})
			}
		}
	}
	return edges
}
