package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/queries"
)

// Connections keeps the services that activities of a team reach by name. Secrets are named, and opened only
// for the worker that is about to use them.
type Connections struct {
	db    queries.Pool
	q     *queries.Queries
	vault *Vault
	kinds *activity.Registry
	reach activity.Reach // nil = teams narrow nothing
}

func newConnections(db queries.Pool, vault *Vault, kinds *activity.Registry) *Connections {
	return &Connections{db: db, q: queries.New(db), vault: vault, kinds: kinds}
}

// Connection is a service by name. Secrets maps fields to the names of secrets.
type Connection struct {
	Name      string            `json:"name"`
	Kind      string            `json:"kind"`
	Settings  map[string]any    `json:"settings"`
	Secrets   map[string]string `json:"secrets"`
	UsableBy  []string          `json:"usableBy"` // names or patterns of workflows, empty = all
	UpdatedAt time.Time         `json:"updatedAt"`
	UpdatedBy string            `json:"updatedBy"`
}

// ConnectionTest says whether a connection works; Message says why not.
type ConnectionTest struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

var connectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// connectionTestTime is how long a test may take.
const connectionTestTime = 15 * time.Second

// PutConnection keeps a connection under its name, in place of the one that was there.
func (c *Connections) PutConnection(ctx context.Context, who Who, given Connection) (Connection, error) {
	if !connectionName.MatchString(given.Name) {
		return Connection{}, Refuse("invalid_input", fmt.Sprintf("%q is no name of a connection: use letters, digits, _, - and ., at most 63", given.Name))
	}
	if err := activity.CheckConnection(given.Kind, given.Settings, given.Secrets); err != nil {
		return Connection{}, Refuse("invalid_input", err.Error())
	}
	for _, name := range given.Secrets {
		if !secretName.MatchString(name) {
			return Connection{}, Refuse("invalid_input", "secrets name secrets of the team, they hold no values")
		}
	}
	patterns, err := checkPatterns(given.UsableBy)
	if err != nil {
		return Connection{}, err
	}
	settings, err := json.Marshal(orEmpty(given.Settings))
	if err != nil {
		return Connection{}, Refuse("invalid_input", "the settings cannot be written as JSON")
	}
	secrets, _ := json.Marshal(orEmpty(given.Secrets)) // a map of texts always has a JSON form
	var row queries.Connection
	err = inTx(ctx, c.db, func(q *queries.Queries) (err error) {
		before, err := c.shownBefore(ctx, q, who, given.Name)
		if err != nil {
			return err
		}
		row, err = q.PutConnection(ctx, queries.PutConnectionParams{TeamID: who.Team, Name: given.Name, Kind: given.Kind,
			Settings: settings, Secrets: secrets, UsableBy: patterns, UpdatedBy: cleanText(who.User)})
		if err != nil {
			return fmt.Errorf("keep the connection %s: %w", given.Name, err)
		}
		after, err := connectionOf(row)
		if err != nil {
			return err
		}
		return record(ctx, q, who, act{action: "connection.put", target: given.Name, before: before, after: after.shown()})
	})
	if err != nil {
		return Connection{}, err
	}
	return connectionOf(row)
}

func orEmpty[M ~map[K]V, K comparable, V any](given M) M {
	if given == nil {
		return M{}
	}
	return given
}

func connectionOf(row queries.Connection) (Connection, error) {
	connection := Connection{Name: row.Name, Kind: row.Kind, UsableBy: row.UsableBy, UpdatedAt: row.UpdatedAt, UpdatedBy: row.UpdatedBy}
	if err := errors.Join(json.Unmarshal(row.Settings, &connection.Settings), json.Unmarshal(row.Secrets, &connection.Secrets)); err != nil {
		return Connection{}, fmt.Errorf("read the connection %s: %w", row.Name, err)
	}
	return connection, nil
}

// shown is what the audit compares: names of secrets, never values.
func (c Connection) shown() map[string]any {
	return map[string]any{"kind": c.Kind, "settings": c.Settings, "secrets": c.Secrets, "usableBy": c.UsableBy}
}

// shownBefore is the connection that is there now; nil when there is none.
func (c *Connections) shownBefore(ctx context.Context, q *queries.Queries, who Who, name string) (any, error) {
	row, err := q.ConnectionByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the connection %s: %w", name, err)
	}
	connection, err := connectionOf(row)
	return connection.shown(), err
}

