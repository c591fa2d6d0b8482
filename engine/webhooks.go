package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/store"
	"weftline/queries"
)

// HookRequest is a request from outside to a webhook.
type HookRequest struct {
	Team, Path, Method string
	Headers            map[string]string // names in lower case, several values joined by ", "
	Query              map[string]string
	Raw                []byte              // the body as it came, which signatures cover
	Body               func() (any, error) // reads it by its content type, once the sender is known
	Address, Request   string              // where from, and the request's id
}

// HookAnswer says what a request started. Without an id nothing was: Skipped is then true.
type HookAnswer struct {
	ID      *uuid.UUID `json:"id"`
	Status  string     `json:"status,omitempty"` // of an execution whose result was waited for
	Output  any        `json:"output,omitempty"`
	Skipped bool       `json:"skipped,omitempty"`
	Ended   bool       `json:"-"`
}

const (
	signatureAge = 5 * time.Minute  // how far the time of a signature may be from now
	resultWithin = 10 * time.Second // how long a request waits for the result of its execution
)

// hooks implements webhooks.
type hooks struct {
	q       *queries.Queries
	store   *store.Store
	runs    *runs
	secrets func(ctx context.Context, team uuid.UUID, workflow string, names []string) (map[string]string, error)
	watch   func(team uuid.UUID, f func(Change)) (stop func())
}

// Hook checks the sender of a request and starts the workflow that its path belongs to. A request that was
// answered before, by its dedupeKey or its signature, gets the first execution again.
func (h *hooks) Hook(ctx context.Context, request HookRequest) (HookAnswer, error) {
	row, err := h.q.WebhookByPath(ctx, request.Team, normalPath(request.Path))
	if errors.Is(err, pgx.ErrNoRows) {
		return HookAnswer{}, Refuse("not_found", "there is no webhook at this address")
	}
	if err != nil {
		return HookAnswer{}, fmt.Errorf("find the webhook %s: %w", request.Path, err)
	}
	definition, err := h.store.Library.Version(ctx, row.TeamID, row.Workflow, int(row.Version))
	if err != nil {
		return HookAnswer{}, err
	}
	hook := definition.Webhooks[row.Place]
	if request.Method != hook.Method {
		return HookAnswer{}, Refuse("not_found", "the webhook at this address takes "+hook.Method+" only")
	}
	signature, err := h.prove(ctx, row, hook, request)
	if err != nil {
		return HookAnswer{}, err
	}
	who := Who{Team: row.TeamID, TeamName: row.TeamName, User: "trigger:webhook", Address: request.Address, Request: request.Request}
	started, err := h.start(ctx, who, definition, hook, request, signature)
	if err != nil || started.Skipped {
		return HookAnswer{Skipped: started.Skipped}, err
	}
	if hook.Respond != "result" {
		return HookAnswer{ID: &started.ID}, nil
	}
	return h.result(ctx, who, started.ID)
}

func (h *hooks) start(ctx context.Context, who Who, definition *store.Definition, hook flow.WebhookTrigger, request HookRequest, signature string) (Started, error) {
	body, err := request.Body()
	if err != nil {
		return Started{}, err
	}
	trigger := map[string]any{"type": "webhook", "id": orNil(request.Request), "body": body,
		"headers": visible(request.Headers, hook.Header), "query": anyMap(request.Query)}
	says := expressions{When: hook.When, Input: hook.Input, DedupeKey: hook.DedupeKey, Otherwise: body, Key: "webhook:" + normalPath(hook.Path)}
	env := expr.Roots{"trigger": trigger}
	holds, err := says.holds(env)
	if err != nil || !holds {
		return Started{Skipped: true}, err
	}
	result, err := says.evaluate(env)
	if err != nil {
		return Started{}, err
	}
	if result.Key == nil && signature != "" {
		result.Key = dedupeKey(says.Key+":signed", signature)
	}
	return h.runs.startOnce(ctx, who, definition, StartRequest{Workflow: definition.Name, Input: result.Input, Trigger: trigger}, result.Key)
}

