package execution

import (
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// place is where an activity lives: its definition, its run, and the loops around it.
type place struct {
	key
	hook  string
	act   *flow.Activity
	graph *flow.Graph // nil for the single activity of a loop body
	scope *scope
	index int // in scope
	run   *run
	undo  bool   // run and act are those of the compensation
	loop  *place // the loop whose item this is in; nil at the top
	item  int    // index of that item

	fresh  bool // the scope does not exist yet; it begins with the first event of its first activity
	isItem bool // names the item itself, act is that of the loop
}

// finder finds places of one execution. peek also finds the first activity of the next scope to begin.
type finder struct {
	wf   *flow.Workflow
	st   *State
	peek bool
}

func (f finder) find(k key) (place, bool) {
	p, ok := f.plain(k)
	if ok && f.st.Undo.State == undoRunning && p.hook == "" && !p.isItem {
		return p.undoing()
	}
	return p, ok
}

// plain finds the activity itself, also while it is being undone.
func (f finder) plain(k key) (place, bool) {
	if k.Activity == "" {
		return place{}, false
	}
	p := place{key: key{Activity: k.Activity}, graph: f.wf.Graph, scope: &f.st.Main}
	if act := f.wf.Graph.ByID[k.Activity]; act != nil && k.Item == "" { // the common case
		if len(f.st.Main.Runs) == 0 {
			return place{}, false
		}
		p.at(act, act.Index)
		return p, true
	}
	if defines(f.wf.Graph, k.Activity) {
		return f.descend(p, k)
	}
	for _, hook := range []string{hookError, hookExit} {
		if graph := f.hookGraph(hook); graph != nil && defines(graph, k.Activity) {
			p.hook, p.graph = hook, graph
			p.scope, p.fresh = f.openOrPeek(f.st.hookScope(hook), len(graph.Activities), nextHook(f.wf, f.st) == hook)
			if p.scope == nil {
				return place{}, false
			}
			return f.descend(p, k)
		}
	}
	return place{}, false
}

func (f finder) hookGraph(hook string) *flow.Graph {
	if hook == hookError {
		return f.wf.OnError
	}
	return f.wf.OnExit
}

// openOrPeek answers the scope, or a new one that is not part of the state yet if it may begin now.
func (f finder) openOrPeek(open *scope, size int, may bool) (s *scope, fresh bool) {
	if open == nil && f.peek && may {
		return f.st.newLife(size), true
	}
	return open, false
}

// descend walks from a scope down to the activity target names, one loop for each part of its item key
// that is left. p.Item is the key so far.
func (f finder) descend(p place, target key) (place, bool) {
	if len(p.scope.Runs) == 0 {
		return place{}, false
	}
	if act := p.graph.ByID[target.Activity]; act != nil {
		p.Activity = act.ID
		p.at(act, act.Index)
		return f.intoItems(p, target.Item)
	}
	for _, act := range p.graph.Activities {
		if act.ForEach == nil || act.ForEach.Body == nil || !defines(act.ForEach.Body, target.Activity) {
			continue
		}
		p.Activity = act.ID
		p.at(act, act.Index)
		first, rest, _ := strings.Cut(target.Item, "/")
		below, ok := f.enter(p, first)
		if !ok {
			return place{}, false
		}
		return f.descend(below, key{target.Activity, rest})
	}
	return place{}, false
}

// intoItems follows what is left of an item key into single-activity bodies.
func (f finder) intoItems(p place, item string) (place, bool) {
	for item != "" {
		if p.act.ForEach == nil {
			return place{}, false
		}
		first, rest, _ := strings.Cut(item, "/")
		below, ok := f.enter(p, first)
		if !ok {
			return place{}, false
		}
		if p.act.ForEach.Activity == nil {
			below.act, below.run, below.isItem = p.act, p.run, true
			return below, rest == ""
		}
		below.at(p.act.ForEach.Activity, 0)
		p, item = below, rest
	}
	return p, true
}

// enter goes into an item of the loop at p. The place it answers has no activity yet.
func (f finder) enter(p place, itemKey string) (place, bool) {
	l := p.run.Loop
	if l == nil || p.fresh {
		return place{}, false
	}
	i, ok := l.find(itemKey)
	if !ok {
		return place{}, false
	}
	may := l.mayBegin() && l.upcoming() == i
	s, fresh := f.openOrPeek(l.Bodies[i], bodySize(p.act.ForEach), may)
	if s == nil {
		return place{}, false
	}
	if l.Fates[i] == itemPending { // one that begins once more has its scope already
		fresh = f.peek && may
	}
	up := p
	below := place{hook: p.hook, graph: p.act.ForEach.Body, scope: s, loop: &up, item: i, fresh: fresh}
	below.key = key{p.Activity, p.itemKey(i)}
	return below, true
}

func (p *place) at(act *flow.Activity, index int) {
	p.act, p.index, p.run = act, index, &p.scope.Runs[index]
}

// undoing turns the place of an activity into that of its compensation.
func (p place) undoing() (place, bool) {
	if p.act.Compensate == nil || p.run.Undo == nil {
		return place{}, false
	}
	p.undo, p.act, p.run = true, p.act.Compensate, p.run.Undo
	return p, true
}

// sibling is another activity of the same scope.
func (p place) sibling(index int) place {
	act := p.graph.Activities[index]
	p.Activity = act.ID
	p.at(act, index)
	return p
}

// bodyKey names the activity at index in the body of item i of the loop at p.
func (p place) bodyKey(i, index int) key {
	if p.act.ForEach.Activity != nil {
		return key{p.Activity, p.itemKey(i)}
	}
	return key{p.act.ForEach.Body.Activities[index].ID, p.itemKey(i)}
}

// itemKey is the whole key of an item of the loop at p.
func (p place) itemKey(i int) string {
	own := p.run.Loop.key(i)
	if p.Item == "" {
		return own
	}
	return p.Item + "/" + own
}

// defines reports whether a graph or a loop body in it has the activity.
func defines(g *flow.Graph, id string) bool {
	if g.ByID[id] != nil {
		return true
	}
	for _, act := range g.Activities {
		if act.ForEach != nil && act.ForEach.Body != nil && defines(act.ForEach.Body, id) {
			return true
		}
	}
	return false
}

func (l *loop) key(i int) string {
	if l.Keys == nil {
		return strconv.Itoa(i)
	}
	return l.Keys[i]
}

func (l *loop) find(itemKey string) (int, bool) {
	if l.Keys == nil {
		i, err := strconv.Atoi(itemKey)
		return i, err == nil && i >= 0 && i < len(l.Items) && strconv.Itoa(i) == itemKey
	}
	if l.index == nil {
		l.index = make(map[string]int, len(l.Keys))
		for i, k := range l.Keys {
			l.index[k] = i
		}
	}
	i, ok := l.index[itemKey]
	return i, ok
}

// upcoming is the item that begins next, -1 = none is left.
func (l *loop) upcoming() int {
	if len(l.Redo) > 0 {
		return l.Redo[0]
	}
	if l.Next < len(l.Items) {
		return l.Next
	}
	return -1
}

// mayBegin reports whether an item may begin now.
func (l *loop) mayBegin() bool { return !l.Stop && l.Open < l.Width && l.upcoming() >= 0 }

// mustEnd reports whether all items that will ever run are over.
func (l *loop) mustEnd() bool { return l.Open == 0 && (l.Stop || l.upcoming() < 0) }
