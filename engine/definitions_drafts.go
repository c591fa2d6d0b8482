package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/queries"
)

// SaveDraft keeps the text byte for byte, valid or not. The etag follows from the text, so two people who
// save the same do not collide, and saving what is there already changes nothing.
func (c *catalog) SaveDraft(ctx context.Context, who Who, name string, text []byte, ifMatch string, create bool) (Draft, error) {
	switch {
	case !workflowName.MatchString(name):
		return Draft{}, Refuse("invalid_input", fmt.Sprintf("%q is no name of a workflow: use lower-case letters, digits and hyphens, at most 63", name))
	case len(text) > maxDefinition:
		return Draft{}, Refuse("too_large", fmt.Sprintf("the definition has %d bytes; the limit is %d", len(text), maxDefinition))
	case ifMatch == "" && !create:
		return Draft{}, Refuse("precondition_required", "say which draft you change: If-Match with its etag, or If-None-Match: * for the first one")
	}
	var saved queries.Draft
	var changed bool
	reading := c.read(ctx, text) // before the transaction: a large text takes a while, and a draft is locked in it
	err := inTx(ctx, c.db, func(q *queries.Queries) (err error) {
		saved, changed, err = c.saveDraft(ctx, q, who, name, reading, ifMatch)
		return err
	})
	if err != nil {
		return Draft{}, err
	}
	if changed {
		c.changed(Change{Team: who.Team, Workflow: name, Drafts: true})
	}
	return c.draftAs(ctx, who, saved, reading), nil
}

// saveDraft is one transaction: the first save of a name makes its workflow.
func (c *catalog) saveDraft(ctx context.Context, q *queries.Queries, who Who, name string, reading flow.Reading, ifMatch string) (draft queries.Draft, changed bool, err error) {
	if err := q.EnsureWorkflow(ctx, who.Team, name, cleanText(who.User)); err != nil {
		return draft, false, fmt.Errorf("make workflow %s: %w", name, err)
	}
	workflow, err := lockWorkflow(ctx, q, who, name)
	if err != nil {
		return draft, false, err
	}
	current, err := q.DraftByName(ctx, who.Team, name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return draft, false, fmt.Errorf("read the draft of %s: %w", name, err)
	}
	exists := err == nil
	if !matches(current, exists, ifMatch) {
		return draft, false, c.stale(ctx, who, name, current, exists)
	}
	if exists && bytes.Equal(current.Text, reading.Text) {
		return current, false, nil
	}
	if draft, err = writeDraft(ctx, q, who, workflow, reading, editors(current.Editors, who)); err != nil {
		return draft, false, err
	}
	if !exists || current.SavedBy != draft.SavedBy { // a save for every few keys: who takes a draft over is told, once
		err = record(ctx, q, who, act{action: "workflow.drafted", target: name, before: savedBy(current), after: savedBy(draft)})
	}
	return draft, true, err
}

// savedBy is what the audit tells of a draft; nil when there was none.
func savedBy(row queries.Draft) any {
	if row.Etag == "" {
		return nil
	}
	return map[string]any{"etag": row.Etag, "savedBy": row.SavedBy}
}

// matches is the precondition: "" wants no draft, "*" any, an etag that one.
func matches(current queries.Draft, exists bool, ifMatch string) bool {
	if ifMatch == "" {
		return !exists
	}
	return exists && (ifMatch == "*" || ifMatch == current.Etag)
}

func (c *catalog) stale(ctx context.Context, who Who, name string, current queries.Draft, exists bool) *Error {
	if !exists {
		return Refuse("stale", "there is no draft of "+name+" to change; save it as the first one")
	}
	other := c.draftOf(ctx, who, current)
	return &Error{Code: "stale", Draft: &other,
		Message: fmt.Sprintf("%s saved another text of %s at %s; compare it with yours", current.SavedBy, name, current.SavedAt.UTC().Format("15:04:05 MST"))}
}

// editors are those who changed something, with the asker.
func editors(before []string, who Who) []string {
	name := cleanText(who.User)
	if slices.Contains(before, name) {
		return before
	}
	return append(slices.Clone(before), name)
}

// writeDraft stores a text; while nothing is published, lists show what the draft says.
func writeDraft(ctx context.Context, q *queries.Queries, who Who, workflow queries.Workflow, reading flow.Reading, editors []string) (queries.Draft, error) {
	draft, err := q.SaveDraft(ctx, queries.SaveDraftParams{
		TeamID: who.Team, Workflow: workflow.Name, Text: reading.Text, Etag: etag(reading.Text), SavedBy: cleanText(who.User), Editors: editors,
		Drawn: reading.Drawable})
	if err != nil {
		return draft, fmt.Errorf("save the draft of %s: %w", workflow.Name, err)
	}
	if parsed := reading.Workflow; parsed != nil && parsed.Name == workflow.Name && workflow.LastVersion == 0 {
		return draft, showInLists(ctx, q, who, parsed)
	}
	if err := q.TouchWorkflow(ctx, cleanText(who.User), who.Team, workflow.Name); err != nil {
		return draft, fmt.Errorf("note the change of %s: %w", workflow.Name, err)
	}
	return draft, nil
}

func etag(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Draft is the text being worked on.
func (c *catalog) Draft(ctx context.Context, who Who, name string) (Draft, error) {
	row, err := c.q.DraftByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return Draft{}, Refuse("not_found", "there is no draft of a workflow "+name)
	}
	if err != nil {
		return Draft{}, fmt.Errorf("read the draft of %s: %w", name, err)
	}
	return c.draftOf(ctx, who, row), nil
}

// Restore makes the text of an old version the draft.
func (c *catalog) Restore(ctx context.Context, who Who, name string, number int) (Draft, error) {
	var saved queries.Draft
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		workflow, err := lockWorkflow(ctx, q, who, name)
		if err != nil {
			return err
		}
		version, err := findVersion(ctx, q, who, name, number)
		if err != nil {
			return err
		}
		if saved, err = writeDraft(ctx, q, who, workflow, flow.Read(version.Text), editors(nil, who)); err != nil {
			return err
		}
		return audit(ctx, q, who, "workflow.restored", name, map[string]any{"version": number})
	})
	if err != nil {
		return Draft{}, err
	}
	c.changed(Change{Team: who.Team, Workflow: name, Drafts: true})
	return c.draftOf(ctx, who, saved), nil
}

// draftOf judges a stored draft anew: what is wrong with it may lie in other workflows.
func (c *catalog) draftOf(ctx context.Context, who Who, row queries.Draft) Draft {
	return c.draftAs(ctx, who, row, c.read(ctx, row.Text))
}

// draftAs is a draft whose text was read already.
func (c *catalog) draftAs(ctx context.Context, who Who, row queries.Draft, reading flow.Reading) Draft {
	report, _ := c.judgeReading(ctx, who, row.Workflow, reading)
	return Draft{Name: row.Workflow, Text: string(row.Text), LastGood: row.LastGood, ETag: row.Etag, By: row.SavedBy, At: row.SavedAt,
		Valid: report.Valid, Errors: report.Errors, Warnings: report.Warnings}
}