// visible are the headers that a workflow may read: not those that prove who sends.
func visible(headers map[string]string, signature string) map[string]any {
	seen := anyMap(headers)
	for _, name := range []string{"authorization", "cookie", strings.ToLower(signature)} {
		delete(seen, name)
	}
	return seen
}

func anyMap(texts map[string]string) map[string]any {
	values := make(map[string]any, len(texts))
	for name, text := range texts {
		values[name] = text
	}
	return values
}

// result waits for the end of an execution.
func (h *hooks) result(ctx context.Context, who Who, id uuid.UUID) (HookAnswer, error) {
	changed := make(chan struct{}, 1)
	stop := h.watch(who.Team, func(c Change) {
		if c.Execution == id {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, resultWithin)
	defer cancel()
	for {
		detail, err := h.runs.Execution(ctx, who, id)
		if ctx.Err() != nil {
			return HookAnswer{ID: &id}, nil
		}
		if err != nil {
			return HookAnswer{}, err
		}
		if execution.IsTerminal(detail.Status) {
			return HookAnswer{ID: &id, Status: detail.Status, Output: detail.Output, Ended: true}, nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(time.Second): // hints may be lost
		}
	}
}

// unproved is the answer to every request that does not prove who sends it.
func unproved(why string) error { return Refuse("unauthenticated", why) }

// prove checks the sender; the answer is the signature of a signed request.
func (h *hooks) prove(ctx context.Context, row queries.WebhookByPathRow, hook flow.WebhookTrigger, request HookRequest) (signature string, err error) {
	if hook.AuthType == "none" {
		if !row.AllowUnsigned {
			return "", Refuse("forbidden", "the policy of the team does not allow webhooks without auth")
		}
		return "", nil
	}
	values, err := h.secrets(ctx, row.TeamID, row.Workflow, []string{hook.Secret})
	if errors.Is(err, activity.ErrNotUsable) {
		return "", Refuse("forbidden", err.Error())
	}
	if err != nil {
		return "", err
	}
	secret := values[hook.Secret]
	if secret == "" {
		return "", unproved("the webhook cannot check anybody: its secret " + hook.Secret + " is not set")
	}
	switch authorization := request.Headers["authorization"]; hook.AuthType {
	case "bearer":
		if !same(authorization, "Bearer "+secret) {
			return "", unproved("send Authorization: Bearer with the webhook's secret")
		}
	case "basic":
		if !same(authorization, "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))) {
			return "", unproved("send Authorization: Basic with the webhook's user and password")
		}
	default:
		return verify(request.Headers[strings.ToLower(hook.Header)], secret, request.Raw, h.store.Clock.Now())
	}
	return "", nil
}

// same compares in a time that does not depend on where the texts differ.
func same(given, wanted string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(wanted))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// verify checks a header "t=<unix seconds>,v1=<hex>", where v1 is HMAC-SHA256(secret, t + "." + body).
// Several v1 are allowed, so that senders can change their secret.
func verify(header, secret string, body []byte, now time.Time) (signature string, err error) {
	var stamp string
	var given []string
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			stamp = value
		case "v1":
			given = append(given, value)
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || len(given) == 0 {
		return "", unproved("the signature is missing: send t=<unix seconds>,v1=<hex HMAC-SHA256 of t.body>")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > signatureAge || age < -signatureAge {
		return "", unproved("the signature's time is more than 5 minutes from now: check the clock, sign again")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	wanted := mac.Sum(nil)
	for _, text := range given {
		if sum, err := hex.DecodeString(text); err == nil && hmac.Equal(sum, wanted) {
			return stamp + "." + hex.EncodeToString(wanted), nil
		}
	}
	return "", unproved("the signature is wrong: it is the HMAC-SHA256 of t, a dot and the raw body")
}
