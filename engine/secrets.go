package engine

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/activity"
	"weftline/queries"
)

// Vault keeps the secrets of teams: encrypted at rest, written but never read back through the door, and
// opened only for the worker that is about to use them.
type Vault struct {
	db   *pgxpool.Pool
	q    *queries.Queries
	keys []sealKey // the first seals, all open; empty = nothing can be kept
}

// NewVault makes a vault with keys of 32 bytes: the first one seals, the others still open what they sealed.
// Without a key the vault refuses to keep anything.
func NewVault(db *pgxpool.Pool, keys ...[]byte) (*Vault, error) {
	v := &Vault{db: db, q: queries.New(db)}
	for _, key := range keys {
		made, err := newSealKey(key)
		if err != nil {
			return nil, err
		}
		v.keys = append(v.keys, made)
	}
	return v, nil
}

// Secret is a secret without its value.
type Secret struct {
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updatedAt"` // of the value
	UpdatedBy string    `json:"updatedBy"`
	UsableBy  []string  `json:"usableBy"` // names or patterns of workflows, empty = all
}

// SecretChange keeps a value under a name, in place of the one that was there. UsableBy nil leaves that as it
// is; a Value of "" leaves the value of a secret that exists.
type SecretChange struct {
	Name     string
	Value    string
	UsableBy []string
}

var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

const (
	shortestSecret = 4        // characters; anything shorter could not be masked without masking everything
	longestSecret  = 64 << 10 // bytes
)

// PutSecret keeps or changes a secret.
func (v *Vault) PutSecret(ctx context.Context, who Who, change SecretChange) error {
	var err error
	if change.UsableBy != nil {
		if change.UsableBy, err = checkPatterns(change.UsableBy); err != nil {
			return err
		}
	}
	if change.Value == "" && change.UsableBy != nil {
		return v.limit(ctx, who, change)
	}
	name, value := change.Name, change.Value
	switch {
	case !secretName.MatchString(name):
		return Refuse("invalid_input", fmt.Sprintf("%q is no name of a secret: use letters, digits and _, at most 63", name))
	case len(value) < shortestSecret || len(value) > longestSecret:
		return Refuse("invalid_input", fmt.Sprintf("a secret has from %d to %d bytes", shortestSecret, longestSecret))
	case len(v.keys) == 0:
		return Refuse("conflict", "this server has no key to encrypt secrets with; start it with WEFTLINE_SECRET_KEY")
	}
	key := v.keys[0]
	row := queries.PutSecretParams{TeamID: who.Team, Name: name, KeyID: key.id, Sealed: key.seal(secretPlace(who.Team, name), value), UpdatedBy: cleanText(who.User), UsableBy: change.UsableBy}
	return inTx(ctx, v.db, func(q *queries.Queries) error {
		if err := q.PutSecret(ctx, row); err != nil {
			return fmt.Errorf("keep the secret %s: %w", name, err)
		}
		return audit(ctx, q, who, "secret.put", name, usableDetail(change.UsableBy))
	})
}

func usableDetail(patterns []string) map[string]any {
	if patterns == nil {
		return map[string]any{}
	}
	return map[string]any{"usableBy": patterns}
}

// limit says which workflows may use a secret that exists.
func (v *Vault) limit(ctx context.Context, who Who, change SecretChange) error {
	return inTx(ctx, v.db, func(q *queries.Queries) error {
		changed, err := q.LimitSecret(ctx, change.UsableBy, who.Team, change.Name)
		if err != nil {
			return fmt.Errorf("limit the secret %s: %w", change.Name, err)
		}
		if changed == 0 {
			return Refuse("not_found", "there is no secret "+change.Name+" yet: send its value too")
		}
		return audit(ctx, q, who, "secret.limited", change.Name, usableDetail(change.UsableBy))
	})
}

// DeleteSecret forgets a secret.
func (v *Vault) DeleteSecret(ctx context.Context, who Who, name string) error {
	return inTx(ctx, v.db, func(q *queries.Queries) error {
		gone, err := q.DeleteSecret(ctx, who.Team, name)
		if err != nil {
			return fmt.Errorf("delete the secret %s: %w", name, err)
		}
		if gone == 0 {
			return Refuse("not_found", "there is no secret "+name)
		}
		return audit(ctx, q, who, "secret.deleted", name, map[string]any{})
	})
}

// Secrets lists names, never values.
func (v *Vault) Secrets(ctx context.Context, who Who, page PageRequest) (Page[Secret], error) {
	after, err := decodeCursor[string](page.Cursor)
	if err != nil {
		return Page[Secret]{}, err
	}
	rows, err := v.q.ListSecrets(ctx, who.Team, after, page.size()+1)
	if err != nil {
		return Page[Secret]{}, fmt.Errorf("list secrets: %w", err)
	}
	return paginate(rows, page,
		func(row queries.ListSecretsRow) Secret { return Secret(row) },
		func(last queries.ListSecretsRow) any { return last.Name })
}

// valuesFor opens secrets for a workflow; names that do not exist are absent, one that the workflow may not
// use is activity.ErrNotUsable.
func (v *Vault) valuesFor(ctx context.Context, team uuid.UUID, workflow string, names []string) (map[string]string, error) {
	return v.values(ctx, team, names, func(name string, patterns []string) error {
		if usableBy(patterns, workflow) {
			return nil
		}
		return fmt.Errorf("the secret %s is not for the workflow %s: %w", name, workflow, activity.ErrNotUsable)
	})
}

// anyUse lets a connection open the secrets that an admin gave it.
func anyUse(string, []string) error { return nil }

// values opens secrets; names that do not exist are absent.
func (v *Vault) values(ctx context.Context, team uuid.UUID, names []string, may func(name string, usableBy []string) error) (map[string]string, error) {
	rows, err := v.q.SealedSecrets(ctx, team, names)
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	values := map[string]string{}
	for _, row := range rows {
		if err := may(row.Name, row.UsableBy); err != nil {
			return nil, err
		}
		value, err := v.open(team, row)
		if err != nil {
			return nil, err
		}
		values[row.Name] = value
	}
	return values, nil
}

func (v *Vault) open(team uuid.UUID, row queries.SealedSecretsRow) (string, error) {
	for _, key := range v.keys {
		if key.id == row.KeyID {
			return key.open(secretPlace(team, row.Name), row.Sealed)
		}
	}
	return "", fmt.Errorf("the secret %s was encrypted with the key %s, which this server does not have; add it to WEFTLINE_SECRET_KEY", row.Name, row.KeyID)
}

// secretPlace binds a sealed value to where it belongs: moved to another row, it does not open.
func secretPlace(team uuid.UUID, name string) string { return team.String() + "/" + name }
