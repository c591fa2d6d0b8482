package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
	"weftline/queries"
)

// Codes of problems of triggers that only a server can see.
const (
	codeSchedule = "E605" // a schedule that this server cannot keep
	codeWebhook  = "E606" // a webhook's path that cannot be served
	codeUnsigned = "E607" // a webhook without auth where the team does not allow it
)

var hookPath = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

const longestPath = 200 // bytes of a webhook's path

// normalPath is a webhook's path without slashes around it.
func normalPath(path string) string { return strings.Trim(path, "/") }

// triggerProblems finds triggers that could not work on this server.
func (c *catalog) triggerProblems(ctx context.Context, who Who, workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	add := func(code, path string, at flow.Pos, message, hint string) {
		problems = append(problems, flow.Problem{Path: path, Pos: at, Code: code, Severity: "error", Message: message, Hint: hint})
	}
	for i, trigger := range workflow.Schedules {
		if _, err := specOf(trigger).plan(""); err != nil {
			text, _ := refusal(err)
			add(codeSchedule, fmt.Sprintf("spec.schedule[%d]", i), trigger.Pos, text, "mend the schedule")
		}
	}
	seen := map[string]bool{}
	for i, hook := range workflow.Webhooks {
		at, path := fmt.Sprintf("spec.webhooks[%d].path", i), normalPath(hook.Path)
		if !hookPath.MatchString(path) || len(path) > longestPath {
			add(codeWebhook, at, hook.PathPos, fmt.Sprintf("%q is not a path of a webhook", hook.Path), "use letters, digits, . _ ~ - and / between them, at most 200, for example /orders/new")
		}
		if seen[path] {
			add(codeWebhook, at, hook.PathPos, fmt.Sprintf("the path %q is used twice", hook.Path), "give each webhook a path of its own")
		}
		seen[path] = true
		if hook.AuthType == "none" && !c.allowsUnsigned(ctx, who) {
			add(codeUnsigned, fmt.Sprintf("spec.webhooks[%d].auth", i), hook.AuthPos, "anybody could start this workflow: the webhook has no auth, and the policy of the team does not allow that",
				"add auth: {type: hmac_sha256, secret: NAME}, or let an admin set the policy allowUnsignedWebhooks")
		}
	}
	return problems
}

// allowsUnsigned reads the team's policy; when it cannot be read, the answer is no.
func (c *catalog) allowsUnsigned(ctx context.Context, who Who) bool {
	allows, err := c.q.AllowsUnsignedWebhooks(ctx, who.Team)
	return err == nil && allows
}

// publishTriggers makes the triggers of a definition those of its workflow, in the transaction that
// publishes it.
func publishTriggers(ctx context.Context, q *queries.Queries, who Who, definition *flow.Workflow, version int32, now time.Time) error {
	if err := publishSchedules(ctx, q, who, definition, version, now); err != nil {
		return fmt.Errorf("publish the schedules of %s: %w", definition.Name, err)
	}
	if err := publishWebhooks(ctx, q, who, definition, version); err != nil {
		return err
	}
	if err := q.DeleteEventTriggers(ctx, who.Team, definition.Name); err != nil {
		return fmt.Errorf("replace the event triggers of %s: %w", definition.Name, err)
	}
	for i, event := range definition.Events {
		err := q.InsertEventTrigger(ctx, queries.InsertEventTriggerParams{TeamID: who.Team, Name: cleanText(event.Name),
			Workflow: definition.Name, Version: version, Place: int32(i)})
		if err != nil {
			return fmt.Errorf("publish the event triggers of %s: %w", definition.Name, err)
		}
	}
	return nil
}

