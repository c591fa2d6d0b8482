package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/queries"
)

// Policy is what a team demands of its workflows. The zero value demands nothing.
type Policy struct {
	RequireReview         bool         `json:"requireReview"`         // publishing goes through an approved proposal
	RequiredApprovals     int          `json:"requiredApprovals"`     // of a proposal; above 0 it requires a review too
	AllowSelfApproval     bool         `json:"allowSelfApproval"`     // authors and editors may approve their own change
	AllowUnsignedWebhooks bool         `json:"allowUnsignedWebhooks"` // webhooks without auth
	AllowedActivityTypes  []string     `json:"allowedActivityTypes"`  // empty = all
	EgressAllow           []string     `json:"egressAllow"`           // address ranges that activities may reach, within what the server permits; empty = all of it
	ExecutionRetention    string       `json:"executionRetention"`    // duration; "" = as each definition says
	SchedulingWeight      int          `json:"schedulingWeight"`      // turns for one of another team under weighted_fair; 0 = 1
	Limits                PolicyLimits `json:"limits"`
}

// PolicyLimits bound what a team may use; 0 = no limit.
type PolicyLimits struct {
	OpenExecutions int `json:"openExecutions"` // of the team at one time
	Activities     int `json:"activities"`     // of one definition
}

// PolicyChange changes the fields that are given.
type PolicyChange struct {
	RequireReview         *bool               `json:"requireReview"`
	RequiredApprovals     *int                `json:"requiredApprovals"`
	AllowSelfApproval     *bool               `json:"allowSelfApproval"`
	AllowUnsignedWebhooks *bool               `json:"allowUnsignedWebhooks"`
	AllowedActivityTypes  *[]string           `json:"allowedActivityTypes"`
	EgressAllow           *[]string           `json:"egressAllow"`
	ExecutionRetention    *string             `json:"executionRetention"`
	SchedulingWeight      *int                `json:"schedulingWeight"`
	Limits                *PolicyLimitsChange `json:"limits"`
}

// PolicyLimitsChange changes the limits that are given.
type PolicyLimitsChange struct {
	OpenExecutions *int `json:"openExecutions"`
	Activities     *int `json:"activities"`
}

const (
	mostApprovals      = 20
	shortestRetention  = 24 * time.Hour
	largestWeight      = 1000
	largestPolicyLimit = 1_000_000_000
)

// Approvals is how many approvals a proposal needs.
func (p Policy) Approvals() int {
	if p.RequireReview {
		return max(1, p.RequiredApprovals)
	}
	return p.RequiredApprovals
}

// Allows reports whether activities of a type may run.
func (p Policy) Allows(activityType string) bool {
	return len(p.AllowedActivityTypes) == 0 || slices.Contains(p.AllowedActivityTypes, activityType)
}

// Retention is how long ended executions stay at least; 0 = as each definition says.
func (p Policy) Retention() time.Duration {
	kept, _ := expr.ParseDuration(p.ExecutionRetention)
	return kept
}

// with is the policy after a change.
func (p Policy) with(change PolicyChange) Policy {
	set(&p.RequireReview, change.RequireReview)
	set(&p.RequiredApprovals, change.RequiredApprovals)
	set(&p.AllowSelfApproval, change.AllowSelfApproval)
	set(&p.AllowUnsignedWebhooks, change.AllowUnsignedWebhooks)
	set(&p.AllowedActivityTypes, change.AllowedActivityTypes)
	set(&p.EgressAllow, change.EgressAllow)
	set(&p.ExecutionRetention, change.ExecutionRetention)
	set(&p.SchedulingWeight, change.SchedulingWeight)
	if limits := change.Limits; limits != nil {
		set(&p.Limits.OpenExecutions, limits.OpenExecutions)
		set(&p.Limits.Activities, limits.Activities)
	}
	return p
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// check refuses what makes no sense, each problem at the JSON pointer of its field.
func (p Policy) check() error {
	var problems []flow.Problem
	wrong := func(field, format string, args ...any) {
		problems = append(problems, flow.Problem{Path: "/" + field, Code: "invalid_input", Severity: "error", Message: fmt.Sprintf(format, args...)})
	}
	if p.RequiredApprovals < 0 || p.RequiredApprovals > mostApprovals {
		wrong("requiredApprovals", "must be a whole number from 0 to %d", mostApprovals)
	}
	for i, kind := range p.AllowedActivityTypes {
		if !slices.Contains(flow.ActivityTypes(), kind) {
			wrong(fmt.Sprintf("allowedActivityTypes/%d", i), "%q is no type of activity; the types are %s", kind, strings.Join(flow.ActivityTypes(), ", "))
		}
	}
	for i, text := range p.EgressAllow {
		if egress, err := activity.ParseEgress(text); err != nil || len(egress.Allow) != 1 {
			wrong(fmt.Sprintf("egressAllow/%d", i), "%q is no address range; write 10.1.0.0/16 or a single address", text)
		}
	}
	if text := p.ExecutionRetention; text != "" {
		if kept, err := expr.ParseDuration(text); err != nil || kept < shortestRetention {
			wrong("executionRetention", "must be a duration of at least 1d, such as 90d, or \"\" for what each definition says")
		}
	}
	if p.SchedulingWeight < 0 || p.SchedulingWeight > largestWeight {
		wrong("schedulingWeight", "must be a whole number from 0 to %d", largestWeight)
	}
	for field, value := range map[string]int{"openExecutions": p.Limits.OpenExecutions, "activities": p.Limits.Activities} {
		if value < 0 || value > largestPolicyLimit {
			wrong("limits/"+field, "must be a whole number from 0 (no limit) to %d", largestPolicyLimit)
		}
	}
	if len(problems) > 0 {
		return &Error{Code: "invalid_input", Message: "the policy cannot be like this: " + problems[0].Path[1:] + " " + problems[0].Message, Problems: problems}
	}
	return nil
}

func readPolicy(content json.RawMessage) (Policy, error) {
	policy := Policy{}
	if err := json.Unmarshal(content, &policy); err != nil {
		return Policy{}, fmt.Errorf("read the policy of the team: %w", err)
	}
	if policy.AllowedActivityTypes == nil {
		policy.AllowedActivityTypes = []string{}
	}
	if policy.EgressAllow == nil {
		policy.EgressAllow = []string{}
	}
	return policy, nil
}

// usableBy reports whether a workflow is among those that a list of patterns names; empty = all.
func usableBy(patterns []string, workflow string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, workflow)
		return err == nil && matches
	})
}

