package engine

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/google/uuid"

	"weftline/engine/activity"
)

// reach answers which addresses a team allows its activities; nil = whatever the server permits.
func (p *policies) reach(ctx context.Context, team string) ([]netip.Prefix, error) {
	id, err := uuid.Parse(team)
	if err != nil {
		return nil, nil // an attempt outside any team, as in tests
	}
	policy, err := p.of(ctx, id)
	if err != nil {
		return nil, err
	}
	var ranges []netip.Prefix
	for _, text := range policy.EgressAllow {
		egress, err := activity.ParseEgress(text)
		if err != nil {
			return nil, fmt.Errorf("the policy egressAllow: %w", err)
		}
		ranges = append(ranges, egress.Allow...)
	}
	return ranges, nil
}
