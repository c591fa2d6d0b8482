package activity

import (
	"bytes"
	"strings"
)

// printed gathers what a script writes: the last 64 KiB of each stream, and each line for who watches. Lines
// of one stream come from one goroutine; log may be called by both at once.
type printed struct {
	stdout, stderr tail
	log            func(stream, line string) // nil = nobody watches
	clean          func(text string) string  // before a text is cut: a part of a secret would not be found; nil = there are none
}

func newPrinted(call Call) *printed { return &printed{log: call.Log, clean: call.clean} }

// line takes one line of a stream.
func (p *printed) line(stream, line string) {
	to := &p.stdout
	if stream == "stderr" {
		to = &p.stderr
	}
	if p.clean != nil {
		line = p.clean(line)
	}
	to.add(line + "\n")
	if p.log != nil {
		p.log(stream, strings.ToValidUTF8(line, "\uFFFD"))
	}
}

// result is the outcome of a script that succeeded.
func (p *printed) result(output any) Outcome {
	value := p.detail(0)
	value["output"], value["files"] = output, map[string]any{}
	return Outcome{Value: value}
}

// detail says how a script ended; code is int or nil.
func (p *printed) detail(code any) map[string]any {
	if number, ok := code.(int); ok {
		code = int64(number)
	}
	return map[string]any{"exitCode": code, "stdout": p.stdout.String(), "stderr": p.stderr.String()}
}

// tail keeps the end of a text.
type tail struct{ kept []byte }

func (t *tail) add(text string) {
	t.kept = append(t.kept, text...)
	if len(t.kept) > 2*scriptTail {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-scriptTail:]...)
	}
}

func (t *tail) String() string {
	kept := t.kept
	if len(kept) > scriptTail {
		kept = kept[len(kept)-scriptTail:]
	}
	return strings.ToValidUTF8(string(kept), "\uFFFD")
}

// lineWriter cuts a stream into lines; one that never ends is cut after maxConsoleLine bytes.
type lineWriter struct {
	open []byte
	say  func(line string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.open = append(w.open, p...)
	for {
		end := bytes.IndexByte(w.open, '\n')
		switch {
		case end >= 0:
			w.say(string(w.open[:end]))
			w.open = w.open[end+1:]
		case len(w.open) >= maxConsoleLine:
			w.say(string(w.open[:maxConsoleLine]))
			w.open = w.open[maxConsoleLine:]
		default:
			return len(p), nil
		}
	}
}

// flush says what stands after the last line's end.
func (w *lineWriter) flush() {
	if len(w.open) > 0 {
		w.say(string(w.open))
		w.open = nil
	}
}
