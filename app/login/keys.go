package login

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	keysAge       = time.Hour        // a key that the provider has withdrawn counts no longer than this
	refetchAtMost = 30 * time.Second // for keys that we do not know: anybody can send a token
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
	limit := &pace{next: client.Transport, now: now}
	paced := *client
	paced.Transport = limit
	return &keySet{url: url, now: now, pace: limit, client: &paced}
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

// pace lets the first reading of a set through, and then one each refetchAtMost.
type pace struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	first bool
	last  time.Time // of the readings after the first
}

func (p *pace) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = true
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
	if p.first {
		p.first = false
		return true
	}
	now := p.now()
	if now.Sub(p.last) < refetchAtMost {
		return false
	}
	p.last = now
	return true
}
