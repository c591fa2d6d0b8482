package engine

import (
	"context"
	"fmt"
)

// Teams is what the application may ask about the asker's own team.
type Teams interface {
	Team(ctx context.Context, who Who) (Team, error)
	ChangePolicy(ctx context.Context, who Who, change PolicyChange) (Policy, error)
}

// Team is the tenant with its members and its policy.
type Team struct {
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	Policy  Policy   `json:"policy"`
}

// Member is a person of the team.
type Member struct {
	Name   string   `json:"name"`
	Roles  []string `json:"roles"`
	Groups []string `json:"groups"`
}

// Team describes the asker's team.
func (p *policies) Team(ctx context.Context, who Who) (Team, error) {
	policy, err := p.read(ctx, who.Team)
	if err != nil {
		return Team{}, err
	}
	rows, err := p.q.ListMembers(ctx, who.Team)
	if err != nil {
		return Team{}, fmt.Errorf("list the members of the team: %w", err)
	}
	team := Team{Name: who.TeamName, Policy: policy, Members: []Member{}}
	for _, row := range rows {
		team.Members = append(team.Members, Member(row))
	}
	return team, nil
}
