package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/engine/logs"
	"weftline/queries"
)

// groupSize bounds the executions of one transaction: past it a commit takes longer than it saves.
const groupSize = 256

// committer writes the flushes of its share of the executions, as many in one transaction as are waiting.
// There is no timer: while one transaction is on its way the next one gathers.
type committer struct {
	store *Store
	queue chan *pending
}

type pending struct {
	ctx   context.Context // of whoever waits for it; nil = for ever
	flush *Flush
	done  chan struct{}
	out   Written
	err   error
}

func startCommitter(ctx context.Context, s *Store) *committer {
	c := &committer{store: s, queue: make(chan *pending, groupSize)}
	go c.run(ctx)
	return c
}

// Commit makes a flush durable. It waits through outages of the database until ctx ends; an error other
// than ErrFenced, ErrOvertaken or ctx's says that this flush can never be written.
func (s *Store) Commit(ctx context.Context, flush *Flush) (Written, error) {
	p := &pending{ctx: ctx, flush: flush, done: make(chan struct{})}
	c := s.committers[int(s.Partition(flush.Execution))%len(s.committers)]
	select {
	case c.queue <- p:
	case <-ctx.Done():
		return Written{}, ctx.Err()
	}
	select {
	case <-p.done:
		return p.out, p.err
	case <-ctx.Done():
		return Written{}, ctx.Err()
	}
}

func (c *committer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-c.queue:
			c.commit(ctx, c.gather(first))
		}
	}
}

func (c *committer) gather(first *pending) []*pending {
	group := []*pending{first}
	for len(group) < groupSize {
		select {
		case next := <-c.queue:
			group = append(group, next)
		default:
			return group
		}
	}
	return group
}

// commit writes the group together. If that fails each is written alone, so that one that is fenced or
// cannot be stored does not take the others along.
func (c *committer) commit(ctx context.Context, group []*pending) {
	group = slices.DeleteFunc(group, func(p *pending) bool {
		gone := p.abandoned()
		if gone {
			p.err = p.ctx.Err()
			answer([]*pending{p})
		}
		return gone
	})
	if err := c.store.write(ctx, group); err == nil {
		answer(group)
		return
	}
	for _, p := range group {
		p.err = c.commitAlone(ctx, p)
		answer([]*pending{p})
	}
}

// abandoned reports that nobody waits for a flush any more: whoever made it has given its execution up, and somebody else
// may have it.
func (p *pending) abandoned() bool { return p.ctx != nil && p.ctx.Err() != nil }

// writeAgain writes one flush that may have been written before, unheard.
func (s *Store) writeAgain(ctx context.Context, p *pending) error {
	if err := s.dropOffered(ctx, p.flush); err != nil {
		return err
	}
	err := s.write(ctx, []*pending{p})
	switch {
	case isUnique(err):
		return s.judgeCollision(ctx, p.flush, err)
	case isOvertaken(err):
		return ErrOvertaken
	}
	return err
}

// dropOffered takes out of a flush the offers that an earlier try has written: they are there, or their results are. A
// flush with events needs no such look, since its key in the history says whether it was written.
func (s *Store) dropOffered(ctx context.Context, flush *Flush) error {
	if len(flush.Events) > 0 || len(flush.Offers) == 0 {
		return nil
	}
	var reading queries.Reading
	var away []queries.AwayWorkRow
	var messages []queries.InboxesRow
	reading.AwayWork([]uuid.UUID{flush.Execution}, &away)
	reading.Inboxes([]uuid.UUID{flush.Execution}, &messages)
	if err := reading.Read(ctx, s.pool); err != nil {
		return err
	}
	written := withResults(awayByExecution(away)[flush.Execution], s.received(messages)[flush.Execution])
	flush.Offers = slices.DeleteFunc(flush.Offers, func(o Offer) bool { return slices.Contains(written, o.WorkKey) })
	return nil
}

func answer(group []*pending) {
	for _, p := range group {
		close(p.done)
	}
}

// commitAlone writes one flush, again after deadlocks and while the database cannot be reached, as long as somebody
// waits for it.
func (c *committer) commitAlone(ctx context.Context, p *pending) error {
	pause := 5 * time.Millisecond
	for {
		if p.abandoned() {
			return p.ctx.Err()
		}
		err := c.store.writeAgain(ctx, p)
		switch {
		case err == nil, errors.Is(err, ErrDuplicate), errors.Is(err, ErrFenced), errors.Is(err, ErrOvertaken):
			return err
		case !isTransient(err):
			return fmt.Errorf("write execution %s from event %d on: %w", p.flush.Execution, p.flush.FirstSeq, err)
		}
		about := logs.About{Worker: p.flush.Owner.String(), Execution: p.flush.Execution, Workflow: p.flush.Workflow, Event: "WriteRetried"}
		c.store.log.Warn("a write is tried again", about.Args("error", err)...)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// judgeCollision tells a lost fence from our own write whose acknowledgement was lost: the latter holds
// exactly the same bytes.
func (s *Store) judgeCollision(ctx context.Context, flush *Flush, collision error) error {
	var pg *pgconn.PgError
	if errors.As(collision, &pg) && pg.ConstraintName == "start_keys_pkey" {
		return ErrDuplicate
	}
	var stored []byte
	err := s.pool.QueryRow(ctx, `select events from history where execution_id = $1 and first_seq = $2`,
		flush.Execution, flush.FirstSeq).Scan(&stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return collision
	case err != nil:
		return err
	case bytes.Equal(stored, flush.packed):
		return nil
	}
	return ErrFenced
}

func isUnique(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == pgerrcode.UniqueViolation
}

// isOvertaken recognizes the refused status that writer.task describes.
func isOvertaken(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == pgerrcode.NotNullViolation && pg.TableName == "tasks" && pg.ColumnName == "status"
}

// isTransient reports whether the same write may succeed later: connection failures, shutdowns, deadlocks,
// serialization failures and a full server; not errors about the data.
func isTransient(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return true
	}
	code := pg.Code
	return pgerrcode.IsConnectionException(code) || pgerrcode.IsTransactionRollback(code) ||
		pgerrcode.IsInsufficientResources(code) || pgerrcode.IsOperatorIntervention(code) ||
		code == pgerrcode.ReadOnlySQLTransaction
}
