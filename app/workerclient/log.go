package workerclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	logBytes = 64 << 10    // of an attempt; the server keeps no more
	logLines = 2000        // likewise
	logPause = time.Second // how long lines wait for company
)

// attemptLog gathers what a handler says until it is sent.
type attemptLog struct {
	mu          sync.Mutex
	lines       []string
	size, count int
}

// Logf adds to the log of the attempt, which people see while the handler runs. The server keeps 64 KiB of it
// and shows no secret that it put into the input.
func (t Task) Logf(format string, args ...any) {
	if t.log != nil {
		t.log.add(fmt.Sprintf(format, args...))
	}
}

// add takes lines; the first one that is too much is still sent, so that the server says so.
func (l *attemptLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if l.size > logBytes || l.count > logLines {
			return
		}
		line = line[:min(len(line), logBytes+1)]
		l.size += len(line)
		l.count++
		l.lines = append(l.lines, line)
	}
}

func (l *attemptLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// sendLog sends what a handler says until ctx ends. What could not be sent is sent again before what follows.
func (c *Client) sendLog(ctx context.Context, lease string, log *attemptLog) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(logPause):
		}
		lines := log.take()
		if len(lines) == 0 {
			continue
		}
		// not cut off by ctx: an answer that is not read is no reason to send lines twice
		err := c.call(context.WithoutCancel(ctx), answerBound, "/work/"+lease+"/heartbeat", map[string]any{"log": lines}, nil)
		var refusal *Refusal
		if err == nil || errors.As(err, &refusal) && !refusal.temporary() {
			continue
		}
		log.mu.Lock()
		log.lines = append(lines, log.lines...)
		log.mu.Unlock()
	}
}
