package queue

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/queue/order"
)

// fleet is a simulated one on a virtual clock: the rules of the queue at a size that no machine of a test has.
type fleet struct {
	t       *testing.T
	dice    *rand.Rand
	model   *model
	now     time.Time
	ids     []uuid.UUID
	driven  []map[uuid.UUID]int // by worker and team
	killed  map[uuid.UUID]bool
	endedBy []int32 // by execution: which worker ended it, counted from 1
	claimed int
	waited  map[uuid.UUID]time.Duration // by team, the longest
}

const (
	fleetWorkers, fleetSlots = 10_000, 8
	fleetOpen, fleetKilled   = 1_000_000, 1_000
	fleetTick                = 250 * time.Millisecond
	recovery                 = Lease + time.Second // within which what was lost has an owner again
)

// One team has most of a million executions; nine others come with a little now and then. A thousand of ten
// thousand workers, all of them full, die at once.
func TestAFleetOfTenThousand(t *testing.T) {
	f := newFleet(t)
	f.work(6 * time.Second)
	f.kill()
	lost := f.ownedByKilled()
	if lost < fleetKilled*(fleetSlots*8-1) {
		t.Fatalf("the killed owned %d executions: they were not full", lost)
	}
	f.work(recovery)
	if n := f.ownedByKilled(); n > 0 {
		t.Errorf("%s after a thousand workers died, %d of the %d executions they had still belong to nobody alive", recovery, n, lost)
	}
	for team, longest := range f.waited {
		if team != teamNumber(0) && longest > time.Second {
			t.Errorf("a small team waited for %s beside a large one", longest)
		}
	}
	t.Logf("%d claims, %d executions taken over", f.claimed, lost)
}

func teamNumber(n byte) uuid.UUID { return uuid.UUID{15: n} }

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, dice: rand.New(rand.NewPCG(1, 2)), model: newModel(), now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
		killed: map[uuid.UUID]bool{}, waited: map[uuid.UUID]time.Duration{}}
	for i := range fleetWorkers {
		id := uuid.UUID{0: 1}
		binary.BigEndian.PutUint32(id[12:], uint32(i))
		f.ids, f.driven = append(f.ids, id), append(f.driven, map[uuid.UUID]int{})
		f.model.workers[id] = modelWorker{beat: f.now}
	}
	f.endedBy = make([]int32, 0, fleetOpen)
	f.model.lines[teamNumber(0)], f.model.teams = &line{entries: make([]modelEntry, 0, fleetOpen)}, []uuid.UUID{teamNumber(0)}
	for range fleetOpen {
		f.arrives(0)
	}
	return f
}

// arrives puts one more execution of a team in line.
func (f *fleet) arrives(team byte) {
	id := uuid.UUID{0: 2}
	binary.BigEndian.PutUint32(id[12:], uint32(len(f.endedBy)))
	f.endedBy = append(f.endedBy, 0)
	f.model.wait(modelEntry{turn: f.now, Entry: order.Entry{Execution: id, Team: teamNumber(team), Priority: "normal", Since: f.now}})
}

// work lets time pass.
func (f *fleet) work(long time.Duration) {
	for range long / fleetTick {
		f.now = f.now.Add(fleetTick)
		f.tick()
	}
}

// tick is what all workers do within a moment.
func (f *fleet) tick() {
	for range 20 {
		f.arrives(byte(1 + f.dice.IntN(9)))
	}
	f.model.bury(f.now)
	moment := int(f.now.UnixNano() / int64(fleetTick))
	for i, worker := range f.ids {
		if f.killed[worker] {
			continue
		}
		if (moment+i)%int(Heartbeat/fleetTick) == 0 {
			f.model.workers[worker] = modelWorker{beat: f.now}
		}
		f.end(i, worker)
		f.claim(i, worker)
		if (moment+i)%2 == 0 { // each half second
			f.takeOver(i, worker)
		}
	}
}

// end ends one execution of a worker, every other time.
func (f *fleet) end(i int, worker uuid.UUID) {
	owned := f.model.owned[worker]
	if len(owned) == 0 || f.dice.IntN(2) == 0 {
		return
	}
	e := owned[0]
	f.model.owned[worker] = owned[1:]
	f.driven[i][e.Team]--
	number := binary.BigEndian.Uint32(e.Execution[12:])
	if by := f.endedBy[number]; by != 0 {
		f.t.Fatalf("execution %d was ended by worker %d and by worker %d", number, by-1, i)
	}
	f.endedBy[number] = int32(i + 1)
}

func (f *fleet) claim(i int, worker uuid.UUID) {
	n := min(order.Room(fleetSlots, len(f.model.owned[worker])), 64)
	if n == 0 {
		return
	}
	for _, e := range f.model.claim(worker, n, nil, f.driven[i], order.TenantAware, f.now) {
		f.claimed++
		f.driven[i][e.Team]++
		f.waited[e.Team] = max(f.waited[e.Team], f.now.Sub(e.Since))
	}
}

func (f *fleet) takeOver(i int, worker uuid.UUID) {
	n := min(order.RoomForLost(fleetSlots, len(f.model.owned[worker])), 64)
	for _, e := range f.model.takeOver(worker, n, []Group{{Suspected, 1}}, Suspected+1) {
		if !f.killed[e.owner] {
			f.t.Fatalf("worker %d took an execution from one that lives", i)
		}
		f.driven[i][e.Team]++
	}
}

func (f *fleet) kill() {
	for _, i := range f.dice.Perm(fleetWorkers)[:fleetKilled] {
		f.killed[f.ids[i]] = true
	}
}

// ownedByKilled counts what belongs to nobody alive.
func (f *fleet) ownedByKilled() int {
	n := len(f.model.left)
	for worker := range f.killed {
		n += len(f.model.owned[worker])
	}
	return n
}
