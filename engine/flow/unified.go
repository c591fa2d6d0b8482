package flow

import (
	"fmt"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// around is how many equal lines stand around a change.
const around = 3

// diffLine is one line of a diff; sign is ' ', '-' or '+'.
type diffLine struct {
	sign byte
	text string
}

func diffLines(diffs []diffmatchpatch.Diff) []diffLine {
	var all []diffLine
	for _, d := range diffs {
		sign := map[diffmatchpatch.Operation]byte{diffmatchpatch.DiffEqual: ' ', diffmatchpatch.DiffDelete: '-', diffmatchpatch.DiffInsert: '+'}[d.Type]
		for _, line := range strings.SplitAfter(d.Text, "\n") {
			if line != "" {
				all = append(all, diffLine{sign, line})
			}
		}
	}
	return all
}

func unified(diffs []diffmatchpatch.Diff, fromName, toName string) string {
	lines := diffLines(diffs)
	var out strings.Builder
	from, to := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			from, to, i = from+1, to+1, i+1
			continue
		}
		start := max(0, i-around)
		for start < i && lines[start].sign != ' ' {
			start++
		}
		end := hunkEnd(lines, i)
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
		}
		before := i - start
		from, to = writeHunk(&out, lines[start:end], from-before, to-before)
		i = end
	}
	return out.String()
}

// hunkEnd is the end of a hunk: changes closer than twice the surroundings share one.
func hunkEnd(lines []diffLine, i int) int {
	last := i
	for j := i; j < len(lines) && j-last <= 2*around; j++ {
		if lines[j].sign != ' ' {
			last = j
		}
	}
	return min(last+1+around, len(lines))
}

func writeHunk(out *strings.Builder, lines []diffLine, from, to int) (nextFrom, nextTo int) {
	removed, added := 0, 0
	for _, l := range lines {
		if l.sign != '+' {
			removed++
		}
		if l.sign != '-' {
			added++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(from, removed), span(to, added))
	for _, l := range lines {
		out.WriteByte(l.sign)
		out.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return from + removed, to + added
}

func span(from, count int) string {
	if count == 0 {
		from--
	}
	return fmt.Sprintf("%d,%d", from, count)
}