const mostPatterns = 100

// checkPatterns refuses what no name of a workflow could match, and sorts the rest.
func checkPatterns(patterns []string) ([]string, error) {
	if len(patterns) > mostPatterns {
		return nil, Refuse("invalid_input", fmt.Sprintf("usableBy may have %d entries", mostPatterns))
	}
	clean := []string{}
	for _, pattern := range patterns {
		pattern = strings.TrimSpace(pattern)
		if !workflowName.MatchString(strings.ReplaceAll(strings.ReplaceAll(pattern, "*", "x"), "?", "x")) {
			return nil, Refuse("invalid_input", fmt.Sprintf("usableBy: %q is neither a name of a workflow nor a pattern such as billing-*", pattern))
		}
		clean = append(clean, pattern)
	}
	slices.Sort(clean)
	return slices.Compact(clean), nil
}

// policies knows the policy of each team; what runs asks it before each attempt, so it remembers an answer
// for a short while.
type policies struct {
	db queries.Pool
	q  *queries.Queries

	mu    sync.Mutex
	known map[uuid.UUID]knownPolicy
}

type knownPolicy struct {
	policy Policy
	until  time.Time
}

// policyAge is how old the policy may be that an attempt is checked against, on a replica that did not make
// the change itself.
const policyAge = time.Second

func newPolicies(db queries.Pool) *policies {
	return &policies{db: db, q: queries.New(db), known: map[uuid.UUID]knownPolicy{}}
}

// of answers the policy of a team, at most policyAge old.
func (p *policies) of(ctx context.Context, team uuid.UUID) (Policy, error) {
	p.mu.Lock()
	kept, ok := p.known[team]
	p.mu.Unlock()
	if ok && time.Now().Before(kept.until) {
		return kept.policy, nil
	}
	return p.read(ctx, team)
}

// read answers the policy as it is now.
func (p *policies) read(ctx context.Context, team uuid.UUID) (Policy, error) {
	content, err := p.q.TeamPolicy(ctx, team)
	if errors.Is(err, pgx.ErrNoRows) {
		return Policy{}, Refuse("not_found", "there is no such team")
	}
	if err != nil {
		return Policy{}, fmt.Errorf("read the policy of the team: %w", err)
	}
	policy, err := readPolicy(content)
	if err == nil {
		p.keep(team, policy)
	}
	return policy, err
}

func (p *policies) keep(team uuid.UUID, policy Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[team] = knownPolicy{policy, time.Now().Add(policyAge)}
}

// lockPolicy reads the policy and holds it until the transaction ends.
func lockPolicy(ctx context.Context, q *queries.Queries, team uuid.UUID) (Policy, error) {
	content, err := q.LockTeamPolicy(ctx, team)
	if err != nil {
		return Policy{}, fmt.Errorf("read the policy of the team: %w", err)
	}
	return readPolicy(content)
}

// ChangePolicy changes the fields that are given; keys that this version does not know stay.
func (p *policies) ChangePolicy(ctx context.Context, who Who, change PolicyChange) (Policy, error) {
	var after Policy
	err := inTx(ctx, p.db, func(q *queries.Queries) error {
		content, err := q.LockTeamForChange(ctx, who.Team)
		if err != nil {
			return fmt.Errorf("lock the team: %w", err)
		}
		before, err := readPolicy(content)
		if err != nil {
			return err
		}
		after = before.with(change)
		if err := after.check(); err != nil {
			return err
		}
		if reflect.DeepEqual(before, after) {
			return nil
		}
		if content, err = merged(content, after); err != nil {
			return err
		}
		if err := q.SetTeamPolicy(ctx, content, who.Team); err != nil {
			return fmt.Errorf("keep the policy: %w", err)
		}
		return record(ctx, q, who, act{action: "policy.changed", target: who.TeamName, before: before, after: after})
	})
	if err == nil {
		p.keep(who.Team, after)
	}
	return after, err
}

// merged writes a policy over stored keys.
func merged(stored json.RawMessage, policy Policy) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(stored, &all); err != nil {
		return nil, fmt.Errorf("read the stored policy: %w", err)
	}
	content, err := json.Marshal(policy)
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("write the policy: %w", err)
	}
	return json.Marshal(all)
}
