package worker

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/engine/notify"
	"weftline/engine/store"
)

// Bounds of what one attempt may print; the rest is dropped, and the last line says so.
const (
	logBytes = 64 << 10
	logLines = 2000
	logPause = 250 * time.Millisecond // how long lines wait for company

	ownStream = "system" // what the engine itself adds
)

// logbook stores what one attempt prints, in batches, while it runs. A line that cannot be stored is lost: a log
// never stops an attempt.
type logbook struct {
	pool     *Pool
	key      store.LogKey
	change   notify.Change
	mu       sync.Mutex
	lines    []store.LogLine // not stored yet
	count    int
	size     int
	full     bool
	due      *time.Timer
	storing  sync.Mutex
	abandons context.Context
}

func (p *Pool) logbook(team uuid.UUID, workflow string, execution uuid.UUID, w execution.Work) *logbook {
	activity := w.Activity
	if w.Compensating {
		activity += "/compensate"
	}
	return &logbook{pool: p, abandons: p.alive,
		key:    store.LogKey{Execution: execution, Activity: activity, Item: w.Item, Attempt: w.Attempt},
		change: notify.Change{Team: team, Execution: execution, Workflow: workflow, Log: activity}}
}

// add takes one line; it may be called by many goroutines.
func (b *logbook) add(stream, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.take(stream, line); len(b.lines) > 0 && b.due == nil {
		b.due = time.AfterFunc(logPause, b.flush)
	}
}

// take keeps a line if there is room for it.
func (b *logbook) take(stream, line string) {
	if b.full {
		return
	}
	if b.size+len(line) > logBytes || b.count >= logLines {
		b.full, stream, line = true, ownStream, "further lines are not kept"
	}
	b.count++
	b.size += len(line)
	b.lines = append(b.lines, store.LogLine{N: b.count, At: b.pool.Store.Clock.Now(), Stream: stream, Line: line})
}

// flush stores what has gathered.
func (b *logbook) flush() {
	b.storing.Lock()
	defer b.storing.Unlock()
	b.mu.Lock()
	lines := b.lines
	b.lines = nil
	if b.due != nil {
		b.due.Stop()
		b.due = nil
	}
	b.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	if _, err := b.pool.Store.AppendLog(b.abandons, b.key, lines); err != nil {
		b.pool.Log.Warn("lines of a log are lost", logs.About{Worker: b.pool.name, Execution: b.key.Execution, Activity: b.key.Activity, Event: "LogLost"}.Args("error", err)...)
		return
	}
	b.tell()
}

// tell wakes those who watch the log.
func (b *logbook) tell() {
	changes := []notify.Change{b.change}
	b.pool.Changed(changes)
	b.pool.Hint(notify.Hint{Changes: changes})
}
