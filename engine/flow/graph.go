package flow

import (
	"fmt"
	"slices"
	"strings"
)

// listed is one list of activities while it is read: the nodes, and what the graph is built from.
type listed struct {
	ids   []string
	nodes []*node
	index map[string]int
	needs [][]need
	owner string // id of the for_each that holds the list, "" at the top
}

// need is one entry of needs, from the text or from a transition.
type need struct {
	node   *node
	id     string
	port   string // "" = the plain edge
	errors []string
	source int // index in the list, -1 when unknown
}

// readList collects ids and needs of a list of activities.
func (c *checker) readList(n *node, owner string) *listed {
	l := &listed{index: map[string]int{}, owner: owner}
	if n == nil || n.kind != listNode {
		return l
	}
	for _, item := range n.items {
		id := item.get("id").text()
		if _, double := l.index[id]; !double {
			l.index[id] = len(l.nodes)
		}
		l.ids = append(l.ids, id)
		l.nodes = append(l.nodes, item)
	}
	l.needs = make([][]need, len(l.nodes))
	for i, item := range l.nodes {
		list := item.get("needs")
		if list == nil || list.kind != listNode {
			continue
		}
		for _, each := range list.items {
			if read, ok := readNeed(each); ok {
				l.needs[i] = append(l.needs[i], read)
			}
		}
	}
	return l
}

func readNeed(n *node) (need, bool) {
	switch n.kind {
	case textNode:
		id, port, _ := strings.Cut(n.raw, ".")
		return need{node: n, id: id, port: port, source: -1}, true
	case mapNode:
		at := n.get("id")
		if at == nil {
			return need{}, false
		}
		return need{node: at, id: at.text(), port: n.get("port").text(), errors: n.get("errors").texts(), source: -1}, at.kind == textNode
	}
	return need{}, false
}

// transitions turns spec.transitions into needs.
func (c *checker) transitions(spec *node, l *listed) {
	list := spec.get("transitions")
	if list == nil || list.kind != listNode {
		return
	}
	for _, item := range list.items {
		from, to := item.get("from"), item.get("to")
		if from.text() == "" || to.text() == "" {
			continue
		}
		target, known := l.index[to.text()]
		if !known {
			c.ps.add("E204", to, "", "transitions name %q, which does not exist", to.raw).suggest(to, l.ids)
			continue
		}
		read, _ := readNeed(from)
		if slices.ContainsFunc(l.needs[target], func(n need) bool { return n.id == read.id }) {
			c.ps.add("E209", item, "remove one of them", "the edge from %q to %q stands in needs and in transitions", read.id, to.raw)
			continue
		}
		l.needs[target] = append(l.needs[target], read)
	}
}

// resolveNeeds finds the sources of all needs and reports what does not exist.
func (c *checker) resolveNeeds(l *listed, elsewhere map[string]string) {
	for i := range l.needs {
		for j := range l.needs[i] {
			c.resolveNeed(l, i, &l.needs[i][j], elsewhere)
		}
	}
}

func (c *checker) resolveNeed(l *listed, self int, n *need, elsewhere map[string]string) {
	source, known := l.index[n.id]
	switch {
	case !known && elsewhere[n.id] != "":
		c.ps.add("E212", n.node, "needs may name activities of the same list", "%q stands in %s, not in this list", n.id, elsewhere[n.id])
	case !known:
		p := c.ps.add("E204", n.node, "", "activity %q needs %q, which does not exist: needs may name activities of the same list", l.ids[self], n.id)
		word := &node{raw: n.id, pos: n.node.pos, quoted: n.node.quoted, aliased: n.node.aliased}
		if n.port != "" {
			word.quoted = true // the edit would drop the port
		}
		p.suggest(word, l.ids)
	case source == self:
		c.ps.add("E203", n.node, "remove it; to run again, use repeat", "activity %q needs itself", n.id)
	default:
		n.source = source
		c.checkPort(l.nodes[source], n)
	}
}

func (c *checker) checkPort(source *node, n *need) {
	if n.port != "" {
		ports := portsOf(source)
		if !slices.Contains(ports, n.port) {
			p := c.ps.add("E205", n.node, "", "activity %q has no port %q; it has %s", n.id, n.port, list(ports))
			p.suggest(&node{raw: n.port, quoted: true}, ports)
			if p.Hint == "" {
				p.Hint = "use one of: " + list(ports)
			}
		}
	}
	if len(n.errors) > 0 && n.port != PortFailure {
		c.ps.add("E208", n.node, "write port: failure", "errors belong to the port failure")
	}
}

