package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/engine/seal"
	"weftline/engine/store"
	"weftline/queries"
)

// Vault keeps the secrets of teams: encrypted at rest, written but never read back through the door, and
// opened only for the worker that is about to use them.
type Vault struct {
	db   queries.Pool
	q    *queries.Queries
	keys *seal.Ring // empty = nothing can be kept
}

// NewVault makes a vault that seals with the keys of a ring. Without a key it refuses to keep anything.
func NewVault(db queries.Pool, keys *seal.Ring) *Vault {
	return &Vault{db: db, q: queries.New(db), keys: keys}
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
	case v.keys.Empty():
		return Refuse("conflict", seal.ErrNoKey.Error())
	}
	keyID, sealed, err := v.keys.Put(secretPlace(who.Team, name), []byte(value))
	if err != nil {
		return fmt.Errorf("seal the secret %s: %w", name, err)
	}
	row := queries.PutSecretParams{TeamID: who.Team, Name: name, KeyID: keyID, Sealed: sealed, UpdatedBy: cleanText(who.User), UsableBy: change.UsableBy}
	return v.changed(ctx, who, "secret.put", name, func(q *queries.Queries) error {
		if err := q.PutSecret(ctx, row); err != nil {
			return fmt.Errorf("keep the secret %s: %w", name, err)
		}
		return nil
	})
}

// changed runs a change of a secret and audits what may be seen of it before and after, which is never its value.
func (v *Vault) changed(ctx context.Context, who Who, action, name string, change func(*queries.Queries) error) error {
	return inTx(ctx, v.db, func(q *queries.Queries) error {
		before, err := shownSecret(ctx, q, who, name)
		if err != nil {
			return err
		}
		if err := change(q); err != nil {
			return err
		}
		after, err := shownSecret(ctx, q, who, name)
		if err != nil {
			return err
		}
		return record(ctx, q, who, act{action: action, target: name, before: before, after: after})
	})
}

// shownSecret is what the audit compares of a secret; nil when there is none. A new value has a new time.
func shownSecret(ctx context.Context, q *queries.Queries, who Who, name string) (any, error) {
	row, err := q.ShownSecret(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret %s: %w", name, err)
	}
	return map[string]any{"usableBy": row.UsableBy, "updatedAt": row.UpdatedAt, "updatedBy": row.UpdatedBy}, nil
}

// limit says which workflows may use a secret that exists.
func (v *Vault) limit(ctx context.Context, who Who, change SecretChange) error {
	return v.changed(ctx, who, "secret.limited", change.Name, func(q *queries.Queries) error {
		changed, err := q.LimitSecret(ctx, change.UsableBy, who.Team, change.Name)
		if err != nil {
			return fmt.Errorf("limit the secret %s: %w", change.Name, err)
		}
		if changed == 0 {
			return Refuse("not_found", "there is no secret "+change.Name+" yet: send its value too")
		}
		return nil
	})
}

// DeleteSecret forgets a secret.
func (v *Vault) DeleteSecret(ctx context.Context, who Who, name string) error {
	return v.changed(ctx, who, "secret.deleted", name, func(q *queries.Queries) error {
		gone, err := q.DeleteSecret(ctx, who.Team, name)
		if err != nil {
			return fmt.Errorf("delete the secret %s: %w", name, err)
		}
		if gone == 0 {
			return Refuse("not_found", "there is no secret "+name)
		}
		return nil
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

// SecretsInUse lists by secret the workflows whose published version names it. Connections tell themselves.
func (v *Vault) SecretsInUse(ctx context.Context, who Who) (map[string][]string, error) {
	rows, err := v.q.SecretsInUse(ctx, who.Team)
	if err != nil {
		return nil, fmt.Errorf("find who uses the secrets: %w", err)
	}
	workflows := map[string][]string{}
	for _, row := range rows {
		workflows[row.Name] = append(workflows[row.Name], row.Workflow)
	}
	return workflows, nil
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
	value, err := v.keys.Get(row.KeyID, secretPlace(team, row.Name), row.Sealed)
	if err != nil {
		return "", fmt.Errorf("open the secret %s: %w", row.Name, err)
	}
	return string(value), nil
}

// secretPlace binds a sealed value to where it belongs: moved to another row, it does not open.
func secretPlace(team uuid.UUID, name string) string { return team.String() + "/" + name }

// Reseal seals with the first key of the vault what others of its keys have sealed: secrets, and the
// histories and messages that hold sensitive values. It answers how many rows that were. Afterwards the
// other keys are not needed any more.
func (v *Vault) Reseal(ctx context.Context) (changed int, err error) {
	if v.keys.Empty() {
		return 0, seal.ErrNoKey
	}
	rows, err := v.q.SecretsOfOtherKeys(ctx, v.keys.Current())
	if err != nil {
		return 0, fmt.Errorf("read the secrets of other keys: %w", err)
	}
	for _, row := range rows {
		value, err := v.open(row.TeamID, queries.SealedSecretsRow{Name: row.Name, KeyID: row.KeyID, Sealed: row.Sealed})
		if err != nil {
			return changed, err
		}
		keyID, sealed, err := v.keys.Put(secretPlace(row.TeamID, row.Name), []byte(value))
		if err != nil {
			return changed, err
		}
		n, err := v.q.ResealSecret(ctx, queries.ResealSecretParams{TeamID: row.TeamID, Name: row.Name, KeyID: keyID, Sealed: sealed, Before: row.Sealed})
		if err != nil {
			return changed, fmt.Errorf("seal the secret %s again: %w", row.Name, err)
		}
		changed += int(n)
	}
	schedules, err := resealSchedules(ctx, v.q, v.keys)
	if err != nil {
		return changed + schedules, err
	}
	others, err := store.Reseal(ctx, v.db, v.keys)
	return changed + schedules + others, err
}

// Hide encrypts a text that must be answered again, for Reveal. Without a key it is refused.
func (v *Vault) Hide(who Who, text string) (string, error) {
	box, err := v.keys.Box(answerPlace(who), []byte(text))
	if errors.Is(err, seal.ErrNoKey) {
		return "", Refuse("conflict", "without a key a value that is shown once cannot be kept for an Idempotency-Key: "+err.Error())
	}
	return base64.StdEncoding.EncodeToString(box), err
}

// Reveal is the inverse of Hide.
func (v *Vault) Reveal(who Who, hidden string) (string, error) {
	box, err := base64.StdEncoding.DecodeString(hidden)
	if err != nil {
		return "", fmt.Errorf("read a hidden value: %w", err)
	}
	text, err := v.keys.Unbox(answerPlace(who), box)
	return string(text), err
}

func answerPlace(who Who) string { return "answer/" + who.Team.String() }
