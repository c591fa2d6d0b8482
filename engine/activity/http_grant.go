package activity

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// grants keeps OAuth 2 access tokens until shortly before they expire, by who they were given to.
type grants struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]grant
}

type grant struct {
	token   string
	expires time.Time
}

const (
	maxGrants   = 1000
	grantLeeway = 30 * time.Second
)

// authoriseByGrant gets a token by client credentials (RFC 6749 §4.4). The token endpoint is reached by the
// same guarded client, and its failures are those of the activity.
func (h *HTTP) authoriseByGrant(request *http.Request, in httpInputs) *Outcome {
	identity := sha256.Sum256([]byte(strings.Join([]string{
		in.authText("tokenUrl"), in.authText("clientId"), in.authText("clientSecret"), in.authText("scope")}, "\x00")))
	token, ok := h.grants.find(identity, h.now())
	if !ok {
		fresh, failed := h.fetchGrant(request.Context(), in)
		if failed != nil {
			return failed
		}
		h.grants.keep(identity, fresh)
		token = fresh.token
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func (h *HTTP) fetchGrant(ctx context.Context, in httpInputs) (grant, *Outcome) {
	form := map[string]any{"grant_type": "client_credentials"}
	if scope := in.authText("scope"); scope != "" {
		form["scope"] = scope
	}
	inputs, err := readHTTPInputs(map[string]any{"method": http.MethodPost, "url": in.authText("tokenUrl"), "form": form})
	if err != nil {
		failed := invalid(errors.New("auth.tokenUrl: " + err.Error()))
		return grant{}, &failed
	}
	inputs.route = in.route
	request, err := inputs.request(ctx, "")
	if err != nil {
		failed := invalid(err)
		return grant{}, &failed
	}
	request.SetBasicAuth(url.QueryEscape(in.authText("clientId")), url.QueryEscape(in.authText("clientSecret")))
	outcome := h.exchange(ctx, request, inputs, Call{})
	if outcome.Err != nil {
		outcome.Err.Detail = nil // what a token endpoint says stays out of histories
		return grant{}, &outcome
	}
	return readGrant(outcome, h.now())
}

func readGrant(outcome Outcome, now time.Time) (grant, *Outcome) {
	result, _ := outcome.Value.(map[string]any)
	body, _ := result["body"].(map[string]any)
	token, _ := body["access_token"].(string)
	if token == "" {
		failed := fail("output.invalid", classExternal, nil, "the token endpoint gave no access_token")
		return grant{}, &failed
	}
	seconds, _ := body["expires_in"].(int64)
	return grant{token: token, expires: now.Add(time.Duration(min(seconds, 86400)) * time.Second)}, nil
}

func (g *grants) find(identity [sha256.Size]byte, now time.Time) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.known[identity]
	return known.token, ok && now.Before(known.expires.Add(-grantLeeway))
}

func (g *grants) keep(identity [sha256.Size]byte, fresh grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) >= maxGrants {
		g.known = map[[sha256.Size]byte]grant{}
	}
	g.known[identity] = fresh
}
