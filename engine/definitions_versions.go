package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/queries"
)

// Publish makes the draft the version that new executions start on. Content that was published before
// answers its version, with the draft's text, and makes that one current again.
func (c *catalog) Publish(ctx context.Context, who Who, name, message string) (Version, bool, error) {
	var version queries.Version
	var created bool
	for tries := 0; ; tries++ {
		draft, definition, err := c.publishableDraft(ctx, who, name)
		if err != nil {
			return Version{}, false, err
		}
		err = inTx(ctx, c.db, func(q *queries.Queries) (err error) {
			version, created, err = c.publishDraft(ctx, q, who, draft, definition, message)
			return err
		})
		if errors.Is(err, errMoved) && tries < 3 {
			continue // somebody saved between the check and the lock: check what there is now
		}
		if err != nil {
			return Version{}, false, err
		}
		c.changed(Change{Team: who.Team, Workflow: name, Drafts: true})
		return versionOf(version), created, nil
	}
}

// errMoved says that the draft is not the one that was checked any more.
var errMoved = Refuse("conflict", "the draft is being saved at this moment: publish again")

// publishableDraft reads and checks the draft. It comes before the transaction: what it looks up needs
// connections of its own, and publishers that hold one each must not wait for each other's.
func (c *catalog) publishableDraft(ctx context.Context, who Who, name string) (queries.Draft, *flow.Workflow, error) {
	draft, err := c.q.DraftByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err := c.q.WorkflowByName(ctx, who.Team, name); errors.Is(err, pgx.ErrNoRows) {
			return draft, nil, noWorkflow(name)
		}
		return draft, nil, Refuse("not_found", "workflow "+name+" has no draft to publish")
	}
	if err != nil {
		return draft, nil, fmt.Errorf("read the draft of %s: %w", name, err)
	}
	definition, err := c.publishable(ctx, who, name, draft.Text)
	return draft, definition, err
}

// publishDraft holds the workflow's lock, so of two publishers the second sees what the first did.
func (c *catalog) publishDraft(ctx context.Context, q *queries.Queries, who Who, checked queries.Draft, definition *flow.Workflow, message string) (version queries.Version, created bool, err error) {
	name := checked.Workflow
	workflow, err := lockWorkflow(ctx, q, who, name)
	if err != nil {
		return version, false, err
	}
	draft, err := q.DraftByName(ctx, who.Team, name)
	if err != nil || draft.Etag != checked.Etag {
		return version, false, errMoved
	}
	policy, err := lockPolicy(ctx, q, who.Team)
	if err != nil {
		return version, false, err
	}
	known, err := q.VersionByContent(ctx, who.Team, name, definition.ContentHash)
	current := err == nil && sameVersion(&known.Version, workflow.PublishedVersion) && bytes.Equal(known.Text, draft.Text)
	if policy.Approvals() > 0 && !current {
		return version, false, Refuse("review_required", fmt.Sprintf("the policy of the team asks for a review with %s: propose the draft of %s, and publish the proposal when it is approved",
			count(policy.Approvals(), "approval"), name))
	}
	return release(ctx, q, who, policy, workflow, publication{definition: definition, text: draft.Text, message: message, at: c.now()})
}

// publication is what is to become the current version; proposal 0 = published without one.
type publication struct {
	definition *flow.Workflow
	text       []byte
	message    string
	proposal   int32
	at         time.Time
}

