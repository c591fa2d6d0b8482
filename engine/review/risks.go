package review

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"weftline/engine/flow"
)

// Risk is something about a change that a reviewer should not overlook.
type Risk struct {
	Code     string `json:"code"`
	Activity string `json:"activity,omitempty"`
	Message  string `json:"message"`
}

// Definition is one side of a change.
type Definition struct {
	Activities           []*flow.Activity  // all of them, bodies of loops too
	Secrets, Connections map[string]string // by name, each with a place where it is used
	Plain                any               // the definition as plain values
}

// Risks finds what a change risks. knownType reports whether the team runs activities of a type already.
func Risks(from, to Definition, changes []flow.Change, knownType func(string) bool) []Risk {
	risks := []Risk{}
	add := func(code, activity, format string, args ...any) {
		risks = append(risks, Risk{code, activity, fmt.Sprintf(format, args...)})
	}
	before, after := look(from), look(to)
	for _, name := range added(before.secrets, after.secrets) {
		add("secret_added", after.secrets[name], "the secret %s is used for the first time here", name)
	}
	for _, name := range added(before.connections, after.connections) {
		add("connection_added", after.connections[name], "the connection %s is used for the first time here", name)
	}
	for _, host := range added(before.hosts, after.hosts) {
		add("host_added", "", "%s is a new outside host", host)
	}
	for _, kind := range added(before.types, after.types) {
		if !knownType(kind) {
			add("type_new", after.types[kind], "the team has run no activity of type %s so far", kind)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before.approvals)) {
		old, now := before.approvals[id], after.approvals[id]
		if now == nil {
			add("approval_removed", id, "nobody is asked at %s any more", id)
			continue
		}
		for _, how := range weakened(old, now) {
			add("approval_weakened", id, "%s: %s", id, how)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(after.approvals)) {
		if outcome := after.approvals[id].OnDue; decides(outcome) && (before.approvals[id] == nil || before.approvals[id].OnDue != outcome) {
			add("timeout_decides", id, "%s: when nobody answers in time, it counts as %s", id, outcome)
		}
	}
	for _, change := range changes {
		if change.What == "schedule" {
			add("schedule_changed", "", "when it runs by itself changes")
		}
		if change.What == "trigger" {
			add("trigger_changed", "", "what starts it from outside changes: %s", change.ID)
		}
	}
	return risks
}

// decides: an outcome of silence that says more than that nobody answered.
func decides(outcome string) bool {
	return outcome != "" && outcome != "expired" && outcome != "rejected"
}

// weakened lists in which ways a question to people asks less than before.
func weakened(old, now *flow.Human) []string {
	var ways []string
	if now.Quorum < old.Quorum {
		ways = append(ways, fmt.Sprintf("%d instead of %d people must agree", now.Quorum, old.Quorum))
	}
	if old.NotActor && !now.NotActor {
		ways = append(ways, "whoever started the execution may decide it")
	}
	for _, other := range old.NotSameAs {
		if !slices.Contains(now.NotSameAs, other) {
			ways = append(ways, "whoever decided "+other+" may decide it too")
		}
	}
	return ways
}

// sight is what matters of one side, each with an activity where it stands.
type sight struct {
	secrets, connections, hosts, types map[string]string
	approvals                          map[string]*flow.Human
}

func look(side Definition) sight {
	s := sight{side.Secrets, side.Connections, map[string]string{}, map[string]string{}, map[string]*flow.Human{}}
	for _, step := range side.Activities {
		s.types[step.Type] = step.ID
		if step.Human != nil {
			s.approvals[step.ID] = step.Human
		}
	}
	hostsIn(side.Plain, s.hosts)
	return s
}

func added(before, after map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(after)), func(name string) bool { _, known := before[name]; return known })
}

// hostsIn collects the hosts of every address that a value begins with.
func hostsIn(value any, hosts map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for _, each := range v {
			hostsIn(each, hosts)
		}
	case []any:
		for _, each := range v {
			hostsIn(each, hosts)
		}
	case string:
		if !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
			return
		}
		address, _, _ := strings.Cut(v, "${{")
		if parsed, err := url.Parse(address); err == nil && parsed.Hostname() != "" {
			hosts[parsed.Host] = ""
		}
	}
}
