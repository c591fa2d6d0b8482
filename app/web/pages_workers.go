package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/views/state"
	"weftline/views/ui"
	workersview "weftline/views/workers"
)

func (p *Pages) workers(c *fiber.Ctx) error {
	who, ctx := ViewOf(c).Who, c.UserContext()
	view := workersview.View{Now: now(), By: cmp.Or(oneOf(c.Query("by"), workersview.Groupings...), workersview.Groupings[0])}
	fleet, err := p.Door.Workers(ctx, who)
	if err != nil {
		return err
	}
	for _, worker := range fleet {
		view.Workers = append(view.Workers, workerRow(worker))
	}
	queue, err := p.Door.Queue(ctx, who, view.By)
	if err != nil {
		return err
	}
	for _, row := range queue {
		view.Queue = append(view.Queue, lane(row))
	}
	return Render(c, workersview.Page(p.frame(c, "Workers", "workers"), view))
}

func workerRow(worker engine.Worker) workersview.Worker {
	return workersview.Worker{
		Name: worker.Hostname, Version: worker.Version, Place: strings.TrimSpace(worker.Region + " " + worker.Zone),
		Look: state.Of(worker.State), Remote: worker.Kind == "remote", Active: worker.Active, Concurrency: worker.Concurrency,
		Leases: worker.Leases, Waiting: worker.QueueLength, Machine: machine(worker), Usage: usage(worker), Serves: serves(worker),
		Activities: worker.Activities, Labels: labelPairs(worker.Labels),
		SeenAt: worker.LastHeartbeat,
	}
}

// serves lists what a worker is narrowed to.
func serves(worker engine.Worker) (all []workersview.Names) {
	for _, names := range []workersview.Names{{Of: "teams", Names: worker.Teams}, {Of: "workflows", Names: worker.Workflows}, {Of: "queues", Names: worker.Queues}} {
		if len(names.Names) > 0 {
			all = append(all, names)
		}
	}
	return all
}

// machine says what a worker runs on, as far as it told.
func machine(worker engine.Worker) string {
	var parts []string
	if worker.CPU > 0 {
		parts = append(parts, fmt.Sprintf("%d × %s", worker.CPU, cmp.Or(worker.Architecture, "core")))
	}
	if worker.Memory > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(worker.Memory)/(1<<30)))
	}
	return strings.Join(parts, ", ")
}

// usage is how much of its machine a worker takes.
func usage(worker engine.Worker) string {
	return fmt.Sprintf("%.0f %% CPU, %.0f %% memory", 100*worker.CPUUsage, 100*worker.MemoryUsage)
}

func lane(row engine.QueueRow) workersview.Lane {
	lane := workersview.Lane{Key: row.Key, Owner: row.Owner, Depth: row.Depth, Leased: row.Leased, Unserved: row.Unserved}
	if row.Depth > 0 {
		lane.Oldest = ui.Duration(time.Duration(row.OldestAge * float64(time.Second)))
	}
	return lane
}
