package login

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"weftline/app/config"
	"weftline/engine"
)

const (
	answerTime    = 5 * time.Second  // a provider may take so long
	answerMax     = 1 << 20          // bytes of an answer
	metadataAge   = time.Hour        // then the metadata is read again
	firstPause    = time.Second      // before a provider that did not answer is asked again, doubled each time
	longestPause  = 30 * time.Second // but never longer
	tenantInIssue = "{tenantid}"
)

// provider is one identity provider and what is known of it.
type provider struct {
	config.Provider
	redirect, home string // addresses of ours that it sends people to
	now            func() time.Time
	client         *http.Client
	clock          atomic.Int64 // its clock minus ours at the last answer, ns

	mu      sync.Mutex
	found   *discovered
	fault   error
	retryAt time.Time
	pause   time.Duration
}

// discovered is a provider's metadata with the keys that it signs with.
type discovered struct {
	oidc *oidc.Provider
	meta metadata
	keys *keySet
	at   time.Time
}

// metadata is what we use of the discovery document beside what go-oidc reads.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Keys          string   `json:"jwks_uri"`
	UserInfo      string   `json:"userinfo_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Scopes        []string `json:"scopes_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	Backchannel   bool     `json:"backchannel_logout_supported"`
	Grants        []string `json:"grant_types_supported"`
}

func newProvider(c config.Provider, o Options) *provider {
	p := &provider{Provider: c, now: o.Now, redirect: o.PublicURL + "/login/" + c.ID + "/callback", home: o.PublicURL + "/login"}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	p.client = &http.Client{Timeout: answerTime, Transport: &watched{p, transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

// watched bounds answers and notes the provider's clock.
type watched struct {
	p    *provider
	next http.RoundTripper
}

func (w *watched) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		w.p.clock.Store(int64(at.Sub(w.p.now().Truncate(time.Second))))
	}
	body := answer.Body
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, answerMax), body}
	return answer, nil
}

// context lets the libraries use our client.
func (p *provider) context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// discover reads the metadata, at most once an hour; a provider that does not answer is asked again after a
// pause that grows. What was read before is used on when it cannot be read anew.
func (p *provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.found != nil && now.Sub(p.found.at) < metadataAge {
		return p.found, nil
	}
	if now.Before(p.retryAt) {
		return p.found, p.faultUnlessFound()
	}
	found, err := p.read(ctx)
	if err != nil {
		p.fault = err
		p.pause = min(max(firstPause, 2*p.pause), longestPause)
		p.retryAt = now.Add(p.pause)
		return p.found, p.faultUnlessFound()
	}
	if p.found != nil && p.found.meta.Keys == found.meta.Keys {
		found.keys = p.found.keys
	}
	p.found, p.fault, p.pause = found, nil, 0
	return found, nil
}

func (p *provider) faultUnlessFound() error {
	if p.found != nil {
		return nil
	}
	return p.fault
}

// read outlives the request that caused it: others wait for the same answer.
func (p *provider) read(ctx context.Context) (*discovered, error) {
	ctx, cancel := context.WithTimeout(p.context(context.WithoutCancel(ctx)), answerTime)
	defer cancel()
	if len(p.Tenants) > 0 {
		ctx = oidc.InsecureIssuerURLContext(ctx, p.Issuer) // the issuer is checked per token, see checkIssuer
	}
	made, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		switch {
		case isNetwork(err):
			return nil, fault(Unreachable, "It does not answer.", err)
		case strings.HasPrefix(err.Error(), "5"): // go-oidc begins with the status of the answer
			return nil, fault(Unreachable, "It answers with an error of its own.", err)
		}
		return nil, fault(Misconfigured, discoveryHint(err), err)
	}
	var meta metadata
	if err := made.Claims(&meta); err != nil {
		return nil, fault(Misconfigured, "Its metadata cannot be read.", err)
	}
	if err := p.checkMetadata(meta); err != nil {
		return nil, err
	}
	return &discovered{oidc: made, meta: meta, keys: newKeySet(meta.Keys, p.client, p.now), at: p.now()}, nil
}