// DeleteConnection forgets a connection. Activities that name it fail from now on.
func (c *Connections) DeleteConnection(ctx context.Context, who Who, name string) error {
	return inTx(ctx, c.db, func(q *queries.Queries) error {
		before, err := c.shownBefore(ctx, q, who, name)
		if err != nil {
			return err
		}
		gone, err := q.DeleteConnection(ctx, who.Team, name)
		if err != nil {
			return fmt.Errorf("delete the connection %s: %w", name, err)
		}
		if gone == 0 {
			return noConnection(name)
		}
		return record(ctx, q, who, act{action: "connection.deleted", target: name, before: before})
	})
}

func noConnection(name string) *Error { return Refuse("not_found", "there is no connection "+name) }

// Connections lists the team's connections by name.
func (c *Connections) Connections(ctx context.Context, who Who, page PageRequest) (Page[Connection], error) {
	after, err := decodeCursor[string](page.Cursor)
	if err != nil {
		return Page[Connection]{}, err
	}
	rows, err := c.q.ListConnections(ctx, who.Team, after, page.size()+1)
	if err != nil {
		return Page[Connection]{}, fmt.Errorf("list connections: %w", err)
	}
	return paginate(rows, page, func(row queries.Connection) Connection {
		connection, _ := connectionOf(row) // written by PutConnection
		return connection
	}, func(last queries.Connection) any { return last.Name })
}

// TestConnection reaches the service as an activity would, without any effect.
func (c *Connections) TestConnection(ctx context.Context, who Who, name string) (ConnectionTest, error) {
	tested, err := c.test(ctx, who, name)
	if err != nil {
		return ConnectionTest{}, err
	}
	return tested, audit(ctx, c.q, who, "connection.tested", name, map[string]any{"ok": tested.OK})
}

func (c *Connections) test(ctx context.Context, who Who, name string) (ConnectionTest, error) {
	connection, err := c.open(ctx, who.Team, name, nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return ConnectionTest{}, noConnection(name)
	}
	if errors.Is(err, activity.ErrNoConnection) {
		return ConnectionTest{Message: err.Error()}, nil
	}
	if err != nil {
		return ConnectionTest{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectionTestTime)
	defer cancel()
	if c.reach != nil {
		ranges, err := c.reach(ctx, who.Team.String())
		if err != nil {
			return ConnectionTest{}, err
		}
		ctx = activity.WithReach(ctx, ranges)
	}
	if err := c.kinds.Test(ctx, connection); err != nil {
		return ConnectionTest{Message: err.Error()}, nil
	}
	return ConnectionTest{OK: true, Message: "the service answers"}, nil
}

// find is how workers come to a connection for a workflow.
func (c *Connections) find(ctx context.Context, team, workflow, name string) (activity.Connection, error) {
	id, err := uuid.Parse(team)
	if err != nil {
		return activity.Connection{}, fmt.Errorf("the team %q is no id: %w", team, err)
	}
	connection, err := c.open(ctx, id, name, func(patterns []string) error {
		if usableBy(patterns, workflow) {
			return nil
		}
		return fmt.Errorf("the connection %s is not for the workflow %s: %w", name, workflow, activity.ErrNotUsable)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return activity.Connection{}, fmt.Errorf("%w; an admin of the team makes one in the settings", activity.ErrNoConnection)
	}
	return connection, err
}

// open reads a connection with its secrets; pgx.ErrNoRows when there is none. may says whether it may be used,
// nil = it may.
func (c *Connections) open(ctx context.Context, team uuid.UUID, name string, may func(usableBy []string) error) (activity.Connection, error) {
	row, err := c.q.ConnectionByName(ctx, team, name)
	if err != nil {
		return activity.Connection{}, err
	}
	kept, err := connectionOf(row)
	if err != nil {
		return activity.Connection{}, err
	}
	if may != nil {
		if err := may(kept.UsableBy); err != nil {
			return activity.Connection{}, err
		}
	}
	values, err := c.vault.values(ctx, team, slices.Collect(maps.Values(kept.Secrets)), anyUse)
	if err != nil {
		return activity.Connection{}, err
	}
	opened := activity.Connection{Name: name, Kind: kept.Kind, Settings: kept.Settings, Secrets: map[string]string{}}
	for field, secret := range kept.Secrets {
		value, ok := values[secret]
		if !ok {
			return activity.Connection{}, fmt.Errorf("%w with all of its secrets: there is no secret %s", activity.ErrNoConnection, secret)
		}
		opened.Secrets[field] = value
	}
	return opened, nil
}

// kind is that of a team's connection, "" when there is none.
func (c *Connections) kind(ctx context.Context, team uuid.UUID, name string) (string, error) {
	row, err := c.q.ConnectionByName(ctx, team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return row.Kind, err
}
