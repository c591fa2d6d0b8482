package login

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

const (
	keysAge = time.Hour // a key that the provider has withdrawn counts no longer than this

	// Keys that we do not know make us read again, and anybody can send a token: some readings in a row are
	// given, as a provider that is restarted and rotates needs them, and then one each rereadPause.
	rereadsInRow = 5
	rereadPause  = 30 * time.Second
)

var errTooSoon = errors.New("the keys of the provider were read again a moment ago")

// keySet is go-oidc's set of keys with two bounds that it lacks: an age, and a pace of reading again.
type keySet struct {
	url    string
	now    func() time.Time
	pace   *pace
	client *http.Client

	mu     sync.Mutex
	remote *oidc.RemoteKeySet
	madeAt time.Time
}

func newKeySet(url string, client *http.Client, now func() time.Time) *keySet {
	pace := newPace(client.Transport, now)
	paced := *client
	paced.Transport = pace
	return &keySet{url: url, now: now, pace: pace, client: &paced}
}

var _ oidc.KeySet = (*keySet)(nil)

// VerifySignature implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	return k.current().VerifySignature(ctx, jwt)
}

func (k *keySet) current() *oidc.RemoteKeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); k.remote == nil || now.Sub(k.madeAt) >= keysAge {
		k.pace.renew()
		k.remote = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), k.client), k.url)
		k.madeAt = now
	}
	return k.remote
}

// pace lets a limited number of readings through. One that failed does not count.
type pace struct {
	next  http.RoundTripper
	now   func() time.Time
	limit *rate.Limiter

	mu   sync.Mutex
	free bool // the next one counts neither
}

func newPace(next http.RoundTripper, now func() time.Time) *pace {
	return &pace{next: next, now: now, limit: rate.NewLimiter(rate.Every(rereadPause), rereadsInRow)}
}

func (p *pace) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = true
}

func (p *pace) RoundTrip(request *http.Request) (*http.Response, error) {
	if !p.allows() {
		return nil, errTooSoon
	}
	answer, err := p.next.RoundTrip(request)
	if err != nil {
		p.renew() // nothing was read
	}
	return answer, err
}

func (p *pace) allows() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free {
		p.free = false
		return true
	}
	return p.limit.AllowN(p.now(), 1)
}
