// Package notify carries hints between replicas: something became ready, something changed. A hint is
// never the truth: it may be lost or come twice, and whoever gets it looks at the database. It must not
// know executions beyond their ids.
//
// The first hint after a silence goes at once, those that follow it gather for some milliseconds. They are sent on a
// connection of their own: NOTIFY inside a business transaction holds a database-wide lock over its commit and costs a
// factor of six.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	channel = "weftline"
	gather  = 15 * time.Millisecond // between two notifications
	perNote = 40                    // changes in one notification, which holds at most 8,000 bytes
	silence = 10 * time.Second      // without a word for so long the connection is asked whether it lives
)

// Hint says that executions may be ready to be claimed, that owned ones were woken, and what changed.
type Hint struct {
	From    uuid.UUID   `json:"from"`
	Ready   bool        `json:"ready,omitempty"`
	Woken   []uuid.UUID `json:"woken,omitempty"`
	Changes []Change    `json:"changes,omitempty"`
}

// Change is something that watchers want to know.
type Change struct {
	Team      uuid.UUID `json:"team"`
	Execution uuid.UUID `json:"execution,omitzero"`
	Workflow  string    `json:"workflow,omitempty"`
	LastSeq   int64     `json:"lastSeq,omitempty"`
	Status    string    `json:"status,omitempty"`
	Tasks     bool      `json:"tasks,omitempty"`
	Drafts    bool      `json:"drafts,omitempty"`
	Work      bool      `json:"work,omitempty"` // attempts were offered
	Access    bool      `json:"access,omitempty"`
	Log       string    `json:"log,omitempty"` // an attempt of this activity printed something
}

// Bus sends the hints of one process to the others and brings theirs.
type Bus struct {
	pool    *pgxpool.Pool
	direct  *pgx.ConnConfig // nil = nobody listens
	me      uuid.UUID
	log     *slog.Logger
	receive func(Hint)
	session func(ctx context.Context, conn *pgx.Conn) error

	peers atomic.Bool
	mu    sync.Mutex
	next  Hint
	dirty chan struct{}
}

// New makes a bus that sends over the pool and listens on a connection of its own by direct, nil for not at all. receive is called with what other processes send, one call at a time; session is called
// with each new listening connection.
func New(pool *pgxpool.Pool, direct *pgx.ConnConfig, me uuid.UUID, log *slog.Logger, receive func(Hint), session func(context.Context, *pgx.Conn) error) *Bus {
	return &Bus{pool: pool, direct: direct, me: me, log: log, receive: receive, session: session, dirty: make(chan struct{}, 1)}
}

// SetPeers says whether any other process is there to be told.
func (b *Bus) SetPeers(any bool) { b.peers.Store(any) }

// Send hands a hint to the other processes soon.
func (b *Bus) Send(hint Hint) {
	if !b.peers.Load() {
		return
	}
	b.mu.Lock()
	b.next.Ready = b.next.Ready || hint.Ready
	b.next.Woken = append(b.next.Woken, hint.Woken...)
	b.next.Changes = append(b.next.Changes, hint.Changes...)
	b.mu.Unlock()
	select {
	case b.dirty <- struct{}{}:
	default:
	}
}

// Run listens and sends until ctx ends, through any number of lost connections.
func (b *Bus) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { b.sendAll(ctx) })
	if b.direct != nil {
		both.Go(func() { b.listenAlways(ctx) })
	}
	both.Wait()
}

func (b *Bus) sendAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.dirty:
		}
		for _, note := range b.take() {
			if err := b.send(ctx, note); err != nil && ctx.Err() == nil {
				b.log.Warn("hints for other replicas were lost; they will find out by polling", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
	}
}

// take cuts what was gathered into notifications that are small enough.
func (b *Bus) take() []Hint {
	b.mu.Lock()
	all := b.next
	b.next = Hint{}
	b.mu.Unlock()
	first := Hint{From: b.me, Ready: all.Ready}
	notes := []Hint{first}
	for len(all.Woken) > 0 || len(all.Changes) > 0 {
		last := &notes[len(notes)-1]
		w, c := min(perNote, len(all.Woken)), min(perNote, len(all.Changes))
		last.Woken, all.Woken = all.Woken[:w], all.Woken[w:]
		last.Changes, all.Changes = all.Changes[:c], all.Changes[c:]
		if len(all.Woken) > 0 || len(all.Changes) > 0 {
			notes = append(notes, Hint{From: b.me})
		}
	}
	return notes
}

// send notifies in a transaction of its own that does not wait for the disk.
func (b *Bus) send(ctx context.Context, note Hint) error {
	payload, err := json.Marshal(note)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	batch.Queue(`select set_config('synchronous_commit', 'off', true)`)
	batch.Queue(`select pg_notify($1, $2)`, channel, string(payload))
	return b.pool.SendBatch(ctx, &batch).Close()
}

func (b *Bus) listenAlways(ctx context.Context) {
	pause := 50 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		err := b.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > time.Minute {
			pause = 50 * time.Millisecond
		}
		b.log.Warn("the connection that listens for other replicas was lost; polling goes on", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// listen holds one connection outside the pool until it breaks.
func (b *Bus) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, b.direct.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := b.session(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	for {
		note, err := nextNote(ctx, conn)
		if err != nil {
			return err
		}
		if note == nil {
			continue
		}
		var hint Hint
		if err := json.Unmarshal([]byte(note.Payload), &hint); err == nil && hint.From != b.me {
			b.receive(hint)
		}
	}
}

// nextNote waits for a notification; nil after a silence in which the connection proved to be alive.
func nextNote(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	quiet, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	note, err := conn.WaitForNotification(quiet)
	if err == nil || ctx.Err() != nil || quiet.Err() == nil {
		return note, err
	}
	alive, stop := context.WithTimeout(ctx, silence)
	defer stop()
	return nil, conn.Ping(alive)
}