func discoveryHint(err error) string {
	if strings.Contains(err.Error(), "did not match") {
		return "It calls itself by another issuer than the settings do; the two must be equal to the letter, a slash at the end included."
	}
	return "There is no OpenID provider at the issuer's address."
}

func (p *provider) checkMetadata(meta metadata) error {
	if len(p.Tenants) > 0 && !strings.Contains(meta.Issuer, tenantInIssue) {
		return fault(Misconfigured, "The settings list tenants, and its issuer names none.", nil)
	}
	secret := strings.HasPrefix(p.Issuer, "https:")
	for _, endpoint := range []string{meta.Authorization, meta.Token, meta.Keys} {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || secret && u.Scheme != "https" {
			return fault(Misconfigured, "Its metadata names an address that is not safe to use.", fmt.Errorf("endpoint %q", endpoint))
		}
	}
	return nil
}

func (p *provider) oauth(found *discovered) *oauth2.Config {
	return &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.oidc.Endpoint(), RedirectURL: p.redirect, Scopes: p.Scopes}
}

func (p *provider) authURL(found *discovered, attempt engine.Attempt, again bool) string {
	options := []oauth2.AuthCodeOption{oidc.Nonce(attempt.Nonce), oauth2.S256ChallengeOption(attempt.Verifier)}
	if attempt.MaxAge > 0 {
		options = append(options, oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(attempt.MaxAge.Seconds()))))
	}
	if again || attempt.MaxAge > 0 {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	return p.oauth(found).AuthCodeURL(attempt.State, options...)
}

// checkResponse: it must come from the provider that was asked (RFC 9207), and say yes.
func (p *provider) checkResponse(found *discovered, came Came) error {
	switch {
	case came.Issuer != "" && !same(came.Issuer, found.meta.Issuer) && len(p.Tenants) == 0,
		came.Issuer == "" && found.meta.SendsIssuer:
		return fault(BadToken, "The answer came from another provider than the one that was asked.", fmt.Errorf("iss %q", printable(came.Issuer)))
	case came.Error == "access_denied":
		return fault(Cancelled, printable(came.ErrorText), nil)
	case came.Error == "temporarily_unavailable" || came.Error == "server_error":
		return fault(Unreachable, printable(came.ErrorText), nil)
	case came.Error != "":
		return fault(Misconfigured, "It answered: "+printable(came.Error+" "+came.ErrorText), nil)
	case came.Code == "":
		return fault(BadToken, "The answer holds no code.", nil)
	}
	return nil
}

func (p *provider) exchange(ctx context.Context, found *discovered, code, verifier string) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(p.context(ctx), answerTime)
	defer cancel()
	return p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(verifier))
}

func (p *provider) refresh(ctx context.Context, found *discovered, refreshToken string) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(p.context(ctx), answerTime)
	defer cancel()
	return p.oauth(found).TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
}

// held is what a session keeps of the tokens. Without a refresh token the provider is not asked again.
func (p *provider) held(tokens *oauth2.Token, vouched *vouched) engine.ProviderSession {
	held := engine.ProviderSession{Provider: p.ID, SID: vouched.sid, RefreshToken: tokens.RefreshToken, IDToken: vouched.raw, Authenticated: vouched.authenticated()}
	if held.RefreshToken != "" {
		const otherwise = 5 * time.Minute // for a provider that does not say when its access token ends
		at := tokens.Expiry
		if at.IsZero() {
			at = time.Now().Add(otherwise)
		}
		held.RefreshAt = &at
	}
	return held
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// endSession is the address that ends the provider's own session, "" when it has none.
func (p *provider) endSession(found *discovered, idToken string) string {
	u, err := url.Parse(found.meta.EndSession)
	if err != nil || u.Host == "" || !slices.Contains([]string{"https", "http"}, u.Scheme) {
		return ""
	}
	query := u.Query()
	query.Set("client_id", p.ClientID)
	query.Set("post_logout_redirect_uri", p.home)
	if idToken != "" {
		query.Set("id_token_hint", idToken)
	}
	u.RawQuery = query.Encode()
	return u.String()
}
