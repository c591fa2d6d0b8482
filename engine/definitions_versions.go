package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/queries"
)

// Publish makes the draft the version that new executions start on. Content that was published before
// answers its version and makes that one current again.
func (c *catalog) Publish(ctx context.Context, who Who, name, message string) (Version, bool, error) {
	var version queries.Version
	var created bool
	err := inTx(ctx, c.db, func(q *queries.Queries) (err error) {
		version, created, err = c.publish(ctx, q, who, name, message)
		return err
	})
	if err != nil {
		return Version{}, false, err
	}
	c.changed(Change{Team: who.Team, Workflow: name, Drafts: true})
	return versionOf(version), created, nil
}

// publish holds the workflow's lock, so of two publishers the second sees what the first did.
func (c *catalog) publish(ctx context.Context, q *queries.Queries, who Who, name, message string) (version queries.Version, created bool, err error) {
	workflow, err := lockWorkflow(ctx, q, who, name)
	if err != nil {
		return version, false, err
	}
	draft, err := q.DraftByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return version, false, Refuse("not_found", "workflow "+name+" has no draft to publish")
	}
	if err != nil {
		return version, false, fmt.Errorf("read the draft of %s: %w", name, err)
	}
	definition, err := c.publishable(ctx, who, draft)
	if err != nil {
		return version, false, err
	}
	version, created, err = versionFor(ctx, q, who, workflow, draft, definition, message)
	if err != nil {
		return version, false, err
	}
	if workflow.PublishedVersion != nil && *workflow.PublishedVersion == version.Version {
		return version, false, nil
	}
	if err := q.SetPublished(ctx, &version.Version, cleanText(who.User), who.Team, name); err != nil {
		return version, false, fmt.Errorf("publish %s: %w", name, err)
	}
	if err := showInLists(ctx, q, who, definition); err != nil {
		return version, false, err
	}
	if err := publishTriggers(ctx, q, who, definition, version.Version, c.now()); err != nil {
		return version, false, err
	}
	return version, created, audit(ctx, q, who, "workflow.published", name, map[string]any{"version": version.Version, "contentHash": version.ContentHash, "message": message})
}

// publishable compiles a draft that has no errors, those of its references included.
func (c *catalog) publishable(ctx context.Context, who Who, draft queries.Draft) (*flow.Workflow, error) {
	report, references := c.judge(ctx, who, draft.Workflow, draft.Text)
	problems := append(report.Errors, references...)
	if len(problems) > 0 {
		return nil, &Error{Code: "invalid_definition", Problems: problems,
			Message: fmt.Sprintf("the draft of %s has %s; mend it and publish again", draft.Workflow, count(len(problems), "error"))}
	}
	definition, err := flow.Load(draft.Text)
	if err != nil {
		return nil, fmt.Errorf("compile the draft of %s: %w", draft.Workflow, err)
	}
	return definition, nil
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// versionFor finds the version with the definition's content, or makes the next one.
func versionFor(ctx context.Context, q *queries.Queries, who Who, workflow queries.Workflow, draft queries.Draft, definition *flow.Workflow, message string) (queries.Version, bool, error) {
	known, err := q.VersionByContent(ctx, who.Team, workflow.Name, definition.ContentHash)
	if err == nil {
		return known, false, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return known, false, fmt.Errorf("look for the content of %s: %w", workflow.Name, err)
	}
	made, err := q.InsertVersion(ctx, queries.InsertVersionParams{
		TeamID: who.Team, Workflow: workflow.Name, Version: workflow.LastVersion + 1, ContentHash: definition.ContentHash,
		Text: draft.Text, Label: cleanText(definition.Version), Message: cleanText(message), PublishedBy: cleanText(who.User)})
	if err != nil {
		return made, false, fmt.Errorf("store version %d of %s: %w", workflow.LastVersion+1, workflow.Name, err)
	}
	return made, true, nil
}

// Unpublish stops triggers and new starts; what runs goes on.
func (c *catalog) Unpublish(ctx context.Context, who Who, name string) error {
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		workflow, err := lockWorkflow(ctx, q, who, name)
		if err != nil {
			return err
		}
		if workflow.PublishedVersion == nil {
			return Refuse("not_published", "workflow "+name+" is not published")
		}
		if err := q.SetPublished(ctx, nil, cleanText(who.User), who.Team, name); err != nil {
			return fmt.Errorf("unpublish %s: %w", name, err)
		}
		if err := unpublishTriggers(ctx, q, who, name); err != nil {
			return err
		}
		return audit(ctx, q, who, "workflow.unpublished", name, map[string]any{"version": *workflow.PublishedVersion})
	})
	if err == nil {
		c.changed(Change{Team: who.Team, Workflow: name, Drafts: true})
	}
	return err
}

// Versions lists the versions of a workflow, newest first.
func (c *catalog) Versions(ctx context.Context, who Who, name string, page PageRequest) (Page[Version], error) {
	before, err := decodeCursor[int32](page.Cursor)
	if err != nil {
		return Page[Version]{}, err
	}
	if _, err := c.q.WorkflowByName(ctx, who.Team, name); errors.Is(err, pgx.ErrNoRows) {
		return Page[Version]{}, noWorkflow(name)
	}
	rows, err := c.q.ListVersions(ctx, who.Team, name, before, page.size()+1)
	if err != nil {
		return Page[Version]{}, fmt.Errorf("list the versions of %s: %w", name, err)
	}
	return paginate(rows, page, versionOf, func(last queries.Version) any { return last.Version })
}

// Version is one version with its text.
func (c *catalog) Version(ctx context.Context, who Who, name string, number int) (Version, error) {
	row, err := findVersion(ctx, c.q, who, name, number)
	if err != nil {
		return Version{}, err
	}
	return versionOf(row), nil
}

func findVersion(ctx context.Context, q *queries.Queries, who Who, name string, number int) (queries.Version, error) {
	row, err := q.VersionByNumber(ctx, who.Team, name, int32(number))
	if errors.Is(err, pgx.ErrNoRows) {
		return row, Refuse("not_found", fmt.Sprintf("there is no version %d of a workflow %s", number, name))
	}
	if err != nil {
		return row, fmt.Errorf("read version %d of %s: %w", number, name, err)
	}
	return row, nil
}

func versionOf(row queries.Version) Version {
	return Version{Workflow: row.Workflow, Version: int(row.Version), ContentHash: row.ContentHash, Label: row.Label,
		Message: row.Message, By: row.PublishedBy, At: row.PublishedAt, Text: string(row.Text)}
}
