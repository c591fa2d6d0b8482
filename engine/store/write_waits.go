package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"weftline/engine/execution"
)

// childLocks serializes the ends of shared children with those who join them.
func (w *writer) childLocks() {
	var children []string
	for _, f := range w.flushes {
		if f.Shared != nil {
			children = append(children, f.Execution.String())
		}
		for _, join := range f.Joins {
			children = append(children, join.Child.String())
		}
	}
	slices.Sort(children)
	for _, child := range slices.Compact(children) {
		w.batch.Queue(`select child_lock($1)`, child)
	}
}

// joins opens and ends the waits for shared children.
func (w *writer) joins(f *Flush) error {
	for _, join := range f.Joins {
		w.batch.Queue(`insert into child_waits (child_id, execution_id, activity, item) values ($1, $2, $3, $4) on conflict do nothing`,
			join.Child, f.Execution, join.Activity, clean(join.Item))
	}
	if f.EndsJoins {
		w.batch.Queue(`delete from child_waits where execution_id = $1`, f.Execution)
	}
	if f.Shared == nil {
		return nil
	}
	output, err := json.Marshal(f.Shared.Output)
	if err != nil {
		return fmt.Errorf("encode the output of execution %s: %w", f.Execution, err)
	}
	w.batch.Queue(`select tell_joined($1, $2, $3::json, $4::json)`, f.Execution, f.Shared.Status, string(output), errorJSON(f.Shared.Error))
	return nil
}

func sortedUnique(keys [][3]string) [][3]string {
	slices.SortFunc(keys, func(a, b [3]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	return slices.Compact(keys)
}

// consequences writes what most flushes do not have.
func (w *writer) consequences(f *Flush) error {
	if f.Checkpoint != nil {
		state, err := w.store.packSealed(statePlace(f.Execution), f.Checkpoint, f.Sealed)
		if err != nil {
			return fmt.Errorf("seal the state of execution %s: %w", f.Execution, err)
		}
		w.batch.Queue(`insert into checkpoints (execution_id, seq, state) values ($1, $2, $3)
			on conflict (execution_id) do update set seq = excluded.seq, state = excluded.state`,
			f.Execution, f.LastSeq, state)
	}
	for _, task := range f.Tasks {
		if err := w.task(f, task); err != nil {
			return err
		}
	}
	if len(f.Files) > 0 {
		w.batch.Queue(`insert into file_uses (file_id, execution_id)
			select id, $2 from files where id = any($1::uuid[]) and team_id = $3 on conflict do nothing`, f.Files, f.Execution, f.Team)
	}
	w.waits(f)
	if err := w.permits(f); err != nil {
		return err
	}
	if err := w.joins(f); err != nil {
		return err
	}
	w.withdrawals(f)
	w.offers(f)
	for _, notice := range f.Notices {
		message, err := w.store.encodeMessage(notice.Message)
		if err != nil {
			return fmt.Errorf("encode a message for execution %s: %w", notice.To, err)
		}
		w.batch.Queue(`select deliver($1, $2)`, notice.To, message)
	}
	if f.Ended && f.HasLimits {
		w.batch.Queue(`select release_permits($1)`, f.Execution)
	}
	return nil
}

// endedWaits closes what executions waited for that are over.
func (w *writer) endedWaits() {
	if rows := w.those(func(f *Flush) bool { return f.Ended && f.Begin == nil }); len(rows) > 0 {
		w.batch.Queue(`delete from event_waits where execution_id = any($1::uuid[])`, column(rows, executionID))
	}
}

func (w *writer) waits(f *Flush) {
	for _, wait := range f.WaitsEnded {
		w.batch.Queue(`delete from event_waits where execution_id = $1 and activity = $2 and item = $3`,
			f.Execution, wait.Activity, clean(wait.Item))
	}
	for _, wait := range f.WaitsOpen {
		w.batch.Queue(`insert into event_waits (execution_id, activity, item, team_id, name, correlation, has_where, until)
			values ($1, $2, $3, $4, $5, $6, $7, $8)
			on conflict (execution_id, activity, item) do update set name = excluded.name,
				correlation = excluded.correlation, has_where = excluded.has_where, until = excluded.until`,
			f.Execution, wait.Activity, clean(wait.Item), f.Team, clean(wait.Name), clean(wait.Correlation),
			wait.HasWhere, optional(wait.Until))
	}
}

// permits asks for slots and gives slots back; each name touched is granted anew in this transaction.
func (w *writer) permits(f *Flush) error {
	var names []string
	for _, released := range f.Released {
		w.batch.Queue(`delete from permits where team_id = $1 and name = $2 and execution_id = $3 and activity = $4 and item = $5`,
			f.Team, clean(released.Name), f.Execution, released.Activity, clean(released.Item))
		names = append(names, clean(released.Name))
	}
	for _, asked := range f.Asked {
		if asked.PerSecond > 0 {
			continue
		}
		w.batch.Queue(`insert into permits (team_id, name, execution_id, activity, item, capacity, held)
			values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
			f.Team, clean(asked.Name), f.Execution, asked.Activity, clean(asked.Item), asked.Capacity, asked.Held)
		if err := w.replacements(f, asked); err != nil {
			return err
		}
		if !asked.Held {
			names = append(names, clean(asked.Name))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w.batch.Queue(`select grant_permits($1, $2)`, f.Team, name)
	}
	return nil
}

// replacements cancels the executions that have to make room for one that asks for a slot.
func (w *writer) replacements(f *Flush, asked PermitRequest) error {
	if !asked.Replaces {
		return nil
	}
	message, err := w.store.encodeMessage(execution.Message{Cancel: &execution.Cancel{By: asked.By, Reason: "replaced by a newer execution"}})
	if err != nil {
		return fmt.Errorf("encode the cancelling of what execution %s replaces: %w", f.Execution, err)
	}
	w.batch.Queue(`select replace_older($1, $2, $3, $4)`, f.Team, clean(asked.Name), asked.Capacity, message)
	return nil
}

// turns takes the next free turns of limits of starts a second, in the order of their names, so that groups
// cannot deadlock on them.
func (w *writer) turns() {
	type ask struct {
		flush *Flush
		PermitRequest
	}
	var asks []ask
	for _, f := range w.flushes {
		for _, asked := range f.Asked {
			if asked.PerSecond > 0 {
				asks = append(asks, ask{f, asked})
			}
		}
	}
	slices.SortStableFunc(asks, func(a, b ask) int {
		return cmp.Or(cmp.Compare(string(a.flush.Team[:]), string(b.flush.Team[:])), cmp.Compare(a.Name, b.Name))
	})
	for _, a := range asks {
		w.batch.Queue(`select take_turn($1, $2, $3, $4, $5, $6)`, a.flush.Team, clean(a.Name), a.PerSecond,
			a.flush.Execution, a.Activity, clean(a.Item))
	}
}
