package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/instants"
	"weftline/engine/seal"
	"weftline/engine/store"
)

const (
	largestBatch = 1000
	longestText  = 255              // of correlation ids, keys, labels, in bytes
	commitWithin = 30 * time.Second // a start waits so long for the database
)

// Start starts one execution. What it answers is durable.
func (r *runs) Start(ctx context.Context, who Who, request StartRequest) (Started, error) {
	definition, err := Again(ctx, func() (*store.Definition, error) { return r.startable(ctx, who, request.Workflow, request.Version) })
	if err != nil {
		return Started{}, err
	}
	key, err := startKey(request)
	if err != nil {
		return Started{}, err
	}
	return r.startOnce(ctx, who, definition, request, key)
}

// startOnce starts an execution, or answers the one that the key started before.
func (r *runs) startOnce(ctx context.Context, who Who, definition *store.Definition, request StartRequest, key *store.StartKey) (Started, error) {
	start, err := r.prepare(ctx, who, definition, request)
	if err != nil {
		return Started{}, err
	}
	if answer, found, err := r.startedBefore(ctx, who, request.Workflow, key); found || err != nil {
		return answer, err
	}
	if err := again(ctx, func() error { return r.admit(ctx, who.Team, 1) }); err != nil {
		return Started{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitWithin)
	defer cancel()
	answer, err := r.begin(ctx, who, definition, start, key)
	if errors.Is(err, store.ErrDuplicate) {
		answer, _, err = r.startedBefore(ctx, who, request.Workflow, key)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Started{}, &Error{Code: "not_ready", Message: "the database did not answer; the execution may have been started", RetryAfterSeconds: 5}
	}
	return answer, err
}

// admit refuses n starts that the team's policy does not allow, and holds back what the queue has no room for.
func (r *runs) admit(ctx context.Context, team uuid.UUID, n int) error {
	if err := r.room(ctx, team, n); err != nil {
		return err
	}
	return r.gauge.admit(ctx)
}

func (r *runs) begin(ctx context.Context, who Who, definition *store.Definition, start execution.Start, key *store.StartKey) (Started, error) {
	own := !r.Pressure().On() && r.pool.Reserve(start.ID, who.TeamName, definition)
	owned := false
	defer func() {
		if own && !owned {
			r.pool.Unreserve()
		}
	}()
	answer := Started{ID: start.ID, Workflow: definition.Name, Version: definition.Number}
	var begun *store.Loaded
	var flush *store.Flush
	prepare := func(waits bool) (_ *store.Flush, err error) {
		start.NeedsPermit = waits
		if begun, flush, err = r.pool.Begin(ctx, who.Team, definition, start, own); err != nil {
			return nil, err
		}
		flush.Begin.Key = key
		return flush, asked(who, flush, definition)
	}
	admission, err := r.write(ctx, who, definition, start, prepare)
	switch {
	case err != nil:
		return Started{}, err
	case admission == store.Skipped:
		return Started{Workflow: definition.Name, Version: definition.Number, Skipped: true}, nil
	case admission == store.Rejected:
		return Started{}, Refuse("limit_reached", fmt.Sprintf("workflow %s runs as often as its limit of %d allows", definition.Name, definition.Limits.MaxConcurrent))
	}
	answer.Status = flush.Begin.Status
	r.pool.Begun(begun, flush)
	if flush.Begin.Owned {
		owned = true
		r.pool.Drive(begun)
	}
	return answer, nil
}

// write makes a start durable, through the limit of its workflow if there is one.
func (r *runs) write(ctx context.Context, who Who, definition *store.Definition, start execution.Start, prepare func(bool) (*store.Flush, error)) (store.Admission, error) {
	limit, err := limitOf(definition, start)
	if err != nil {
		return "", err
	}
	if limit == nil {
		flush, err := prepare(false)
		if err != nil {
			return "", err
		}
		_, err = r.store.Commit(ctx, flush)
		return store.Admitted, err
	}
	return r.store.BeginLimited(ctx, who.Team, *limit, prepare)
}

// StartBatch starts up to 1,000 executions of one workflow, all or none, and answers their ids in order.
func (r *runs) StartBatch(ctx context.Context, who Who, workflow string, version int, items []StartRequest) ([]uuid.UUID, error) {
	if len(items) == 0 || len(items) > largestBatch {
		return nil, Refuse("bad_request", fmt.Sprintf("a batch has 1 to %d items, not %d", largestBatch, len(items)))
	}
	definition, err := r.startable(ctx, who, workflow, version)
	if err != nil {
		return nil, err
	}
	if err := r.admit(ctx, who.Team, len(items)); err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(items))
	var begun []*store.Loaded
	var flushes []*store.Flush
	for i, item := range items {
		item.Workflow, item.Version = workflow, version
		id, l, flush, err := r.batchItem(ctx, who, definition, item)
		if err != nil {
			return nil, inItem(i, err)
		}
		ids[i] = id
		if flush != nil {
			begun, flushes = append(begun, l), append(flushes, flush)
		}
	}
	if err := r.store.BeginAll(context.WithoutCancel(ctx), flushes); err != nil {
		if errors.Is(err, store.ErrDuplicate) {
			return nil, Refuse("conflict", "an idempotency key of the batch was used at the same moment, or twice in it: send it again")
		}
		return nil, err
	}
	for i, flush := range flushes {
		r.pool.Begun(begun[i], flush)
	}
	return ids, nil
}

