package engine

import (
	"context"
	"fmt"
	"time"
)

// Editor is somebody who has a workflow open in the designer, on any replica.
type Editor struct {
	ID    string    `json:"id"` // of the socket, as its welcome frame names it
	User  string    `json:"user"`
	Since time.Time `json:"since"`
	// Activity is the id of what is selected there, "" when nothing is.
	Activity string `json:"activity,omitempty"`
}

const (
	// EditorsKept is how often a replica has to say which of its editors are still there.
	EditorsKept = 20 * time.Second
	// editorSilent is how long an editor of whom nothing is said counts as there.
	editorSilent = 3 * EditorsKept
)

// Editors lists who works on a workflow, longest first.
func (c *catalog) Editors(ctx context.Context, who Who, workflow string) ([]Editor, error) {
	rows, err := c.q.ListEditors(ctx, who.Team, workflow, editorSilent.Seconds())
	if err != nil {
		return nil, fmt.Errorf("list who works on a workflow: %w", err)
	}
	list := make([]Editor, len(rows))
	for i, row := range rows {
		list[i] = Editor{ID: row.Socket, User: row.Person, Since: row.Since.UTC().Truncate(time.Millisecond), Activity: row.Activity}
	}
	return list, nil
}

// BeginEditing notes that a socket works on a workflow, and tells all replicas.
func (c *catalog) BeginEditing(ctx context.Context, who Who, workflow, socket string) error {
	if err := c.q.ForgetSilentEditors(ctx, editorSilent.Seconds()); err != nil {
		return fmt.Errorf("forget editors that are gone: %w", err)
	}
	if err := c.q.EnterEditor(ctx, socket, who.Team, workflow, cleanText(who.User)); err != nil {
		return fmt.Errorf("note who works on a workflow: %w", err)
	}
	c.changed(Change{Team: who.Team, Workflow: workflow})
	return nil
}

// longestPointer bounds what a socket may say that it has selected; ids are shorter.
const longestPointer = 100

// PointEditing notes which activity a socket has selected, and tells all replicas.
func (c *catalog) PointEditing(ctx context.Context, who Who, workflow, socket, activity string) error {
	moved, err := c.q.PointEditor(ctx, clip(cleanText(activity), longestPointer), socket, who.Team, workflow)
	if err != nil {
		return fmt.Errorf("note where somebody works on a workflow: %w", err)
	}
	if moved > 0 {
		c.changed(Change{Team: who.Team, Workflow: workflow})
	}
	return nil
}

// EndEditing forgets a socket, and tells all replicas.
func (c *catalog) EndEditing(ctx context.Context, who Who, workflow, socket string) error {
	gone, err := c.q.LeaveEditor(ctx, socket, who.Team, workflow)
	if err != nil {
		return fmt.Errorf("forget who worked on a workflow: %w", err)
	}
	if gone > 0 {
		c.changed(Change{Team: who.Team, Workflow: workflow})
	}
	return nil
}

// KeepEditing says that sockets of this replica are still there.
func (c *catalog) KeepEditing(ctx context.Context, sockets []string) error {
	return c.q.KeepEditors(ctx, sockets)
}
