package flow

import "slices"

// Whatever a decision comes to, a branch may lead to the same place: an activity that needs both branches of
// a switch is never skipped. To see that, each outcome of the decision is assumed in turn.

// assumption is an outcome of an activity taken as given.
type assumption struct {
	activity int
	outcome  string
}

// Bounds of the reasoning; past them an activity counts as one that may be skipped.
const (
	maxSplits     = 300 // assumptions for one list of activities
	maxSplitDepth = 3   // decisions within decisions
)

// inEveryCase reports whether some decision before an activity leads to it with each of its outcomes.
func (c *certainty) inEveryCase(i int) bool {
	if c.graph.Activities[i].When != nil || len(c.assumed) >= maxSplitDepth {
		return false
	}
	for _, decision := range c.decisionsBefore(i) {
		if !slices.ContainsFunc(c.outcomes(decision), func(outcome string) bool {
			under := c.assuming(decision, outcome)
			return under == nil || !under.neverSkipped(i) && !under.fails()
		}) {
			return true
		}
	}
	return false
}

// fails reports whether a fail that nobody handles surely runs: then the execution does not go well, and what it
// leaves out does not matter.
func (c *certainty) fails() bool {
	for i, a := range c.graph.Activities {
		if a.Type == TypeFail && !a.Continues && !c.taken[i][PortFailure] && c.neverSkipped(i) {
			return true
		}
	}
	return false
}

// decisionsBefore are the nearest activities before i that surely run and have several outcomes.
func (c *certainty) decisionsBefore(i int) []int {
	var found []int
	seen := map[int]bool{}
	var visit func(int)
	visit = func(at int) {
		for _, e := range c.graph.Activities[at].In {
			_, given := c.assumed[e.From]
			if seen[e.From] || given || len(seen) > maxSplits {
				continue
			}
			seen[e.From] = true
			if c.neverSkipped(e.From) {
				if len(c.outcomes(e.From)) > 1 {
					found = append(found, e.From)
				}
				continue // what is before it decides nothing any more
			}
			visit(e.From)
		}
	}
	visit(i)
	return found
}

// outcomes are what an activity may end with without failing the execution.
func (c *certainty) outcomes(i int) []string {
	a, taken := c.graph.Activities[i], c.taken[i]
	var all []string
	switch a.Type {
	case TypeSwitch:
		for _, each := range a.Switch.Cases {
			all = append(all, each.Name)
		}
		if a.Switch.Default != "" {
			all = append(all, a.Switch.Default)
		}
	case TypeHuman:
		all = append(all, a.Human.Outcomes[0])
		for _, outcome := range append(a.Human.Outcomes[1:len(a.Human.Outcomes):len(a.Human.Outcomes)], "expired") {
			if taken[outcome] {
				all = append(all, outcome)
			}
		}
	case TypeEvent:
		all = append(all, "received")
		if taken["timeout"] {
			all = append(all, "timeout")
		}
	default:
		all = append(all, PortSuccess)
	}
	if taken[PortFailure] {
		all = append(all, PortFailure)
	}
	return all
}

// fires reports whether an edge fires when its source ended with an outcome.
func fires(source *Activity, e Edge, outcome string) bool {
	good := outcome == PortSuccess
	switch source.Type {
	case TypeSwitch:
		good = source.Switch.Gate()
	case TypeHuman:
		good = outcome == source.Human.Outcomes[0]
	case TypeEvent:
		good = outcome == "received"
	}
	if e.Plain && good && outcome != PortFailure {
		return true
	}
	return slices.ContainsFunc(e.Ports, func(p Port) bool {
		switch p.Name {
		case PortDone:
			return true
		case PortSuccess:
			return good && outcome != PortFailure
		}
		return p.Name == outcome && len(p.Errors) == 0
	})
}

// assuming is the reasoning with one more outcome given, nil when the bounds are reached.
func (c *certainty) assuming(activity int, outcome string) *certainty {
	key := assumption{activity, outcome}
	if known := c.cases[key]; known != nil {
		return known
	}
	if *c.splits--; *c.splits < 0 {
		return nil
	}
	n := len(c.graph.Activities)
	under := &certainty{graph: c.graph, taken: c.taken, sure: make([]indexSet, n), never: make([]int, n),
		assumed: map[int]string{activity: outcome}, splits: c.splits}
	for given, other := range c.assumed {
		under.assumed[given] = other
	}
	if c.cases == nil {
		c.cases = map[assumption]*certainty{}
	}
	c.cases[key] = under
	return under
}
