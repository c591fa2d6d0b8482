package worker

import (
	"context"

	"github.com/google/uuid"

	"weftline/engine/queue"
)

// attendAll applies what needs no worker to executions that no living worker serves, see queue.Attend.
func (p *Pool) attendAll(context.Context) error {
	if p.suspended() {
		return nil
	}
	claims, err := p.Queue.Attend(p.alive)
	p.attend(claims)
	return err
}

// Attend applies what needs no worker to an execution that nobody owns, be it that nobody serves it or that it is
// far behind in a line. It does nothing where the pool does not run or may not begin anything.
func (p *Pool) Attend(ctx context.Context, id uuid.UUID) error {
	p.mu.Lock()
	able := p.serving && !p.suspended()
	if able {
		p.bringing.Add(1)
	}
	p.mu.Unlock()
	if !able {
		return nil
	}
	defer p.bringing.Done()
	claims, err := p.Queue.AttendTo(context.WithoutCancel(ctx), id)
	p.attend(claims)
	return err
}

func (p *Pool) attend(claims []queue.Claim) {
	for len(claims) > 0 {
		n := min(claimBatch, len(claims))
		p.adopt(p.quarantine(claims[:n:n]))
		claims = claims[n:]
	}
}
