package flow

import "slices"

// certainty knows which activities have surely completed, with outputs, when another one begins, and which
// activities can never run. It reasons about decisions only: that something may fail unhandled ends the
// execution and needs no care.
type certainty struct {
	graph *Graph
	taken []map[string]bool // per activity: the ports that some edge names
	sure  []indexSet
	never []int // 0 = not known, 1 = never skipped, 2 = may be skipped

	assumed map[int]string // outcomes taken as given, see split.go
	cases   map[assumption]*certainty
	splits  *int // how many assumptions may still be made, over all cases
}

func newCertainty(g *Graph) *certainty {
	budget := maxSplits
	c := &certainty{graph: g, taken: make([]map[string]bool, len(g.Activities)),
		sure: make([]indexSet, len(g.Activities)), never: make([]int, len(g.Activities)), splits: &budget}
	for i := range c.taken {
		c.taken[i] = map[string]bool{}
	}
	for _, a := range g.Activities {
		for _, edge := range a.In {
			for _, port := range edge.Ports {
				c.taken[edge.From][port.Name] = true
			}
		}
	}
	return c
}

// neverSkipped reports whether an activity runs in every execution that goes well.
func (c *certainty) neverSkipped(i int) bool {
	if c.never[i] == 0 {
		c.never[i] = 2
		if c.computeNeverSkipped(c.graph.Activities[i]) || c.inEveryCase(i) {
			c.never[i] = 1
		}
	}
	return c.never[i] == 1
}

func (c *certainty) computeNeverSkipped(a *Activity) bool {
	switch {
	case a.When != nil:
		return false
	case len(a.In) == 0 || a.Join.Mode == JoinDone:
		return true
	case a.Join.Mode == JoinEvery:
		return !slices.ContainsFunc(a.In, func(e Edge) bool { return !c.surelyFires(e) })
	}
	firing := 0
	for _, e := range a.In {
		if c.surelyFires(e) {
			firing++
		}
	}
	return firing >= max(1, a.Join.N)
}

func (c *certainty) surelyFires(e Edge) bool {
	if outcome, given := c.assumed[e.From]; given {
		return fires(c.graph.Activities[e.From], e, outcome)
	}
	if !c.neverSkipped(e.From) {
		return false
	}
	if e.Plain && c.endsWell(e.From) {
		return true
	}
	return slices.ContainsFunc(e.Ports, func(p Port) bool {
		return p.Name == PortDone || p.Name == PortSuccess && c.endsWell(e.From)
	})
}

// endsWell reports whether an activity that runs fires its plain edge, unless the execution fails.
func (c *certainty) endsWell(i int) bool {
	a, taken := c.graph.Activities[i], c.taken[i]
	if taken[PortFailure] {
		return false
	}
	switch a.Type {
	case TypeSwitch:
		return a.Switch.Gate()
	case TypeHuman:
		for port := range taken {
			if port != a.Human.Outcomes[0] && port != PortSuccess && port != PortDone && port != PortSkipped {
				return false
			}
		}
	case TypeEvent:
		return !taken["timeout"]
	}
	return true
}

// before gives the activities that surely completed, with outputs, when activity i begins.
func (c *certainty) before(i int) indexSet {
	if c.sure[i] != nil {
		return c.sure[i]
	}
	a := c.graph.Activities[i]
	sure := indexSet{}
	var common indexSet
	for j, e := range a.In {
		behind := c.behind(e)
		switch {
		case a.Join.Mode == JoinDone:
		case a.Join.Mode == JoinEvery || a.Join.Mode == JoinAll && c.surelyFires(e):
			sure.addAll(behind)
		case a.Join.Mode == JoinNOfM && a.Join.N >= len(a.In):
			sure.addAll(behind)
		}
		if j == 0 {
			common = behind
		} else {
			common = common.common(behind)
		}
	}
	if a.Join.Mode != JoinDone {
		sure.addAll(common)
	}
	c.sure[i] = sure
	return sure
}

// behind gives what surely completed when an edge has fired.
func (c *certainty) behind(e Edge) indexSet {
	source := c.graph.Activities[e.From]
	completed := true
	for _, p := range e.Ports {
		switch p.Name {
		case PortDone, PortSkipped:
			return indexSet{}
		case PortFailure:
			completed = source.Type == TypeForEach && completed // results stay readable after a failure
		}
	}
	all := slices.Clone(c.before(e.From))
	if completed && !source.Continues && !(source.SkipPasses && source.When != nil) {
		all.add(e.From)
	}
	return all
}

// atTheEnd gives what surely completed when the whole list ended well.
func (c *certainty) atTheEnd() indexSet {
	all := indexSet{}
	for i, a := range c.graph.Activities {
		if c.neverSkipped(i) && !a.Continues && !c.taken[i][PortFailure] {
			all.add(i)
		}
	}
	return all
}

// choices are outcomes of activities that must have happened.
type choices map[int]string

// demands gives the outcomes that must have happened before activity i runs, and the activity whose
// outcomes contradict each other when it can never run, else -1.
func (c *certainty) demands(i int, memo []choices) (all choices, clash int) {
	if memo[i] != nil {
		return memo[i], -1
	}
	memo[i] = choices{}
	a := c.graph.Activities[i]
	for j, e := range a.In {
		each := c.edgeDemands(e, memo)
		if a.Join.Mode == JoinEvery {
			for source, port := range each {
				if other, known := memo[i][source]; known && other != port {
					return memo[i], source
				}
				memo[i][source] = port
			}
			continue
		}
		if j == 0 {
			memo[i] = each
		} else {
			memo[i] = sameChoices(memo[i], each)
		}
	}
	if a.Join.Mode == JoinDone {
		memo[i] = choices{}
	}
	return memo[i], -1
}

func (c *certainty) edgeDemands(e Edge, memo []choices) choices {
	all := choices{}
	port := PortSuccess
	if !e.Plain {
		port = e.Ports[0].Name
	}
	if port == PortDone || port == PortSkipped || len(e.Ports) > 1 || e.Plain && len(e.Ports) > 0 {
		return all
	}
	up, _ := c.demands(e.From, memo)
	for source, outcome := range up {
		all[source] = outcome
	}
	source := c.graph.Activities[e.From]
	switch {
	case source.SkipPasses || source.Continues:
		if port == PortSuccess {
			return all
		}
	case source.Type == TypeHuman && port == PortSuccess:
		port = source.Human.Outcomes[0]
	case source.Type == TypeEvent && port == PortSuccess:
		port = "received"
	}
	all[e.From] = port
	return all
}

func sameChoices(a, b choices) choices {
	both := choices{}
	for source, port := range a {
		if b[source] == port {
			both[source] = port
		}
	}
	return both
}