// release is the one way to a new current version: under the locks of the workflow and the policy.
func release(ctx context.Context, q *queries.Queries, who Who, policy Policy, workflow queries.Workflow, p publication) (version queries.Version, created bool, err error) {
	if problems := policy.problems(p.definition); len(problems) > 0 {
		return version, false, notPublishable(workflow.Name, problems)
	}
	version, novelty, err := versionFor(ctx, q, who, workflow, p)
	if err != nil {
		return version, false, err
	}
	if err := q.ForgetEditors(ctx, who.Team, workflow.Name, version.Text); err != nil {
		return version, false, fmt.Errorf("begin the draft of %s anew: %w", workflow.Name, err)
	}
	if sameVersion(&version.Version, workflow.PublishedVersion) {
		if novelty == nothingNew {
			return version, false, nil
		}
		return version, false, p.record(ctx, q, who, workflow, version, novelty)
	}
	if err := q.SetPublished(ctx, &version.Version, cleanText(who.User), who.Team, workflow.Name); err != nil {
		return version, false, fmt.Errorf("publish %s: %w", workflow.Name, err)
	}
	if err := showInLists(ctx, q, who, p.definition); err != nil {
		return version, false, err
	}
	if err := publishTriggers(ctx, q, who, p.definition, version.Version, p.at); err != nil {
		return version, false, err
	}
	return version, novelty == newContent, p.record(ctx, q, who, workflow, version, novelty)
}

// record leaves the line of the audit.
func (p publication) record(ctx context.Context, q *queries.Queries, who Who, workflow queries.Workflow, version queries.Version, n novelty) error {
	detail := map[string]any{"version": version.Version, "contentHash": version.ContentHash, "message": p.message, "new": n}
	if p.proposal > 0 {
		detail["proposal"] = p.proposal
	}
	return record(ctx, q, who, act{action: "workflow.published", target: workflow.Name, detail: detail,
		before: publishedState(workflow.PublishedVersion), after: publishedState(&version.Version)})
}

// novelty is what a publication has that there was not before.
type novelty string

const (
	newContent novelty = "content" // a version of its own
	newText    novelty = "text"    // comments, tests or places of a version that was there
	nothingNew novelty = "nothing"
)

// publishedState is what the audit compares of a workflow.
func publishedState(version *int32) map[string]any {
	return map[string]any{"version": version}
}

// publishable compiles a text that has no errors, those of its references included.
func (c *catalog) publishable(ctx context.Context, who Who, name string, text []byte) (*flow.Workflow, error) {
	report, references := c.judge(ctx, who, name, text)
	if problems := append(report.Errors, references...); len(problems) > 0 {
		return nil, notPublishable(name, problems)
	}
	definition, err := flow.Load(text)
	if err != nil {
		return nil, fmt.Errorf("compile the text of %s: %w", name, err)
	}
	return definition, nil
}

func notPublishable(name string, problems []flow.Problem) *Error {
	return &Error{Code: "invalid_definition", Problems: problems,
		Message: fmt.Sprintf("the draft of %s has %s; mend it and publish again", name, count(len(problems), "error"))}
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// versionFor finds the version with the definition's content and gives it the text, or makes the next one.
func versionFor(ctx context.Context, q *queries.Queries, who Who, workflow queries.Workflow, p publication) (queries.Version, novelty, error) {
	known, err := q.VersionByContent(ctx, who.Team, workflow.Name, p.definition.ContentHash)
	if err == nil && bytes.Equal(known.Text, p.text) {
		return known, nothingNew, nil
	}
	if err == nil {
		known, err = q.RewriteVersion(ctx, p.text, who.Team, workflow.Name, known.Version)
		if err != nil {
			return known, nothingNew, fmt.Errorf("store the text of version %d of %s: %w", known.Version, workflow.Name, err)
		}
		return known, newText, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return known, nothingNew, fmt.Errorf("look for the content of %s: %w", workflow.Name, err)
	}
	made, err := q.InsertVersion(ctx, queries.InsertVersionParams{
		TeamID: who.Team, Workflow: workflow.Name, Version: workflow.LastVersion + 1, ContentHash: p.definition.ContentHash,
		Text: p.text, Label: cleanText(p.definition.Version), Message: cleanText(p.message), PublishedBy: cleanText(who.User)})
	if err != nil {
		return made, nothingNew, fmt.Errorf("store version %d of %s: %w", workflow.LastVersion+1, workflow.Name, err)
	}
	return made, newContent, nil
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
		return record(ctx, q, who, act{action: "workflow.unpublished", target: name, before: publishedState(workflow.PublishedVersion), after: publishedState(nil)})
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