// batchItem prepares one item; the flush is nil for one that its key started before.
func (r *runs) batchItem(ctx context.Context, who Who, definition *store.Definition, item StartRequest) (uuid.UUID, *store.Loaded, *store.Flush, error) {
	start, err := r.prepare(ctx, who, definition, item)
	if err != nil {
		return uuid.Nil, nil, nil, err
	}
	key, err := startKey(item)
	if err != nil {
		return uuid.Nil, nil, nil, err
	}
	if answer, found, err := r.startedBefore(ctx, who, item.Workflow, key); found || err != nil {
		return answer.ID, nil, nil, err
	}
	start.NeedsPermit = definition.Limits.MaxConcurrent > 0
	l, flush, err := r.pool.Begin(ctx, who.Team, definition, start, false)
	if err != nil {
		return uuid.Nil, nil, nil, err
	}
	flush.Begin.Key = key
	if err := asked(who, flush, definition); err != nil {
		return uuid.Nil, nil, nil, err
	}
	return start.ID, l, flush, r.pool.AskForSlot(flush, definition, start)
}

// asked gives a start by a person its line of the audit; it never holds the input. What programs start, thousands a
// minute, is told by the histories alone, which name who asked and end with the retention of the execution.
func asked(who Who, flush *store.Flush, definition *store.Definition) error {
	if who.Via != "" {
		return nil
	}
	line, err := act{action: "execution.started", target: flush.Execution.String(), name: definition.Name,
		detail: map[string]any{"version": definition.Number}}.line(who)
	flush.Begin.Audit = &line
	return err
}

func inItem(i int, err error) error {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	placed := *refusal
	placed.Message = fmt.Sprintf("item %d: %s", i, refusal.Message)
	return &placed
}

// startable finds the version to start: 0 is the published one.
func (r *runs) startable(ctx context.Context, who Who, workflow string, version int) (*store.Definition, error) {
	publishedOnly := version == 0
	published, err := r.store.Library.Published(ctx, who.Team, workflow)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, Refuse("not_found", fmt.Sprintf("there is no workflow %s", workflow))
	case errors.Is(err, store.ErrNotPublished):
		return nil, Refuse("not_published", fmt.Sprintf("workflow %s is not published: publish it, then start it", workflow))
	case err != nil:
		return nil, err
	case publishedOnly:
		return published, nil
	}
	definition, err := r.store.Library.Version(ctx, who.Team, workflow, version)
	if errors.Is(err, store.ErrNotFound) {
		return nil, Refuse("not_found", fmt.Sprintf("workflow %s has no version %d", workflow, version))
	}
	return definition, err
}

// prepare checks a request and makes the start of it.
func (r *runs) prepare(ctx context.Context, who Who, definition *store.Definition, request StartRequest) (execution.Start, error) {
	none := execution.Start{}
	if err := r.checkTexts(request); err != nil {
		return none, err
	}
	if err := checkSize("the input", request.Input, r.payloadLimit); err != nil {
		return none, err
	}
	if !r.store.CanSeal() && (request.Sensitive || execution.MarksSensitive(definition.Workflow)) {
		return none, Refuse("conflict", seal.ErrNoKey.Error())
	}
	input, err := checkedInput(definition, request.Input)
	if err != nil {
		return none, err
	}
	if input, err = r.inputFiles(ctx, who, definition, input); err != nil {
		return none, err
	}
	startAt, err := r.startAt(request)
	if err != nil {
		return none, err
	}
	trigger := request.Trigger
	if trigger == nil {
		trigger = map[string]any{"type": "api"}
	}
	return execution.Start{ID: uuid.Must(uuid.NewV7()), Input: input, CorrelationID: request.CorrelationID,
		Priority: request.Priority, StartedBy: who.User, Labels: request.Labels, Trigger: trigger,
		Deadline: request.Deadline, StartAt: startAt, Hidden: request.Hidden, Sensitive: request.Sensitive}, nil
}

