package activity_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"weftline/engine/activity"
)

// names is a DNS server that answers A queries with a script: the n-th query gets the n-th address, the last
// one for ever.
func names(t *testing.T, script ...string) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	var asked atomic.Int32
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			address := script[min(int(asked.Load()), len(script)-1)]
			if reply, isA := dnsReply(buffer[:n], netip.MustParseAddr(address)); reply != nil {
				if isA {
					asked.Add(1)
				}
				_, _ = socket.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
}

// dnsReply answers a query of one question: with the address when it asks for an A record, else with nothing.
func dnsReply(query []byte, address netip.Addr) (reply []byte, isA bool) {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the root label, type and class
	if end > len(query) {
		return nil, false
	}
	isA = query[end-4] == 0 && query[end-3] == 1
	reply = append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[header:end]...)
	if isA {
		reply[7] = 1
		v4 := address.As4()
		reply = append(append(reply, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), v4[:]...)
	}
	return reply, isA
}

// A name that answered an allowed address first and another one later is judged each time, also between two
// hops of one request.
func TestRebindingNameIsRefused(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "http://rebinds.example:"+strings.Split(r.Host, ":")[1]+"/secret", http.StatusFound)
		}
	}))
	listener, err := net.Listen("tcp", "0.0.0.0:0") // reached as 127.0.0.2 and as 127.0.0.1
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	port := listener.Addr().(*net.TCPAddr).Port
	egress, err := activity.ParseEgress("127.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	for path, script := range map[string][]string{
		"two requests": {"127.0.0.2", "127.0.0.1"},
		"/again":       {"127.0.0.2", "127.0.0.1"},
		"metadata":     {"127.0.0.2", "169.254.169.254"},
	} {
		reached.Store(0)
		kind := activity.NewHTTP(activity.HTTPOptions{Egress: egress, Resolver: names(t, script...)})
		url := fmt.Sprintf("http://rebinds.example:%d", port)
		if path == "/again" {
			url += path
		} else {
			result(t, run(t, kind, map[string]any{"url": url + "/"}))
		}
		wantError(t, run(t, kind, map[string]any{"url": url}), "http.address_refused", "not public")
		if got := reached.Load(); got != 1 {
			t.Errorf("%s: the server was reached %d times, want once", path, got)
		}
	}
}

// Every spelling of an address that must not be reached is refused: as a number, octal, hexadecimal, mapped
// into IPv6, translated (NAT64), with dots at the end.
func TestEverySpellingOfARefusedAddress(t *testing.T) {
	guarded := activity.NewHTTP(activity.HTTPOptions{Resolver: names(t, "127.0.0.1")}) // what a resolver would make of the odd ones
	for _, host := range []string{
		"127.0.0.1", "127.0.0.1.", "localhost", "localhost.", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.0.0.1", "127.1", "127.0.1",
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]",
		"0.0.0.0", "0", "[::]", "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "[fe80::1]",
		"[fd00:ec2::254]", "100.100.100.200", "10.0.0.1", "[2002:7f00:1::]", "rebinds.example", "metadata.google.internal.",
	} {
		outcome := run(t, guarded, map[string]any{"url": "http://" + host + ":1/"})
		if kind := errorType(outcome); kind != "http.address_refused" && kind != "transport.dns" { // or a name that does not exist
			t.Errorf("%s: %+v", host, outcome.Err)
		}
	}
}

// A team may narrow what its activities reach; it cannot widen what the server permits.
func TestTeamNarrowsWhatItsActivitiesReach(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	for _, c := range []struct{ server, team, want string }{
		{"127.0.0.0/8", "", ""},
		{"127.0.0.0/8", "127.0.0.1/32", ""},
		{"127.0.0.0/8", "10.0.0.0/8", "egressAllow"},
		{"", "127.0.0.0/8", "WEFTLINE_EGRESS_ALLOW"},
	} {
		allowed, err := activity.ParseEgress(c.server)
		if err != nil {
			t.Fatal(err)
		}
		team, err := activity.ParseEgress(c.team)
		if err != nil {
			t.Fatal(err)
		}
		registry := activity.NewRegistry()
		registry.Register("http", activity.NewHTTP(activity.HTTPOptions{Egress: allowed}))
		registry.Narrow(func(context.Context, string) ([]netip.Prefix, error) { return team.Allow, nil })
		outcome := registry.Run(t.Context(), activity.Call{Type: "http", Input: map[string]any{"url": server.URL}})
		if c.want == "" {
			result(t, outcome)
		} else {
			wantError(t, outcome, "http.address_refused", c.want)
		}
	}
}