// unpublishTriggers stops all triggers of a definition.
func unpublishTriggers(ctx context.Context, q *queries.Queries, who Who, workflow string) error {
	if err := q.DeletePublishedSchedules(ctx, who.Team, workflow, 0); err != nil {
		return fmt.Errorf("stop the schedules of %s: %w", workflow, err)
	}
	if err := q.DeleteWebhooks(ctx, who.Team, workflow); err != nil {
		return fmt.Errorf("stop the webhooks of %s: %w", workflow, err)
	}
	if err := q.DeleteEventTriggers(ctx, who.Team, workflow); err != nil {
		return fmt.Errorf("stop the event triggers of %s: %w", workflow, err)
	}
	return nil
}

// publishSchedules replaces the schedules of a definition place by place. One that says the same as before
// goes on as it is: publishing neither loses a tick nor ends a pause.
func publishSchedules(ctx context.Context, q *queries.Queries, who Who, definition *flow.Workflow, version int32, now time.Time) error {
	before, err := q.LockPublishedSchedules(ctx, who.Team, definition.Name)
	if err != nil {
		return err
	}
	for i, trigger := range definition.Schedules {
		if i < len(before) {
			err = replaceSchedule(ctx, q, before[i], trigger, version, now)
		} else {
			err = insertSchedule(ctx, q, who, definition.Name, int32(i), trigger, version, now)
		}
		if err != nil {
			return err
		}
	}
	return q.DeletePublishedSchedules(ctx, who.Team, definition.Name, int32(len(definition.Schedules)))
}

func replaceSchedule(ctx context.Context, q *queries.Queries, row queries.Schedule, trigger flow.ScheduleTrigger, version int32, now time.Time) error {
	change := queries.UpdateScheduleParams{ID: row.ID, Spec: row.Spec, Paused: row.Paused, Version: &version, PlannedAt: row.PlannedAt, DueAt: row.DueAt}
	spec := specOf(trigger)
	if spec != storedSpec(row) {
		var err error
		if change.Spec, err = json.Marshal(spec); err != nil {
			return err
		}
		change.Paused = trigger.Paused
		if change.PlannedAt, change.DueAt, err = firstTick(row.ID, spec, trigger.Paused, now); err != nil {
			return err
		}
	}
	_, err := q.UpdateSchedule(ctx, change)
	return err
}

func insertSchedule(ctx context.Context, q *queries.Queries, who Who, workflow string, place int32, trigger flow.ScheduleTrigger, version int32, now time.Time) error {
	row := queries.InsertScheduleParams{ID: uuid.Must(uuid.NewV7()), TeamID: who.Team, Workflow: workflow, Place: &place, Version: &version,
		Paused: trigger.Paused, CreatedBy: cleanText(who.User)}
	spec := specOf(trigger)
	var err error
	if row.Spec, err = json.Marshal(spec); err != nil {
		return err
	}
	if row.PlannedAt, row.DueAt, err = firstTick(row.ID, spec, trigger.Paused, now); err != nil {
		return err
	}
	_, err = q.InsertSchedule(ctx, row)
	return err
}

// publishWebhooks takes the paths of a definition; one that another workflow has is a conflict.
func publishWebhooks(ctx context.Context, q *queries.Queries, who Who, definition *flow.Workflow, version int32) error {
	if err := q.DeleteWebhooks(ctx, who.Team, definition.Name); err != nil {
		return fmt.Errorf("replace the webhooks of %s: %w", definition.Name, err)
	}
	for i, hook := range definition.Webhooks {
		path := normalPath(hook.Path)
		made, err := q.InsertWebhook(ctx, queries.InsertWebhookParams{TeamID: who.Team, Path: path, Workflow: definition.Name, Version: version, Place: int32(i)})
		if err != nil {
			return fmt.Errorf("publish the webhooks of %s: %w", definition.Name, err)
		}
		if made == 0 {
			owner, err := q.WebhookOwner(ctx, who.Team, path)
			if err != nil {
				return fmt.Errorf("find the owner of the path %s: %w", path, err)
			}
			return Refuse("conflict", fmt.Sprintf("the webhook path /%s belongs to the workflow %s: choose another, or unpublish that workflow", path, owner))
		}
	}
	return nil
}
