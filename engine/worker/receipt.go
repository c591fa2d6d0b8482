package worker

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// Receipt waits until a message was applied, so that a caller reads its own write. It is a courtesy: the
// message is durable without it.
type Receipt struct {
	pool      *Pool
	execution uuid.UUID
	applied   chan []int64
}

// Expect opens a receipt; ask for it before the message is delivered.
func (p *Pool) Expect(execution uuid.UUID) *Receipt {
	r := &Receipt{pool: p, execution: execution, applied: make(chan []int64, 16)}
	p.mu.Lock()
	p.receipts[execution] = append(p.receipts[execution], r)
	p.mu.Unlock()
	return r
}

// Wait returns when the message was applied by this process, or when ctx ends: then it is false.
func (r *Receipt) Wait(ctx context.Context, message int64) bool {
	defer r.Close()
	for {
		select {
		case ids := <-r.applied:
			if slices.Contains(ids, message) {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// Settle wakes an execution that was sent a message and returns when its inbox was applied, or when ctx
// ends.
func (p *Pool) Settle(ctx context.Context, execution uuid.UUID) {
	r := p.Expect(execution)
	defer r.Close()
	p.Wake(execution)
	if unread, err := p.Store.HasUnread(ctx, execution); err != nil || !unread {
		return
	}
	select {
	case <-r.applied:
	case <-ctx.Done():
	}
}

// Close ends the receipt.
func (r *Receipt) Close() {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.receipts[r.execution] = slices.DeleteFunc(p.receipts[r.execution], func(other *Receipt) bool { return other == r })
	if len(p.receipts[r.execution]) == 0 {
		delete(p.receipts, r.execution)
	}
}

// applied tells those who wait for these messages.
func (p *Pool) applied(execution uuid.UUID, messages []int64) {
	if len(messages) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.receipts[execution] {
		select {
		case r.applied <- messages:
		default: // it has long given up
		}
	}
}
