package activity

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

const (
	maxIdleSandboxes = 4
	sandboxSlack     = 1 << 20  // bytes that a report may have beside the output
	maxSandboxNoise  = 16 << 10 // bytes of standard error kept for a diagnosis
)

// sandboxes keeps processes that are started and wait for a script. A process serves one team only, so that
// nothing that a script might leave behind meets the data of another team; an unused one is kept for whoever
// comes next.
type sandboxes struct {
	command []string // what starts a process that calls ServeSandbox

	mu     sync.Mutex
	idle   []*sandbox
	closed bool
}

// sandbox is one process. It is used by one attempt at a time.
type sandbox struct {
	team  string // "" = not used yet
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	noise *headWriter
}

// start runs a process with no environment and nothing inherited but its pipes.
func (s *sandboxes) start() (*sandbox, error) {
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Dir = "/"
	noise := &headWriter{most: maxSandboxNoise}
	cmd.Stderr = noise
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &sandbox{cmd: cmd, in: in, out: bufio.NewReader(out), noise: noise}, nil
}

// warm has a process ready for the next team that comes.
func (s *sandboxes) warm() {
	s.mu.Lock()
	ready := s.closed
	for _, box := range s.idle {
		ready = ready || box.team == ""
	}
	s.mu.Unlock()
	if ready {
		return
	}
	if box, err := s.start(); err == nil { // a fault shows when one is needed
		s.give(box)
	}
}

// take answers a process of the team's own, else an unused one.
func (s *sandboxes) take(team string) (*sandbox, error) {
	s.mu.Lock()
	at := -1
	for i, box := range s.idle {
		if box.team == team || box.team == "" && at < 0 {
			at = i
		}
	}
	if at < 0 {
		s.mu.Unlock()
		box, err := s.start()
		if err != nil {
			return nil, err
		}
		box.team = team
		return box, nil
	}
	box := s.idle[at]
	s.idle = append(s.idle[:at], s.idle[at+1:]...)
	s.mu.Unlock()
	box.team = team
	return box, nil
}

// give puts a process back; the one that has been idle longest makes room.
func (s *sandboxes) give(box *sandbox) {
	s.mu.Lock()
	s.idle = append(s.idle, box)
	var surplus []*sandbox
	if s.closed {
		surplus, s.idle = s.idle, nil
	} else if len(s.idle) > maxIdleSandboxes {
		surplus, s.idle = s.idle[:1:1], s.idle[1:]
	}
	s.mu.Unlock()
	for _, box := range surplus {
		box.kill()
	}
}

func (s *sandboxes) close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	for _, box := range idle {
		box.kill()
	}
}

// run gives one order to a process and hands out lines until the end. A process that fails in any way is
// killed, never used again.
func (s *sandboxes) run(ctx context.Context, team string, order sandboxOrder, say func(stream, line string)) (sandboxReport, error) {
	box, err := s.take(team)
	if err != nil {
		return sandboxReport{}, fmt.Errorf("start a sandbox: %w", err)
	}
	go s.warm()
	stop := context.AfterFunc(ctx, func() { _ = box.cmd.Process.Kill() })
	end, err := box.run(order, say)
	if killed := !stop(); killed || err != nil {
		state := box.kill()
		if ctx.Err() != nil {
			return sandboxReport{}, ctx.Err()
		}
		return box.diagnose(order, err, state), nil
	}
	if end.Fault != nil && strings.HasPrefix(end.Fault.Type, "limit.") {
		box.kill() // it is ending by itself
		return end, nil
	}
	s.give(box)
	return end, nil
}

func (b *sandbox) run(order sandboxOrder, say func(stream, line string)) (sandboxReport, error) {
	if err := writeFrame(b.in, order); err != nil {
		return sandboxReport{}, err
	}
	for {
		var report sandboxReport
		if err := readFrame(b.out, order.MaxOutput+sandboxSlack, &report); err != nil {
			return sandboxReport{}, err
		}
		if report.isEnd() {
			return report, nil
		}
		say(report.Stream, report.Line)
	}
}

// kill ends the process and answers how it ended.
func (b *sandbox) kill() string {
	_ = b.cmd.Process.Kill()
	_ = b.in.Close()
	if err := b.cmd.Wait(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// diagnose says what became of a process that ended without a report: one that asked for too much at once is
// ended by its own runtime.
func (b *sandbox) diagnose(order sandboxOrder, cause error, state string) sandboxReport {
	noise := b.noise.String()
	if containsAny(noise, "out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread") {
		return sandboxReport{Fault: faultMemory(order.Memory)}
	}
	if containsAny(noise, "stack overflow", "stack exceeds") {
		return faulty("limit.memory", "the script nests values or calls too deeply")
	}
	if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) {
		first, _, _ := strings.Cut(noise, "\n")
		return faulty("script.exit", "the sandbox ended in the middle of the script: %s; %s", state, first)
	}
	return faulty("script.exit", "the sandbox failed: %s", cause)
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// headWriter keeps the beginning of what is written to it.
type headWriter struct {
	mu   sync.Mutex
	head []byte
	most int
}

func (w *headWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head = append(w.head, p[:min(len(p), w.most-len(w.head))]...)
	return len(p), nil
}

func (w *headWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.head)
}
