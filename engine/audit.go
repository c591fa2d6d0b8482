package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/instants"
	"weftline/queries"
)

// AuditEntry is one line of the audit: who did what to what, for whom, what was before and after, when and
// from where.
type AuditEntry struct {
	ID         int64           `json:"id"`
	At         time.Time       `json:"at"`
	Actor      string          `json:"actor"`
	Via        string          `json:"via,omitempty"` // the token that was used, by name; absent for a session
	Action     string          `json:"action"`        // workflow.published, task.decided, token.created …
	Target     string          `json:"target"`
	TargetName string          `json:"targetName,omitempty"` // what people call it, where target is an id
	ForWhom    string          `json:"forWhom,omitempty"`    // the person or service account that it is about
	Before     json.RawMessage `json:"before,omitempty"`
	After      json.RawMessage `json:"after,omitempty"`
	Detail     json.RawMessage `json:"detail"`
	Address    string          `json:"address,omitempty"`
	Request    string          `json:"requestId,omitempty"`
}

// AuditFilter narrows the audit; empty fields match everything.
type AuditFilter struct {
	PageRequest
	Actor        string
	Action       string // or its first word: task matches task.decided
	Target       string // or what people call it
	ForWhom      string
	Address      string
	Request      string
	Since, Until *time.Time
}

// Audit lists what was done in the team, newest first.
func (i *Identity) Audit(ctx context.Context, who Who, filter AuditFilter) (Page[AuditEntry], error) {
	before, err := decodeCursor[int64](filter.Cursor)
	if err != nil {
		return Page[AuditEntry]{}, err
	}
	rows, err := i.q.ListAudit(ctx, queries.ListAuditParams{
		TeamID: who.Team, BeforeID: before, Actor: filter.Actor, Action: filter.Action, Target: filter.Target,
		ForWhom: filter.ForWhom, Address: filter.Address, Request: filter.Request, Since: filter.Since, Until: filter.Until, PageSize: filter.size() + 1})
	if err != nil {
		return Page[AuditEntry]{}, fmt.Errorf("list the audit: %w", err)
	}
	return paginate(rows, filter.PageRequest, auditEntryOf, func(last queries.Audit) any { return last.ID })
}

func auditEntryOf(row queries.Audit) AuditEntry {
	entry := AuditEntry{ID: row.ID, At: row.At, Actor: row.Actor, Via: row.Via, Action: row.Action, Target: row.Target, TargetName: row.TargetName,
		ForWhom: row.ForWhom, Before: row.Before, After: row.After, Detail: row.Detail, Address: row.Address, Request: row.Request}
	if row.Before == nil && row.After == nil && row.TargetName == "" {
		entry.fromDetail()
	}
	return entry
}

// fromDetail reads what rows of earlier versions have in their detail only.
func (e *AuditEntry) fromDetail() {
	var old map[string]json.RawMessage
	if json.Unmarshal(e.Detail, &old) != nil {
		return
	}
	if strings.HasPrefix(e.Action, "token.") {
		_ = json.Unmarshal(old["name"], &e.TargetName) // not every row has one
		delete(old, "name")
	}
	e.Before, e.After = old["before"], old["after"]
	delete(old, "before")
	delete(old, "after")
	if rest, err := json.Marshal(old); err == nil {
		e.Detail = rest
	}
}

// act is what an entry of the audit tells beside who and when. Before and after have a JSON form, nil = nothing
// to compare; values of secrets are in none of them.
type act struct {
	action, target string
	name           string // of the target, where that is an id
	forWhom        string
	before, after  any
	detail         map[string]any
}

// audit writes a line in the transaction of what it tells about.
func audit(ctx context.Context, q *queries.Queries, who Who, action, target string, detail map[string]any) error {
	return record(ctx, q, who, act{action: action, target: target, detail: detail})
}

// record is audit for what has more to tell.
func record(ctx context.Context, q *queries.Queries, who Who, a act) error {
	line, err := a.line(who)
	if err == nil {
		err = q.WriteAudit(ctx, line)
	}
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

// line is an act of somebody as its row.
func (a act) line(who Who) (queries.WriteAuditParams, error) {
	if a.detail == nil {
		a.detail = map[string]any{}
	}
	detail, err := instants.JSON(a.detail)
	before, errBefore := orNoJSON(a.before)
	after, errAfter := orNoJSON(a.after)
	return queries.WriteAuditParams{TeamID: who.Team, Actor: cleanText(who.User), Via: cleanText(who.Via), Action: a.action,
		Target: cleanText(a.target), TargetName: cleanText(a.name), ForWhom: cleanText(a.forWhom), Before: before, After: after,
		Detail: detail, Address: who.Address, Request: who.Request}, errors.Join(err, errBefore, errAfter)
}

func orNoJSON(value any) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	return instants.JSON(value)
}

// inTx runs f in one transaction.
func inTx(ctx context.Context, db queries.Pool, f func(q *queries.Queries) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return f(queries.New(tx)) })
}

// cleanText makes text that PostgreSQL can hold in a text column: valid UTF-8 without NUL.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
