package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/queries"
)

// Where the policy of a team acts: on what is published, on what starts, and on each attempt.

// Codes of problems that come from the policy of the team.
const (
	codeForbiddenType = "E609" // an activity type that the team does not allow
	codeNotUsable     = "E610" // a secret or connection that is for other workflows
	codeTooMany       = "E611" // more activities than the team allows
)

// atStart is the place of what concerns the whole text.
var atStart = flow.Pos{Line: 1, Column: 1, EndLine: 1, EndColumn: 1}

// policyProblems finds what the policy of the team does not allow in a definition. When the policy cannot be
// read, nothing is allowed.
func (c *catalog) policyProblems(ctx context.Context, who Who, workflow *flow.Workflow) []flow.Problem {
	policy, err := c.policies.of(ctx, who.Team)
	if err != nil {
		return []flow.Problem{{Path: "spec", Pos: atStart, Code: codeForbiddenType, Severity: "error", Message: "the policy of the team could not be read: " + err.Error()}}
	}
	return append(policy.problems(workflow), c.notUsable(ctx, who, workflow)...)
}

// problems finds what the policy does not allow in a definition by itself.
func (p Policy) problems(workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	count, last := 0, atStart
	for path, step := range everyActivity(workflow) {
		count++
		if count <= p.Limits.Activities+1 {
			last = step.Pos
		}
		if !p.Allows(step.Type) {
			problems = append(problems, flow.Problem{Path: path + ".type", Pos: step.Pos, Code: codeForbiddenType, Severity: "error",
				Message: fmt.Sprintf("the team does not allow activities of type %s; it allows %s", step.Type, strings.Join(p.AllowedActivityTypes, ", ")),
				Hint:    "use another type, or let an admin change the policy allowedActivityTypes"})
		}
	}
	if most := p.Limits.Activities; most > 0 && count > most {
		problems = append(problems, flow.Problem{Path: "spec.activities", Pos: last, Code: codeTooMany, Severity: "error",
			Message: fmt.Sprintf("the definition has %d activities, the team allows %d", count, most), Hint: "move parts into child workflows"})
	}
	return problems
}

// use is one place of a definition that names a secret or a connection.
type use struct {
	path string
	pos  flow.Pos
}

// uses finds every secret and connection that a definition names, with its places.
func uses(workflow *flow.Workflow) (secrets, connections map[string][]use) {
	secrets, connections = map[string][]use{}, map[string][]use{}
	for path, step := range everyActivity(workflow) {
		for _, name := range execution.SecretsOf(step) {
			secrets[name] = append(secrets[name], use{path + ".inputs", step.Pos})
		}
		if name, _ := activity.ConnectionOf(step); name != "" {
			connections[name] = append(connections[name], use{path + ".inputs.connection", step.Pos})
		}
	}
	for i, hook := range workflow.Webhooks {
		if hook.Secret != "" {
			secrets[hook.Secret] = append(secrets[hook.Secret], use{fmt.Sprintf("spec.webhooks[%d].auth.secret", i), hook.AuthPos})
		}
	}
	return secrets, connections
}

// notUsable finds secrets and connections that are there for other workflows only.
func (c *catalog) notUsable(ctx context.Context, who Who, workflow *flow.Workflow) []flow.Problem {
	secrets, connections := uses(workflow)
	if len(secrets)+len(connections) == 0 {
		return nil
	}
	limits, err := c.q.LimitsOfUse(ctx, who.Team, slices.Collect(maps.Keys(secrets)), slices.Collect(maps.Keys(connections)))
	if err != nil {
		return []flow.Problem{{Path: "spec", Pos: atStart, Code: codeNotUsable, Severity: "error", Message: "what the workflow may use could not be looked up: " + err.Error()}}
	}
	var problems []flow.Problem
	for _, limit := range limits {
		if usableBy(limit.UsableBy, workflow.Name) {
			continue
		}
		places := secrets[limit.Name]
		if limit.Kind == "connection" {
			places = connections[limit.Name]
		}
		for _, at := range places {
			problems = append(problems, flow.Problem{Path: at.path, Pos: at.pos, Code: codeNotUsable, Severity: "error",
				Message: fmt.Sprintf("the %s %s is not for the workflow %s", limit.Kind, limit.Name, workflow.Name),
				Hint:    fmt.Sprintf("use another %s, or let an admin add %s to its usableBy", limit.Kind, workflow.Name)})
		}
	}
	return problems
}

// permit checks an attempt against the policy of its team as it is now; a refusal is audited. A policy that
// cannot be read is a fault of this server, after which the attempt is made again.
func (e *Engine) permit(ctx context.Context, team, id uuid.UUID, w execution.Work) *execution.Error {
	policy, err := e.policies.of(ctx, team)
	if err != nil {
		return &execution.Error{Type: "engine.policy", Class: "infrastructure", Message: "the policy of the team cannot be read: " + err.Error()}
	}
	if policy.Allows(w.Type) {
		return nil
	}
	who := Who{Team: team, User: "engine"}
	err = inTx(ctx, e.db, func(q *queries.Queries) error {
		return audit(ctx, q, who, "activity.refused", id.String(), map[string]any{"activity": w.Activity, "item": w.Item, "type": w.Type, "policy": "allowedActivityTypes"})
	})
	if err != nil {
		return &execution.Error{Type: "engine.policy", Class: "infrastructure", Message: "the refusal cannot be audited: " + err.Error()}
	}
	return &execution.Error{Type: "policy.activity_type", Class: "activity",
		Message: fmt.Sprintf("the policy of the team does not allow activities of type %s (any more); it allows %s", w.Type, strings.Join(policy.AllowedActivityTypes, ", "))}
}

// room refuses starts beyond the open executions that the team may have. Starts at the same moment may pass it
// by a few.
func (r *runs) room(ctx context.Context, team uuid.UUID, starts int) error {
	policy, err := r.policies.of(ctx, team)
	if err != nil {
		return err
	}
	most := policy.Limits.OpenExecutions
	if most == 0 {
		return nil
	}
	open, err := r.q.CountOpenExecutions(ctx, team, int32(most))
	if err != nil {
		return fmt.Errorf("count the open executions of the team: %w", err)
	}
	if int(open)+starts > most {
		return Refuse("limit_reached", fmt.Sprintf("the team may have %d open executions and has %d: wait for some to end, or let an admin raise the policy limits.openExecutions", most, open))
	}
	return nil
}
