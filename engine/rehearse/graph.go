package rehearse

import (
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// activities are all activities with an id: hooks and bodies of loops included. The single activity of a
// loop's body stands for its loop, whose id it has.
func activities(wf *flow.Workflow) map[string]*flow.Activity {
	all := map[string]*flow.Activity{}
	for _, graph := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		collect(graph, all)
	}
	return all
}

// Activity finds an activity by its id; nil = there is none.
func Activity(wf *flow.Workflow, id string) *flow.Activity { return activities(wf)[id] }

func collect(graph *flow.Graph, into map[string]*flow.Activity) {
	if graph == nil {
		return
	}
	for _, act := range graph.Activities {
		into[act.ID] = single(act)
		if loop := single(act).ForEach; loop != nil {
			collect(loop.Body, into)
		}
	}
}

// single goes into bodies of one activity.
func single(act *flow.Activity) *flow.Activity {
	for act.ForEach != nil && act.ForEach.Activity != nil {
		act = act.ForEach.Activity
	}
	return act
}

// bare is a workflow whose activities have no outputs of their own: what a mock gives as outputs is not
// computed again.
func bare(wf *flow.Workflow) *flow.Workflow {
	c := *wf
	c.Graph, c.OnError, c.OnExit = bareGraph(wf.Graph), bareGraph(wf.OnError), bareGraph(wf.OnExit)
	return &c
}

func bareGraph(g *flow.Graph) *flow.Graph {
	if g == nil {
		return nil
	}
	c := &flow.Graph{Activities: make([]*flow.Activity, len(g.Activities)), ByID: make(map[string]*flow.Activity, len(g.ByID))}
	for i, act := range g.Activities {
		c.Activities[i] = bareActivity(act)
		c.ByID[act.ID] = c.Activities[i]
	}
	return c
}

func bareActivity(act *flow.Activity) *flow.Activity {
	if act == nil {
		return nil
	}
	c := *act
	c.Outputs, c.Compensate = nil, bareActivity(act.Compensate)
	if act.ForEach != nil {
		loop := *act.ForEach
		loop.Activity, loop.Body = bareActivity(loop.Activity), bareGraph(loop.Body)
		c.ForEach = &loop
	}
	return &c
}

// readBySomebody are the ids of the activities that an expression of the workflow names.
func readBySomebody(wf *flow.Workflow) map[string]bool {
	r := reads{}
	r.named(wf.Output)
	for _, graph := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		r.graph(graph)
	}
	return r
}

type reads map[string]bool

func (r reads) program(list ...*expr.Program) {
	for _, p := range list {
		if p != nil {
			r.refs(p.References())
		}
	}
}

func (r reads) value(list ...*expr.Value) {
	for _, v := range list {
		if v == nil {
			continue
		}
		if _, literal := v.Literal(); !literal {
			r.refs(v.References())
		}
	}
}

func (r reads) refs(refs expr.References) {
	for _, id := range refs.Activities {
		r[id] = true
	}
}

func (r reads) named(list []flow.Named) {
	for _, n := range list {
		r.value(n.Value)
	}
}

func (r reads) graph(g *flow.Graph) {
	if g == nil {
		return
	}
	for _, act := range g.Activities {
		r.activity(act)
	}
}

func (r reads) activity(act *flow.Activity) {
	if act == nil {
		return
	}
	r.program(act.When)
	r.value(act.Inputs, act.IdempotencyKey)
	r.named(act.Outputs)
	if act.Repeat != nil {
		r.program(act.Repeat.Until)
		r.value(act.Repeat.Every)
	}
	if act.Semaphore != nil {
		r.value(act.Semaphore.Key)
	}
	r.block(act)
	r.activity(act.Compensate)
}

func (r reads) block(act *flow.Activity) {
	switch {
	case act.Human != nil:
		h := act.Human
		r.value(h.Title, h.Description, h.Assignee, h.Users, h.Groups, h.Due, h.Data)
		for _, id := range h.NotSameAs {
			r[id] = true
		}
	case act.Wait != nil:
		r.value(act.Wait.After, act.Wait.At)
	case act.Event != nil:
		r.value(act.Event.Name)
		r.program(act.Event.Correlation, act.Event.Where)
	case act.Emit != nil:
		r.value(act.Emit.Name, act.Emit.Payload)
		r.program(act.Emit.Key)
	case act.Workflow != nil:
		r.value(act.Workflow.DedupeKey)
	case act.ForEach != nil:
		r.value(act.ForEach.Items, act.ForEach.MaxConcurrent)
		r.program(act.ForEach.Key)
		r.named(act.ForEach.Collect)
		r.activity(act.ForEach.Activity)
		r.graph(act.ForEach.Body)
	case act.Switch != nil:
		for _, c := range act.Switch.Cases {
			r.program(c.When)
		}
	case act.Fail != nil:
		r.value(act.Fail.Error, act.Fail.Message, act.Fail.Detail)
	case act.End != nil:
		r.value(act.End.Output)
	}
}
