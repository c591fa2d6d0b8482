package activity_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"weftline/engine/activity"
)

func TestEgressPermitsPublicAddressesOnly(t *testing.T) {
	for _, refused := range []string{
		"127.0.0.1", "127.255.0.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::1", "fec0::1",
	} {
		if (activity.Egress{}).Permits(netip.MustParseAddr(refused)) {
			t.Errorf("%s is permitted", refused)
		}
	}
	for _, public := range []string{"8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700::1111"} {
		if !(activity.Egress{}).Permits(netip.MustParseAddr(public)) {
			t.Errorf("%s is refused", public)
		}
	}
}

func TestEgressAllowOpensRanges(t *testing.T) {
	egress, err := activity.ParseEgress(" 10.1.2.3/16 ,::1,, 192.168.7.7")
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"10.1.9.9": true, "::ffff:10.1.9.9": true, "10.2.0.1": false, "::1": true, "192.168.7.7": true, "192.168.7.8": false,
	} {
		if got := egress.Permits(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: permitted %v, want %v", addr, got, want)
		}
	}
	for _, wrong := range []string{"10.1.2.3/99", "here", "10.1"} {
		if _, err := activity.ParseEgress(wrong); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: error %v", wrong, err)
		}
	}
}

// Every spelling of a loopback or metadata address is refused, however the resolver reads it; a spelling
// that it does not know is a name that does not exist.
func TestOddSpellingsReachNothing(t *testing.T) {
	guarded := activity.NewHTTP(activity.HTTPOptions{})
	for _, host := range []string{
		"127.0.0.1", "localhost", "2130706433", "0177.0.0.1", "0x7f000001", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "169.254.169.254", "[::ffff:169.254.169.254]", "0", "[::]",
	} {
		outcome := run(t, guarded, map[string]any{"url": "http://" + host + ":1/"})
		if kind := errorType(outcome); kind != "http.address_refused" && kind != "transport.dns" {
			t.Errorf("%s: %+v", host, outcome)
		}
	}
}

func TestRedirectToARefusedAddress(t *testing.T) {
	// The first hop is inside this process; the second is an address of the network.
	for _, target := range []string{"http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/", "http://[::ffff:10.0.0.1]/"} {
		inside := inProcess(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
		kind := activity.NewHTTP(activity.HTTPOptions{Inside: map[string]activity.Dial{"start.internal": inside}})
		wantError(t, run(t, kind, map[string]any{"url": "http://start.internal/"}), "http.address_refused", "WEFTLINE_EGRESS_ALLOW")
	}
}

// What counts is the address that is dialled, not the name: a name may answer something else each time.
func TestNameThatResolvesToLoopback(t *testing.T) {
	guarded := activity.NewHTTP(activity.HTTPOptions{})
	wantError(t, run(t, guarded, map[string]any{"url": "http://localhost:1/"}), "http.address_refused")
}

func TestInsideHostNeedsNoNetwork(t *testing.T) {
	inside := inProcess(t, echo)
	kind := activity.NewHTTP(activity.HTTPOptions{Inside: map[string]activity.Dial{"demo.internal": inside}})
	got := result(t, run(t, kind, map[string]any{"url": "http://demo.internal/x"}))
	if got["status"] != int64(200) {
		t.Errorf("got %v", got)
	}
	wantError(t, run(t, kind, map[string]any{"url": "http://other.internal.invalid/x"}), "transport.dns")
}

// inProcess serves connections made by pipes.
func inProcess(t *testing.T, handler http.HandlerFunc) activity.Dial {
	t.Helper()
	listener := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return func(ctx context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case listener.accepted <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case connection := <-p.accepted:
		return connection, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