// portsOf are the outcomes that an activity may end with.
func portsOf(n *node) []string {
	switch n.get("type").text() {
	case TypeSwitch:
		return append(switchPorts(n), PortFailure, PortDone, PortSkipped)
	case TypeHuman:
		return append(outcomesOf(n), "expired", PortSuccess, PortFailure, PortDone, PortSkipped)
	case TypeEvent:
		return []string{"received", "timeout", PortSuccess, PortFailure, PortDone, PortSkipped}
	}
	return []string{PortSuccess, PortFailure, PortDone, PortSkipped}
}

func switchPorts(n *node) []string {
	var ports []string
	if cases := n.at("switch", "cases"); cases != nil {
		for _, each := range cases.items {
			ports = append(ports, each.get("name").text())
		}
	}
	if standard := n.at("switch", "default").text(); standard != "" {
		ports = append(ports, standard)
	}
	return ports
}

func outcomesOf(n *node) []string {
	if declared := n.at("human", "outcomes"); declared.given() {
		return declared.texts()
	}
	return []string{"approved", "rejected"}
}

// cycles reports every cycle once, at the first of its activities in the text.
func (c *checker) cycles(l *listed) bool {
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(l.nodes))
	var path []int
	found := false
	var visit func(int)
	visit = func(i int) {
		state[i] = open
		path = append(path, i)
		for _, n := range l.needs[i] {
			switch {
			case n.source < 0:
			case state[n.source] == open:
				found = true
				c.reportCycle(l, path[slices.Index(path, n.source):])
			case state[n.source] == fresh:
				visit(n.source)
			}
		}
		path = path[:len(path)-1]
		state[i] = done
	}
	for i := range l.nodes {
		if state[i] == fresh {
			visit(i)
		}
	}
	return found
}

// reportCycle gets the activities against the direction of work, each needing the next.
func (c *checker) reportCycle(l *listed, backwards []int) {
	first := slices.Min(backwards)
	at := slices.Index(backwards, first)
	ring := slices.Concat(backwards[at:], backwards[:at])
	slices.Reverse(ring[1:])
	words, lines := make([]string, 0, len(ring)+1), make([]string, 0, len(ring))
	for _, i := range ring {
		words = append(words, l.ids[i])
		lines = append(lines, fmt.Sprint(l.nodes[i].pos.Line))
	}
	words = append(words, l.ids[first])
	place := l.nodes[first].get("id")
	if needs := l.nodes[first].get("needs"); needs != nil {
		place = needs
	}
	c.ps.add("E202", place, "remove one of the needs; to run something again, use repeat",
		"the activities need each other in a circle: %s (lines %s)", strings.Join(words, " → "), strings.Join(lines, ", "))
}

// buildGraph makes the edges: needs on several ports of one source are one edge.
func (l *listed) buildGraph(activities []*Activity) *Graph {
	g := &Graph{Activities: activities, ByID: map[string]*Activity{}}
	for i, a := range activities {
		a.Index = i
		g.ByID[a.ID] = a
	}
	for i, a := range activities {
		for _, n := range l.needs[i] {
			if n.source >= 0 {
				a.addNeed(n)
			}
		}
		slices.SortFunc(a.In, func(x, y Edge) int { return x.From - y.From })
		for _, edge := range a.In {
			activities[edge.From].Out = append(activities[edge.From].Out, i)
		}
	}
	return g
}

func (a *Activity) addNeed(n need) {
	at := slices.IndexFunc(a.In, func(e Edge) bool { return e.From == n.source })
	if at < 0 {
		a.In = append(a.In, Edge{From: n.source})
		at = len(a.In) - 1
	}
	if n.port == "" {
		a.In[at].Plain = true
		return
	}
	a.In[at].Ports = append(a.In[at].Ports, Port{Name: n.port, Errors: n.errors})
}

// ancestors are, for each activity, the activities that lead to it.
func (g *Graph) ancestors() []indexSet {
	all := make([]indexSet, len(g.Activities))
	for _, i := range inOrder(g) {
		for _, edge := range g.Activities[i].In {
			all[i].addAll(all[edge.From])
			all[i].add(edge.From)
		}
	}
	return all
}
