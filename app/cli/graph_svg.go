package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"weftline/engine/flow"
)

// Sizes of the drawing, in pixels.
const (
	nodeWidth, nodeHeight = 190, 46
	columnGap, rowGap     = 70, 22
	margin                = 20
)

// svgStyle follows the reader's colour scheme.
const svgStyle = `text{font:13px system-ui,sans-serif;fill:#1a202e}.t{font-size:11px;fill:#5f6879}.n{fill:#fff;stroke:#b5becc}.e{fill:none;stroke:#5f6879}.p{font-size:11px;fill:#4338ca}.b{fill:none;stroke:#b5becc;stroke-dasharray:4 3}` +
	`@media(prefers-color-scheme:dark){text{fill:#e8ebf1}.t{fill:#97a2b3}.n{fill:#1b2130;stroke:#4a5466}.e{stroke:#97a2b3}.p{fill:#a9acff}.b{stroke:#4a5466}}`

// drawing is a graph laid out in columns: an activity stands right of all that it waits for.
type drawing struct {
	out           strings.Builder
	width, height int
}

// writeSVG draws a workflow. The same definition gives the same bytes.
func writeSVG(w io.Writer, workflow *flow.Workflow) error {
	d := &drawing{}
	top := margin
	for _, part := range []struct {
		name  string
		graph *flow.Graph
	}{{"", workflow.Graph}, {"onError", workflow.OnError}, {"onExit", workflow.OnExit}} {
		if part.graph != nil {
			top = d.graph(part.name, part.graph, top)
		}
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img"><title>%s</title><style>%s</style>`+"\n%s</svg>\n",
		d.width+margin, d.height+margin, escapeXML(workflow.Name), svgStyle, d.out.String())
	return err
}

type spot struct{ left, top int }

// graph draws one list of activities and answers where the next may begin.
func (d *drawing) graph(name string, g *flow.Graph, top int) int {
	if name != "" {
		d.text(margin, top+12, "t", name)
		top += 24
	}
	spots := make([]spot, len(g.Activities))
	column, rows, bottom := make([]int, len(g.Activities)), map[int]int{}, top
	for _, activity := range inOrder(g) {
		for _, edge := range activity.In {
			column[activity.Index] = max(column[activity.Index], column[edge.From]+1)
		}
		at := column[activity.Index]
		spots[activity.Index] = spot{margin + at*(nodeWidth+columnGap), top + rows[at]*(nodeHeight+rowGap)}
		rows[at]++
		bottom = max(bottom, spots[activity.Index].top+nodeHeight)
		d.width = max(d.width, spots[activity.Index].left+nodeWidth)
	}
	for _, activity := range g.Activities {
		for _, edge := range activity.In {
			d.edge(spots[edge.From], spots[activity.Index], portNames(edge))
		}
	}
	bottom += rowGap
	for _, activity := range g.Activities {
		d.node(spots[activity.Index], activity)
	}
	for _, activity := range g.Activities {
		if activity.ForEach != nil && activity.ForEach.Body != nil {
			bottom = d.graph("each item of "+activity.ID, activity.ForEach.Body, bottom+rowGap)
		}
	}
	d.height = max(d.height, bottom)
	return bottom + rowGap
}

func portNames(edge flow.Edge) string {
	var names []string
	for _, port := range edge.Ports {
		names = append(names, port.Name)
	}
	return strings.Join(names, ", ")
}

func (d *drawing) node(at spot, activity *flow.Activity) {
	class := "n"
	if activity.ForEach != nil {
		fmt.Fprintf(&d.out, `<rect class="b" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", at.left+4, at.top+4, nodeWidth, nodeHeight)
	}
	fmt.Fprintf(&d.out, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="8"><title>%s</title></rect>`+"\n",
		class, at.left, at.top, nodeWidth, nodeHeight, escapeXML(activity.Name))
	d.text(at.left+12, at.top+20, "", clipped(activity.ID, 24))
	d.text(at.left+12, at.top+36, "t", activity.Type)
}

func (d *drawing) edge(from, to spot, ports string) {
	x1, y1, x2, y2 := from.left+nodeWidth, from.top+nodeHeight/2, to.left, to.top+nodeHeight/2
	bend := columnGap / 2
	fmt.Fprintf(&d.out, `<path class="e" d="M%d %d C%d %d %d %d %d %d"/><path class="e" d="M%d %d l-6 -4 M%[7]d %[8]d l-6 4"/>`+"\n",
		x1, y1, x1+bend, y1, x2-bend, y2, x2, y2, x2, y2)
	if ports != "" {
		d.text(x2-columnGap+6, y2-6, "p", clipped(ports, 14))
	}
}

func (d *drawing) text(x, y int, class, words string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&d.out, `<text%s x="%d" y="%d">%s</text>`+"\n", class, x, y, escapeXML(words))
}

func clipped(words string, most int) string {
	if letters := []rune(words); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return words
}

func escapeXML(words string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(words)) // into memory
	return out.String()
}
