package execution

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// Texts that did not come from an expression (an answer of another system, the message of an error) are
// searched for hidden values by what they are.

const (
	shortestNeedle = 3 // characters; anything shorter would mask at random
	shortestCore   = 6 // characters of a part of base64
	shortestLine   = 8 // characters of a line of a value with several, such as a key in PEM
)

// Scrubber replaces hidden values in texts, however they are written: as they are, in base64, hex, as part of
// a URL, of JSON or of HTML.
type Scrubber struct{ replacer *strings.Replacer }

// NewScrubber makes one; nil when there is nothing to hide.
func NewScrubber(hidden []string) *Scrubber {
	var forms []string
	for _, text := range hidden {
		if text = strings.TrimSpace(text); len(text) >= shortestNeedle {
			forms = append(forms, spellings(text)...)
		}
		forms = append(forms, linesOf(text)...)
	}
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // one may hold another
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, Mask)
	}
	return &Scrubber{strings.NewReplacer(pairs...)}
}

// linesOf are the lines of a value with several: a log shows them one by one.
func linesOf(text string) (lines []string) {
	if !strings.Contains(text, "\n") {
		return nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= shortestLine {
			lines = append(lines, line)
		}
	}
	return lines
}

// spellings are the ways in which a text may turn up in another.
func spellings(text string) []string {
	forms := []string{text, url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text),
		hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text)))}
	for _, escaped := range escapes(text) {
		forms = append(append(forms, escaped), escapes(escaped)...) // JSON in JSON
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(text)))
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if core := base64Core(encoding, text, shift); len(core) >= shortestCore {
				forms = append(forms, core)
			}
		}
	}
	return forms
}

// escapes are a text as JSON has it, with and without an escape for what means something in HTML.
func escapes(text string) []string {
	inJSON, _ := json.Marshal(text) // a text cannot fail
	return []string{strings.Trim(string(inJSON), `"`), strings.Trim(strconv.Quote(text), `"`)}
}

// base64Core is the part of an encoding that does not depend on what stands around the text: shift bytes
// before it, anything after it.
func base64Core(encoding *base64.Encoding, text string, shift int) string {
	const bits = 6 // of a character
	encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + text))
	first := (shift*8 + bits - 1) / bits
	last := (shift + len(text)) * 8 / bits
	return encoded[min(first, last):last]
}

// Text is a text without hidden values.
func (s *Scrubber) Text(text string) string {
	if s == nil {
		return text
	}
	return s.replacer.Replace(text)
}

// Value is a JSON value without hidden values, also not in the names of its fields; the value itself stays.
func (s *Scrubber) Value(value any) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case string:
		return s.Text(v)
	case int64, float64:
		if number := fmt.Sprint(v); len(number) >= shortestNeedle && s.Text(number) == Mask {
			return Mask
		}
	case []any:
		clean := make([]any, len(v))
		for i := range v {
			clean[i] = s.Value(v[i])
		}
		return clean
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, field := range v {
			clean[s.Text(name)] = s.Value(field)
		}
		return clean
	}
	return value
}

// Error is a failure without hidden values.
func (s *Scrubber) Error(e *Error) *Error {
	if s == nil || e == nil {
		return e
	}
	clean := *e
	clean.Message, clean.Detail = s.Text(e.Message), s.Value(e.Detail)
	return &clean
}

// scrubber knows all hidden values of an execution as it is now; nil when there are none.
func (d *decider) scrubber() *Scrubber {
	if !d.st.hides(d.wf) {
		return nil
	}
	return NewScrubber(Hidden(d.wf, d.st))
}

// Hidden lists the values of an execution that must not be shown, as texts.
func Hidden(wf *flow.Workflow, st *State) []string {
	var n needles
	n.gather(any(st.Created.Input), any(maskInput(wf, st.Created.Input, st.Created.Hidden)))
	n.gather(any(st.Variables), any(st.ShownVariables))
	for _, s := range st.Kept {
		n.gather(s.Payload, s.Shown)
	}
	if len(st.Main.Runs) > 0 {
		eachRun(wf, st, func(p place) {
			n.gather(p.run.Output, p.run.Shown)
			if l := p.run.Loop; l != nil {
				n.gather(any(l.Items), any(l.ShownItems))
				for i, shown := range l.ShownResults {
					n.gather(l.Results[i], shown)
				}
			}
			if w := p.run.Wait; w != nil {
				for _, s := range w.Heard {
					n.gather(s.Payload, s.Shown)
				}
				for _, v := range w.Votes {
					n.gather(v.Form, v.Shown)
				}
			}
		})
	}
	return n.texts
}

// needles are hidden values found by comparing values with their twins.
type needles struct{ texts []string }

func (n *needles) gather(value, shown any) {
	switch s := shown.(type) {
	case nil:
		return
	case map[string]any:
		v, ok := value.(map[string]any)
		if s == nil || !ok {
			return
		}
		for name := range v {
			n.gather(v[name], s[name])
		}
	case []any:
		v, ok := value.([]any)
		if s == nil || !ok || len(v) != len(s) {
			return
		}
		for i := range v {
			n.gather(v[i], s[i])
		}
	case string:
		if s == Mask {
			n.leaves(value)
		}
	}
}

func (n *needles) leaves(value any) {
	switch v := value.(type) {
	case string:
		n.texts = append(n.texts, v)
	case int64, float64:
		n.texts = append(n.texts, fmt.Sprint(v))
	case []any:
		for i := range v {
			n.leaves(v[i])
		}
	case map[string]any:
		for name := range v {
			n.leaves(v[name])
		}
	}
}
