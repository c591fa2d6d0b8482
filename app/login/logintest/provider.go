// Package logintest owns an identity provider for tests, in the test's own process, with a switch for every
// fault that real ones have. It is imported by tests only.
package logintest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// ClientID and ClientSecret are the only client's.
const (
	ClientID     = "weftline"
	ClientSecret = "a-client-secret-for-tests"
)

// Provider answers discovery and keys as go-oidc's own test server does, and the rest by its switches. Whoever
// comes to its authorization address is signed in as Claims say, without being asked.
type Provider struct {
	URL string

	mu      sync.Mutex
	server  *httptest.Server
	keys    *oidctest.Server
	key     *ecdsa.PrivateKey
	keyID   string
	codes   map[string]code
	Claims  map[string]any // of the ID token; "sub" and what rules want
	Info    map[string]any // of the userinfo endpoint; nil = it has none
	Down    bool           // it does not answer anything
	Life    time.Duration  // of access tokens
	Skew    time.Duration  // its clock minus ours
	Refusal string         // what the token endpoint answers instead of tokens, e.g. invalid_grant
	Status  int            // with Refusal; 400 by default
	NoID    bool           // refresh answers without an ID token
	NoOne   bool           // no refresh token
	SendISS bool           // announces and sends iss in the response (RFC 9207)
	ISS     string         // sent instead of its own
	Meta    map[string]any // changes of the metadata
	Token   map[string]any // changes of the ID token, after everything else; nil values remove
	Alg     string         // of the signature; ES256 by default
	KeyHits int            // readings of the keys
	Hits    int            // refreshes
	Asked   url.Values     // the last question at the authorization address
	refresh int
}

type code struct{ nonce, challenge, redirect string }

// New starts a provider; it ends with the test.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]code{}, Claims: map[string]any{"sub": "u1"}, Life: time.Hour, Alg: oidc.ES256}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.server.Close)
	p.URL = p.server.URL
	p.keys = &oidctest.Server{Algorithms: []string{oidc.ES256}}
	p.keys.SetIssuer(p.URL)
	p.Rotate(false)
	return p
}

// Set changes switches while requests may be under way.
func (p *Provider) Set(change func(p *Provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// Rotate signs with a new key from now on; keep says whether the old one is still shown.
func (p *Provider) Rotate(keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	p.key, p.keyID = key, fmt.Sprintf("k%d", time.Now().UnixNano())
	shown := oidctest.PublicKey{PublicKey: key.Public(), KeyID: p.keyID, Algorithm: oidc.ES256}
	if !keep {
		p.keys.PublicKeys = nil
	}
	p.keys.PublicKeys = append(p.keys.PublicKeys, shown)
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(p.Skew).UTC().Format(http.TimeFormat))
	switch {
	case p.Down:
		panic(http.ErrAbortHandler) // the connection breaks, as it does when nobody listens
	case r.URL.Path == "/.well-known/openid-configuration":
		p.discovery(w, r)
	case r.URL.Path == "/auth":
		p.authorize(w, r)
	case r.URL.Path == "/token":
		p.tokens(w, r)
	case r.URL.Path == "/userinfo" && p.Info != nil:
		answer(w, p.Info)
	default:
		if r.URL.Path == "/keys" {
			p.KeyHits++
		}
		p.keys.ServeHTTP(w, r)
	}
}

func (p *Provider) discovery(w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	p.keys.ServeHTTP(recorder, r)
	meta := map[string]any{}
	_ = json.Unmarshal(recorder.Body.Bytes(), &meta) // it is JSON
	meta["end_session_endpoint"] = p.URL + "/end"
	meta["authorization_response_iss_parameter_supported"] = p.SendISS
	if p.Info != nil {
		meta["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	maps.Copy(meta, p.Meta)
	answer(w, meta)
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p.Asked = q
	if q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		http.Error(w, "no such client, or no PKCE", http.StatusBadRequest)
		return
	}
	value := fmt.Sprintf("code-%d", len(p.codes))
	p.codes[value] = code{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
	back := url.Values{"code": {value}, "state": {q.Get("state")}}
	if p.SendISS {
		back.Set("iss", p.URL)
	}
	if p.ISS != "" {
		back.Set("iss", p.ISS)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

func (p *Provider) tokens(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	if p.Refusal != "" {
		status := p.Status
		if status == 0 {
			status = http.StatusBadRequest
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		answer(w, map[string]any{"error": p.Refusal})
		return
	}
	nonce := ""
	switch r.Form.Get("grant_type") {
	case "refresh_token":
		p.Hits++
		if r.Form.Get("refresh_token") != fmt.Sprintf("refresh-%d", p.refresh) {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
	default:
		given, known := p.codes[r.Form.Get("code")]
		if !known || given.redirect != r.Form.Get("redirect_uri") || !challenged(given.challenge, r.Form.Get("code_verifier")) {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
		delete(p.codes, r.Form.Get("code"))
		nonce = given.nonce
	}
	made := map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": int(p.Life.Seconds())}
	if !p.NoOne {
		p.refresh++
		made["refresh_token"] = fmt.Sprintf("refresh-%d", p.refresh)
	}
	if !p.NoID || nonce != "" {
		made["id_token"] = p.idToken(nonce)
	}
	answer(w, made)
}

func (p *Provider) idToken(nonce string) string {
	now := time.Now().Add(p.Skew)
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	maps.Copy(claims, p.Claims)
	change(claims, p.Token)
	return p.sign(claims)
}

func change(claims, by map[string]any) {
	for name, value := range by {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
}

func (p *Provider) sign(claims map[string]any) string {
	content, _ := json.Marshal(claims) // maps of plain values
	return oidctest.SignIDToken(crypto.PrivateKey(p.key), p.keyID, p.Alg, string(content))
}

// LogoutToken makes a back-channel logout token; by changes its claims, nil values remove.
func (p *Provider) LogoutToken(by map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(2 * time.Minute).Unix(),
		"jti": fmt.Sprint(now.UnixNano()), "events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}
	change(claims, by)
	return p.sign(claims)
}

func answer(w http.ResponseWriter, value any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	_ = json.NewEncoder(w).Encode(value) // the test's own client reads it
}

// ClientToken makes the access token of a program by client credentials; by changes its claims, nil values remove.
func (p *Provider) ClientToken(client, audience string, by map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": audience, "sub": client, "azp": client, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	change(claims, by)
	return p.sign(claims)
}

// UnsignedToken is an ID token that claims to need no signature.
func UnsignedToken(token string) string {
	parts := strings.Split(token, ".")
	return "eyJhbGciOiJub25lIn0." + parts[1] + "."
}
