package execution

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// draw writes a random definition. Not every one is valid; those are not used.
type draw struct {
	*rand.Rand
	b     strings.Builder
	kinds []string // type of each activity so far
}

func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func (d *draw) pick(options ...string) string { return options[d.IntN(len(options))] }

func definitionOf(r *rand.Rand) string {
	d := &draw{Rand: r}
	fmt.Fprintf(&d.b, "  input: {type: object, properties: {yes: {type: boolean, default: true}, no_way: {type: boolean, default: false}}}\n")
	fmt.Fprintf(&d.b, "  limits: {failFast: %t, maxParallel: %d, onFailFast: %s", d.chance(60), 1+d.IntN(4), d.pick("finish", "cancel"))
	if d.chance(20) {
		fmt.Fprintf(&d.b, ", timeout: %ds", 5+d.IntN(60))
	}
	if d.chance(10) {
		d.b.WriteString(", maxPerSecond: 2")
	}
	fmt.Fprintf(&d.b, "}\n  compensation: {runOn: [%s], order: %s, onError: %s, retry: {attempts: 2, strategy: fixed, delay: 1s}}\n",
		d.pick("failure", "failure, cancel", "failure, timeout, cancel", "cancel"), d.pick("reverse", "parallel"), d.pick("continue", "stop"))
	d.b.WriteString("  activities:\n")
	for i := range 1 + d.IntN(9) {
		d.activity(i)
	}
	if d.chance(25) {
		d.b.WriteString("  onError:\n    - {id: hook_a, type: http, inputs: {url: http://x}}\n    - {id: hook_b, type: http, needs: [hook_a], inputs: {url: http://x}}\n")
	}
	if d.chance(25) {
		d.b.WriteString("  onExit:\n    - {id: hook_c, type: http, inputs: {url: \"http://x/${{ execution.status }}\"}}\n")
	}
	return d.b.String()
}

func (d *draw) activity(i int) {
	kind := d.pick("http", "http", "http", "set", "wait", "event", "human", "switch", "for_each", "for_each", "fail", "end")
	if kind == "fail" && d.chance(60) || kind == "end" && d.chance(80) {
		kind = "http"
	}
	fmt.Fprintf(&d.b, "    - id: a%d\n      type: %s\n", i, kind)
	d.needs(i)
	if d.chance(20) {
		fmt.Fprintf(&d.b, "      when: %s\n", d.pick("inputs.yes", "inputs.no_way"))
		if d.chance(40) {
			d.b.WriteString("      onSkip: pass\n")
		}
	}
	if d.chance(15) && kind != "end" && kind != "fail" && kind != "switch" {
		d.b.WriteString("      onFailure: continue\n")
	}
	d.block(kind, i)
	d.kinds = append(d.kinds, kind)
}

func (d *draw) block(kind string, i int) {
	switch kind {
	case "http":
		d.b.WriteString("      inputs: {url: http://x}\n")
		d.leaf("      ")
		if d.chance(10) {
			d.b.WriteString("      repeat: {until: self.body.over, every: 1s, max: 3}\n")
		}
		if d.chance(10) {
			d.b.WriteString("      semaphore: {name: printer, permits: 1}\n")
		}
		if d.chance(10) {
			d.b.WriteString("      totalTimeout: 20s\n")
		}
	case "set":
		d.b.WriteString("      outputs: {v: 1 + 1}\n")
	case "wait":
		fmt.Fprintf(&d.b, "      wait: {timer: {after: %ds}}\n", d.IntN(10))
	case "event":
		fmt.Fprintf(&d.b, "      event: {name: go, correlation: execution.id, count: %d}\n      timeout: %ds\n", 1+d.IntN(2), 1+d.IntN(30))
	case "human":
		fmt.Fprintf(&d.b, "      human: {title: Well?, candidates: {groups: [g]}, due: %ds, remind: [1s]}\n", 2+d.IntN(30))
	case "switch":
		fmt.Fprintf(&d.b, "      switch: {cases: [{name: first, when: inputs.%s}, {name: second, when: inputs.yes}], default: rest}\n", d.pick("yes", "no_way"))
	case "for_each":
		d.loop(i)
	case "fail":
		d.b.WriteString("      fail: {error: own.error, message: made up}\n")
	}
}

func (d *draw) leaf(indent string) {
	if d.chance(40) {
		fmt.Fprintf(&d.b, "%sretry: {attempts: %d, strategy: fixed, delay: 1s}\n", indent, 2+d.IntN(2))
	}
	if d.chance(40) {
		fmt.Fprintf(&d.b, "%scompensate: {type: http, inputs: {url: http://undo}}\n", indent)
	}
	if d.chance(10) {
		fmt.Fprintf(&d.b, "%sonce: true\n", indent)
	}
}

func (d *draw) loop(i int) {
	fmt.Fprintf(&d.b, "      for_each:\n        items: [%s]\n        maxConcurrent: %d\n        onItemFailure: %s\n        tolerate: %d\n",
		strings.TrimSuffix(strings.Repeat("1, ", d.IntN(5)), ", "), 1+d.IntN(3), d.pick("continue", "stop"), d.IntN(2))
	if d.chance(50) {
		d.b.WriteString("        activity:\n          type: http\n          inputs: {url: http://x}\n")
		d.leaf("          ")
		if d.chance(20) {
			d.b.WriteString("          semaphore: {name: printer, permits: 1}\n")
		}
		return
	}
	fmt.Fprintf(&d.b, "        activities:\n          - {id: b%d, type: http, inputs: {url: http://x}}\n", i)
	fmt.Fprintf(&d.b, "          - {id: c%d, type: http, needs: [b%d%s], inputs: {url: http://x}, compensate: {type: http, inputs: {url: http://undo}}}\n", i, i, d.pick("", ".done", ".failure"))
	fmt.Fprintf(&d.b, "          - {id: d%d, type: for_each, needs: [b%d], for_each: {items: [1, 2], activity: {type: http, inputs: {url: http://x}}}}\n", i, i)
}

func (d *draw) needs(i int) {
	var needs []string
	for from := range i {
		if !d.chance(35) {
			continue
		}
		port := d.pick("", "", "", ".done", ".failure")
		switch d.kinds[from] {
		case "switch":
			port = d.pick(".first", ".second", ".rest", ".done")
		case "human":
			port = d.pick("", ".rejected", ".expired", ".done", ".failure")
		case "event":
			port = d.pick("", ".timeout", ".done", ".failure")
		case "end":
			continue
		}
		needs = append(needs, fmt.Sprintf("a%d%s", from, port))
	}
	if len(needs) == 0 {
		return
	}
	fmt.Fprintf(&d.b, "      needs: [%s]\n", strings.Join(needs, ", "))
	if d.chance(40) && len(needs) > 1 {
		fmt.Fprintf(&d.b, "      join: %s\n", d.pick("every", "done", "any", "{n_of_m: 2}", "{n_of_m: 1, cancelRest: true}"))
	}
}
