package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Row is the line of an execution, as of its last change of status.
type Row = queries.Execution

// Filter narrows a list of executions; zero fields do not. Before and BeforeID are the last line of the
// page before.
type Filter struct {
	Team                                      uuid.UUID
	Workflow                                  string
	Status                                    []string
	Version                                   int
	CorrelationID                             string
	Labels                                    map[string]string
	StartedAfter, StartedBefore, UpdatedAfter *time.Time
	Search                                    string
	Before                                    *time.Time
	BeforeID                                  uuid.UUID
	Limit                                     int
}

// Executions lists executions, newest first.
func (s *Store) Executions(ctx context.Context, f Filter) ([]Row, error) {
	p := queries.ListExecutionsParams{TeamID: f.Team, Status: f.Status, PageSize: int32(f.Limit),
		Workflow: optionalText(f.Workflow), Correlation: optionalText(f.CorrelationID),
		StartedAfter: f.StartedAfter, StartedBefore: f.StartedBefore, UpdatedAfter: f.UpdatedAfter, Before: f.Before}
	if p.Status == nil {
		p.Status = []string{}
	}
	if f.Version != 0 {
		version := int32(f.Version)
		p.Version = &version
	}
	if id, err := uuid.Parse(f.CorrelationID); err == nil {
		p.CorrelationAsID = &id
	}
	if len(f.Labels) > 0 {
		p.Labels = json.RawMessage(labelsJSON(f.Labels))
	}
	if f.Search != "" {
		p.Search = optionalText("%" + escapeLike(f.Search) + "%")
	}
	if f.Before != nil {
		p.BeforeID = &f.BeforeID
	}
	return s.q.ListExecutions(ctx, p)
}

// WaitsOf is what executions of a team wait for, as far as tasks and event waits say it.
func (s *Store) WaitsOf(ctx context.Context, team uuid.UUID, ids []uuid.UUID) ([]queries.WaitsOfRow, error) {
	return s.q.WaitsOf(ctx, team, ids)
}

// Execution is the row of one execution of a team; ErrNotFound when the team has none of that id.
func (s *Store) Execution(ctx context.Context, team, id uuid.UUID) (queries.ExecutionByIDRow, error) {
	row, err := s.q.ExecutionByID(ctx, id, team)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, ErrNotFound
	}
	return row, err
}

// VersionOf is the published version that an execution runs on.
func (s *Store) VersionOf(ctx context.Context, team, id uuid.UUID) (queries.Version, error) {
	row, err := s.q.ExecutionVersion(ctx, id, team)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, ErrNotFound
	}
	return row, err
}

// WaitsNamed lists the open event waits of an execution that a signal of this name reaches.
func (s *Store) WaitsNamed(ctx context.Context, id uuid.UUID, name string) ([]queries.WaitsNamedRow, error) {
	return s.q.WaitsNamed(ctx, id, clean(name))
}

func escapeLike(text string) string {
	escaped := make([]rune, 0, len(text))
	for _, r := range clean(text) {
		if r == '%' || r == '_' || r == '\\' {
			escaped = append(escaped, '\\')
		}
		escaped = append(escaped, r)
	}
	return string(escaped)
}
