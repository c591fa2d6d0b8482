package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/queries"
)

// AuditEntry is one line of the audit: who did what to what, when and from where.
type AuditEntry struct {
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"` // workflow.published, task.decided, token.created …
	Target  string          `json:"target"`
	Detail  json.RawMessage `json:"detail"`
	Address string          `json:"address,omitempty"`
	Request string          `json:"requestId,omitempty"`
}

// AuditFilter narrows the audit; empty fields match everything.
type AuditFilter struct {
	PageRequest
	Actor        string
	Action       string // or its first word: task matches task.decided
	Target       string
	Since, Until *time.Time
}

// Audit lists what was done in the team, newest first.
func (i *Identity) Audit(ctx context.Context, who Who, filter AuditFilter) (Page[AuditEntry], error) {
	before, err := decodeCursor[int64](filter.Cursor)
	if err != nil {
		return Page[AuditEntry]{}, err
	}
	rows, err := i.q.ListAudit(ctx, queries.ListAuditParams{
		TeamID: who.Team, Before: before, Actor: filter.Actor, Action: filter.Action,
		Target: filter.Target, Since: filter.Since, Until: filter.Until, PageSize: filter.size() + 1})
	if err != nil {
		return Page[AuditEntry]{}, fmt.Errorf("list the audit: %w", err)
	}
	return paginate(rows, filter.PageRequest, auditEntryOf, func(last queries.Audit) any { return last.ID })
}

func auditEntryOf(row queries.Audit) AuditEntry {
	return AuditEntry{ID: row.ID, At: row.At, Actor: row.Actor, Action: row.Action, Target: row.Target,
		Detail: row.Detail, Address: row.Address, Request: row.Request}
}

// audit writes a line in the transaction of what it tells about.
func audit(ctx context.Context, q *queries.Queries, who Who, action, target string, detail map[string]any) error {
	content, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	err = q.WriteAudit(ctx, queries.WriteAuditParams{TeamID: who.Team, Actor: cleanText(who.User), Action: action, Target: cleanText(target),
		Detail: content, Address: who.Address, Request: who.Request})
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

// inTx runs f in one transaction.
func inTx(ctx context.Context, db *pgxpool.Pool, f func(q *queries.Queries) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return f(queries.New(tx)) })
}

// cleanText makes text that PostgreSQL can hold in a text column: valid UTF-8 without NUL.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
