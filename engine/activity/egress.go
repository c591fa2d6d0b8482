package activity

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// Egress decides which addresses activities may reach. It is asked with the address that is about to be
// dialled, after name resolution and for every redirect, so that neither a name that changes its mind nor
// an odd spelling of an address gets past it.
type Egress struct {
	Allow []netip.Prefix // ranges opened although they are not public
}

// ParseEgress reads a comma-separated list of ranges or single addresses: "127.0.0.0/8, ::1".
func ParseEgress(list string) (Egress, error) {
	var egress Egress
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := parsePrefix(part)
		if err != nil {
			return Egress{}, fmt.Errorf("%q is no address range; write 10.1.0.0/16 or a single address", part)
		}
		egress.Allow = append(egress.Allow, prefix)
	}
	return egress, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		prefix, err := netip.ParsePrefix(text)
		return prefix.Masked(), err
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// special are ranges that are not public although netip has no word for them.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // carrier-grade NAT, also a cloud's metadata
	"192.0.0.0/24",    // protocol assignments, also a cloud's metadata
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"240.0.0.0/4",     // reserved, broadcast included
	"::/96",           // IPv4-compatible
	"64:ff9b::/96",    // NAT64: holds an IPv4 address
	"64:ff9b:1::/48",  // local NAT64
	"100::/64",        // discard
	"2001::/32",       // Teredo: holds an IPv4 address
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4: holds an IPv4 address
	"fec0::/10",       // site-local
)

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// Permits reports whether addr may be reached: a public unicast address, or one in an allowed range.
func (e Egress) Permits(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return contains(e.Allow, addr) || isPublic(addr)
}

func isPublic(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !contains(special, addr)
}

func contains(ranges []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range ranges {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// reachKey keeps the ranges of a team in a context.
type reachKey struct{}

// WithReach narrows what is dialled with this context to the ranges that a team allows itself, within what
// the server permits. Nil ranges narrow nothing, an empty list lets nothing through.
func WithReach(ctx context.Context, ranges []netip.Prefix) context.Context {
	if ranges == nil {
		return ctx
	}
	return context.WithValue(ctx, reachKey{}, ranges)
}

// refusedAddress says that the policy of the server, or of the team, does not let an activity reach an address.
type refusedAddress struct {
	addr   netip.Addr
	byTeam bool
}

func (e *refusedAddress) Error() string {
	if e.byTeam {
		return fmt.Sprintf("the address %s is not among those that the team allows itself (policy egressAllow)", e.addr)
	}
	return fmt.Sprintf("the address %s is not public, and this server does not allow it (WEFTLINE_EGRESS_ALLOW)", e.addr)
}

// control is the hook of a net.Dialer; address is what the socket is about to connect to.
func (e Egress) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address: %w", address, err)
	}
	if !e.Permits(target.Addr()) {
		return &refusedAddress{addr: target.Addr().Unmap()}
	}
	if team, narrowed := ctx.Value(reachKey{}).([]netip.Prefix); narrowed && !contains(team, target.Addr().Unmap().WithZone("")) {
		return &refusedAddress{addr: target.Addr().Unmap(), byTeam: true}
	}
	return nil
}