func checkedInput(definition *store.Definition, input any) (map[string]any, error) {
	if object, ok := input.(map[string]any); input == nil || ok && object == nil {
		input = map[string]any{}
	}
	checked, problems := definition.Input.Check(input)
	if len(problems) > 0 {
		return nil, &Error{Code: "invalid_input", Message: "the input does not fit the workflow's schema", Problems: problems}
	}
	object, ok := checked.(map[string]any)
	if !ok {
		return nil, Refuse("invalid_input", "the input of a workflow is an object")
	}
	return object, nil
}

// inputFiles checks the files of an input that fits its schema.
func (r *runs) inputFiles(ctx context.Context, who Who, definition *store.Definition, input map[string]any) (map[string]any, error) {
	whole, problems, err := namedFiles(ctx, r.q, who.Team, definition.Input, input)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &Error{Code: "invalid_input", Message: "a file of the input is not accepted", Problems: problems}
	}
	return whole.(map[string]any), nil
}

// startAt is when an execution is to start, nil = at once. Like every other instant that an execution waits for it
// lies no further ahead than execution.LongestWait.
func (r *runs) startAt(request StartRequest) (*time.Time, error) {
	at, now := request.StartAt, r.store.Clock.Now()
	if request.StartAfter != "" {
		if at != nil {
			return nil, Refuse("bad_request", "give startAt or startAfter, not both")
		}
		pause, err := expr.ParseDuration(request.StartAfter)
		if err != nil {
			return nil, Refuse("bad_request", "startAfter: "+err.Error())
		}
		after := now.Add(pause)
		at = &after
	}
	if at != nil && at.Sub(now) > execution.LongestWait {
		return nil, Refuse("bad_request", instants.Text(*at)+" is more than five years away: start it nearer to its time")
	}
	return at, nil
}

func (r *runs) checkTexts(request StartRequest) error {
	switch request.Priority {
	case "", "critical", "high", "normal", "low":
	default:
		return Refuse("bad_request", "priority is one of critical, high, normal, low")
	}
	texts := map[string]string{"correlationId": request.CorrelationID, "idempotencyKey": request.IdempotencyKey}
	for name, value := range request.Labels {
		if name == "" {
			return Refuse("bad_request", "a label has a name")
		}
		texts["the label "+name] = value
		texts["a label's name"] = name
	}
	for what, text := range texts {
		if len(text) > longestText || strings.ContainsRune(text, 0) {
			return Refuse("bad_request", fmt.Sprintf("%s is at most %d bytes of text without NUL", what, longestText))
		}
	}
	return nil
}

// startKey is the key of a request with the hash of all that it says. Of a file it counts what it holds, not under
// which id it was kept: a form that is sent twice keeps its files twice.
func startKey(request StartRequest) (*store.StartKey, error) {
	if request.IdempotencyKey == "" {
		return nil, nil
	}
	request.Input = withoutFileIDs(request.Input)
	said, err := json.Marshal(request)
	if err != nil {
		return nil, Refuse("bad_request", "the request cannot be read: "+err.Error())
	}
	hash := sha256.Sum256(said)
	return &store.StartKey{Key: request.IdempotencyKey, Hash: hash[:]}, nil
}

// withoutFileIDs is a value whose files are known by name, type, size and digest alone.
func withoutFileIDs(value any) any {
	switch v := value.(type) {
	case map[string]any:
		_, file := v[flow.FileKey]
		out := make(map[string]any, len(v))
		for key, member := range v {
			if !file || key != flow.FileKey || v["sha256"] == nil {
				out[key] = withoutFileIDs(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = withoutFileIDs(entry)
		}
		return out
	}
	return value
}

// startedBefore answers what a key started within the last 24 hours.
func (r *runs) startedBefore(ctx context.Context, who Who, workflow string, key *store.StartKey) (answer Started, found bool, err error) {
	if key == nil {
		return Started{}, false, nil
	}
	id, hash, err := r.store.StartedWith(ctx, who.Team, workflow, key.Key)
	if errors.Is(err, store.ErrNotFound) {
		return Started{}, false, nil
	}
	if err != nil {
		return Started{}, false, err
	}
	if !bytes.Equal(hash, key.Hash) {
		return Started{}, true, Refuse("idempotency_mismatch", "this idempotency key started an execution with another request")
	}
	row, err := r.row(ctx, who, id)
	return Started{ID: id, Workflow: row.Workflow, Version: int(row.Version), Status: row.Status}, true, err
}

// checkSize refuses a payload that is larger than the limit as JSON.
func checkSize(what string, payload any, limit int) error {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return Refuse("bad_request", what+" cannot be written as JSON: "+err.Error())
	}
	if len(encoded) > limit {
		return Refuse("too_large", fmt.Sprintf("%s has %d bytes, the limit is %d", what, len(encoded), limit))
	}
	return nil
}
