package worker

import (
	"context"
	"time"

	"github.com/google/uuid"

	"weftline/engine/queue/order"
)

// wantPause is the least pause between two looks for something more urgent than what fills the pool.
const wantPause = 20 * time.Millisecond

// wanted is a place in a full pool for something that waits.
type wanted struct {
	open  bool
	level int
	asked time.Time
}

// wantPlace makes room in a full pool: if something waits that is more urgent than what is driven, the first
// execution below its level that has ended a step goes back to the queue.
func (p *Pool) wantPlace(ctx context.Context) error {
	p.mu.Lock()
	early := wantPause - time.Since(p.place.asked)
	if early <= 0 {
		p.place.asked = time.Now()
	}
	full := p.serving
	p.mu.Unlock()
	if !full {
		return nil
	}
	if early > 0 {
		time.AfterFunc(early, p.look)
		return nil
	}
	level, any, err := p.Queue.MostUrgent(ctx, p.Store.Clock.Now())
	p.mu.Lock()
	p.place.open, p.place.level = any && err == nil, level
	p.mu.Unlock()
	return err
}

// givesPlace reports whether an execution that could go on makes room for something more urgent.
func (d *driver) givesPlace() bool {
	p := d.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.place.open || d.steps == 0 || order.Level(d.exec.State.Created.Priority, time.Time{}, time.Time{}) >= p.place.level {
		return false
	}
	p.place.open = false
	return true
}

// drivenByTeam counts the executions that are driven here.
func (p *Pool) drivenByTeam() map[uuid.UUID]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := map[uuid.UUID]int{}
	for _, d := range p.drivers {
		count[d.exec.Team]++
	}
	return count
}
