// Package activity owns the kinds of activity that a worker runs: one file a kind, and the registry that
// finds a kind by its type. A kind does one attempt and says what it came to; it must not know retries,
// histories, storage or who called. Types that the engine drives by itself (human, wait, event, switch,
// set, for_each, workflow, fail, end) are no kinds of this package.
package activity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Call is one attempt to be made. Input holds plain JSON values (nil, bool, int64, float64, string, []any,
// map[string]any). IdempotencyKey is the same for all attempts of an activity.
type Call struct {
	Type           string
	Input          any
	Attempt        int
	IdempotencyKey string
	MaxMemory      int64 // bytes that the attempt may take; 0 = as the kind says

	Execution, Workflow, Activity, Item, CorrelationID, Team string

	Secrets   []string // values that the input holds and no outcome and no log may show
	Sensitive []string // values that no log may show
	Shown     any      // the input as people may see it

	connect func(ctx context.Context, name string) (Connection, error) // of the team; set by the registry

	files Files                    // of the team; set by the registry
	clean func(text string) string // hides the secrets of the call and of the connections used so far; set by the registry

	Log func(stream, line string) // for people who watch: stdout, stderr or system; nil = nobody does
}

// Outcome is what an attempt came to: Value in the shape of the type's result, or Err. RetryAfter is what
// the other side asked for, 0 when it did not.
type Outcome struct {
	Value      any
	Err        *execution.Error
	RetryAfter time.Duration
}

// Classes of error.
const (
	classActivity       = "activity"       // the definition, or what it was given
	classExternal       = "external"       // the other side
	classInfrastructure = "infrastructure" // this machine
)

// fail makes the outcome of an attempt that did not succeed.
func fail(kind, class string, detail any, format string, args ...any) Outcome {
	return Outcome{Err: &execution.Error{Type: kind, Class: class, Message: fmt.Sprintf(format, args...), Detail: detail}}
}

// Runner runs attempts of one type. Run returns soon after ctx ends; an attempt that ran out of time is the
// error timeout.attempt. It must be safe for use by many goroutines.
type Runner interface {
	Run(ctx context.Context, call Call) Outcome
}

// Particular is a Runner that cannot run every activity of its type. Unable says why it cannot run one with
// these inputs, "" when it can.
type Particular interface {
	Unable(inputs *expr.Value) string
}

// Multilingual is a Runner whose activities differ by the language that they are written in.
type Multilingual interface {
	Languages() []string
}

// Registry finds the runner of a type. It is filled before use and only read afterwards.
type Registry struct {
	runners     map[string]Runner
	connections Connections // nil = there are none
	reach       Reach       // nil = no team narrows anything
	files       Files       // nil = there are none
}

// Reach answers the address ranges that a team allows itself; nil = whatever the server permits.
type Reach func(ctx context.Context, team string) ([]netip.Prefix, error)

// Narrow sets who knows what teams allow themselves.
func (r *Registry) Narrow(reach Reach) { r.reach = reach }

// NewRegistry makes an empty one.
func NewRegistry() *Registry { return &Registry{runners: map[string]Runner{}} }

// Register says who runs a type; a type has one runner.
func (r *Registry) Register(kind string, runner Runner) {
	if _, taken := r.runners[kind]; taken {
		panic("activity type " + kind + " is registered twice")
	}
	r.runners[kind] = runner
}

// Unable says why an activity cannot be run here, and what to do; "" when it can.
func (r *Registry) Unable(activity *flow.Activity) string {
	runner, ok := r.runners[activity.Type]
	if !ok {
		return "none of its workers knows the type " + activity.Type + "; start a worker that does, or use another type"
	}
	if particular, ok := runner.(Particular); ok {
		return particular.Unable(activity.Inputs)
	}
	return ""
}

// Mistakes says what is wrong with the code in activities, as far as somebody here can read it.
func (r *Registry) Mistakes(ctx context.Context, code []flow.Code) []flow.Problem {
	if reader, ok := r.runners[flow.TypeScript].(Reader); ok && len(code) > 0 {
		return reader.Mistakes(ctx, code)
	}
	return nil
}

// Types lists what can be run here, sorted.
func (r *Registry) Types() []string {
	var types []string
	for kind := range r.runners {
		types = append(types, kind)
	}
	slices.Sort(types)
	return types
}

// Abilities are what can be run here in the words of Need, sorted.
func (r *Registry) Abilities() []string {
	var abilities []string
	for kind, runner := range r.runners {
		multilingual, ok := runner.(Multilingual)
		if !ok {
			abilities = append(abilities, kind)
			continue
		}
		for _, language := range multilingual.Languages() {
			abilities = append(abilities, kind+"/"+language)
		}
	}
	slices.Sort(abilities)
	return abilities
}

// Need is what a worker must be able to do to make an attempt: worker/<task>, script/<language>, or the type.
func Need(kind string, input any) string {
	fields, _ := input.(map[string]any)
	switch kind {
	case flow.TypeWorker:
		task, _ := fields["task"].(string)
		return RemoteTask(task)
	case flow.TypeScript:
		language, _ := fields["language"].(string)
		return kind + "/" + cmp.Or(language, javascript)
	}
	return kind
}

// NeedOf is the need of an activity as its definition says it.
func NeedOf(activity *flow.Activity) string {
	return Need(activity.Type, map[string]any{"language": literalInput(activity.Inputs, "language"), "task": literalInput(activity.Inputs, "task")})
}

// RemoteTask is the need of a task that remote workers register for.
func RemoteTask(name string) string { return flow.TypeWorker + "/" + name }

// Run makes one attempt; the secrets of its input and of the connections it uses are masked in what comes of
// it. A type without a runner is the failure engine.unsupported_type: publishing refuses such definitions, so
// this happens only when a server lost a kind it had.
func (r *Registry) Run(ctx context.Context, call Call) Outcome {
	runner, ok := r.runners[call.Type]
	if !ok {
		return fail("engine.unsupported_type", classActivity, nil,
			"this worker cannot run activities of type %s; run it on a worker that can", call.Type)
	}
	mask := &mask{secrets: slices.Clone(call.Secrets)}
	if r.connections != nil {
		call.connect = func(ctx context.Context, name string) (Connection, error) {
			connection, err := r.connections(ctx, call.Team, call.Workflow, name)
			mask.add(slices.Collect(maps.Values(connection.Secrets)))
			return connection, err
		}
	}
	call.files = r.files
	if r.reach != nil {
		ranges, err := r.reach(ctx, call.Team)
		if err != nil {
			return fail("engine.policy", classInfrastructure, nil, "the policy of the team cannot be read: %s", err)
		}
		ctx = WithReach(ctx, ranges)
	}
	call.clean = mask.text
	if log := call.Log; log != nil {
		sensitive := execution.NewScrubber(call.Sensitive)
		call.Log = func(stream, line string) { log(stream, sensitive.Text(mask.text(line))) }
	}
	outcome := runner.Run(ctx, call)
	return mask.outcome(outcome)
}
