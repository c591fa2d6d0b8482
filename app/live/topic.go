package live

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"weftline/engine"
	"weftline/engine/instants"
)

// topic is what sockets watch. Many sockets share one topic, and one read of the store serves them all.
type topic interface {
	// touch notes that something may have changed; it returns at once and the reading happens elsewhere.
	touch(change engine.Change)
	// head is the sequence number that the topic has reached.
	head() int64
	// next answers the frames that bring a subscription closer to the head, none when it is there. It reads
	// at the time of sending, so a slow socket gets merged batches instead of a queue.
	next(ctx context.Context, sub *subscription) ([]any, error)
	join(c *conn)
	leave(c *conn) (empty bool)
	close()
}

// audience is who is told when a topic moved.
type audience struct {
	mu    sync.Mutex
	conns map[*conn]int // how many subscriptions each has
}

func (a *audience) join(c *conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns == nil {
		a.conns = map[*conn]int{}
	}
	a.conns[c]++
}

func (a *audience) leave(c *conn) (empty bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns[c]--; a.conns[c] <= 0 {
		delete(a.conns, c)
	}
	return len(a.conns) == 0
}

func (a *audience) tell() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.conns {
		c.poke()
	}
}

// refresher runs one read at a time, and once more when it was asked again meanwhile: any number of hints
// cost at most two reads, and never fewer than one after the last hint.
type refresher struct {
	mu      sync.Mutex
	running bool
	again   bool
	closed  bool
	gap     time.Duration // least time between two reads
	read    func(context.Context)
}

const readTime = 10 * time.Second

func (r *refresher) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running || r.closed {
		r.again = true
		return
	}
	r.running = true
	go r.run()
}

func (r *refresher) run() {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		r.read(ctx)
		cancel()
		time.Sleep(r.gap)
		r.mu.Lock()
		if !r.again || r.closed {
			r.running = false
			r.mu.Unlock()
			return
		}
		r.again = false
		r.mu.Unlock()
	}
}

func (r *refresher) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// stateTopic shows a state that is read as a whole and sent as a whole when it has changed.
type stateTopic struct {
	audience
	refresher
	load     func(context.Context) (any, error)
	relevant func(engine.Change) bool
	stop     chan struct{}

	state sync.Mutex
	seq   int64
	body  json.RawMessage
	fault error
}

// newStateTopic reads at each relevant change, at most every gap, and every poll (0 = never) beside.
func newStateTopic(load func(context.Context) (any, error), relevant func(engine.Change) bool, gap, poll time.Duration) *stateTopic {
	t := &stateTopic{load: load, relevant: relevant, stop: make(chan struct{})}
	t.gap, t.read = gap, t.reload
	if poll > 0 {
		go t.poll(poll)
	}
	return t
}

func (t *stateTopic) poll(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.ask()
		case <-t.stop:
			return
		}
	}
}

func (t *stateTopic) reload(ctx context.Context) {
	value, err := t.load(ctx)
	var body json.RawMessage
	if err == nil {
		body, err = instants.JSON(value)
	}
	t.state.Lock()
	changed := err != nil || string(body) != string(t.body)
	t.fault = err
	if err == nil && changed {
		t.seq++
		t.body = body
	}
	t.state.Unlock()
	if changed {
		t.tell()
	}
}

func (t *stateTopic) touch(change engine.Change) {
	if t.relevant(change) {
		t.ask()
	}
}

func (t *stateTopic) head() int64 {
	t.state.Lock()
	defer t.state.Unlock()
	return t.seq
}

func (t *stateTopic) next(_ context.Context, sub *subscription) ([]any, error) {
	t.state.Lock()
	defer t.state.Unlock()
	if t.seq == 0 {
		return nil, t.fault // the first read is still under way, or failed
	}
	if sub.sent == t.seq {
		return nil, nil
	}
	sub.sent = t.seq
	return []any{snapFrame{Type: "snap", SID: sub.sid, Seq: t.seq, State: t.body}}, nil
}

func (t *stateTopic) close() {
	t.refresher.close()
	close(t.stop)
}
