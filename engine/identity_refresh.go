package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Refresh is the right to ask the provider of a session again. One replica has it at a time.
type Refresh struct {
	Session      uuid.UUID
	Person       uuid.UUID
	Provider     string
	Issuer       string
	Subject      string
	RefreshToken string
	IDToken      string
}

// ErrNoRefresh says that nothing is due, or that somebody else is at it.
var ErrNoRefresh = errors.New("no refresh is due")

// ClaimRefresh takes the right to ask for at most within; then others may.
func (i *Identity) ClaimRefresh(ctx context.Context, id string, within time.Duration) (Refresh, error) {
	row, err := i.q.ClaimRefresh(ctx, int32(within.Seconds())+1, digest(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return Refresh{}, ErrNoRefresh
	}
	if err != nil {
		return Refresh{}, fmt.Errorf("claim the refresh of the session: %w", err)
	}
	refresh := Refresh{Session: row.ID, Person: row.UserID, Provider: textOr(row.Provider, ""), Issuer: textOr(row.Issuer, ""), Subject: textOr(row.Subject, "")}
	if refresh.RefreshToken, err = i.unseal(row.KeyID, tokenPlace(row.UserID, "refresh"), row.RefreshToken); err != nil {
		return Refresh{}, err
	}
	refresh.IDToken, err = i.unseal(row.KeyID, tokenPlace(row.UserID, "id"), row.IDToken)
	return refresh, err
}

// KeepRefreshed stores what the provider gave anew.
func (i *Identity) KeepRefreshed(ctx context.Context, refresh Refresh, held ProviderSession) error {
	sealed, err := i.sealTokens(refresh.Person, held)
	if err != nil {
		return err
	}
	return i.q.KeepRefreshed(ctx, queries.KeepRefreshedParams{ID: refresh.Session, RefreshAt: held.RefreshAt,
		KeyID: sealed.keyID, RefreshToken: sealed.refresh, IDToken: sealed.id})
}

// PostponeRefresh notes that the provider did not answer. It answers true when the session has lived without
// its provider for longer than grace.
func (i *Identity) PostponeRefresh(ctx context.Context, refresh Refresh, pause, grace time.Duration) (over bool, err error) {
	return i.q.PostponeRefresh(ctx, int32(pause.Seconds()), refresh.Session, int32(grace.Seconds()))
}

// EndRefused ends a session that its provider no longer vouches for.
func (i *Identity) EndRefused(ctx context.Context, refresh Refresh, why string) error {
	var team uuid.UUID
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		gone, err := q.DeleteSessionByID(ctx, refresh.Session, refresh.Person, false, uuid.Nil)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("end the session: %w", err)
		}
		team = gone.TeamID
		return record(ctx, q, Who{Team: team, User: "server"}, act{action: "session.ended_by_provider", target: refresh.Session.String(),
			forWhom: gone.UserName, detail: map[string]any{"provider": refresh.Provider, "why": why}})
	})
	if err == nil && team != uuid.Nil {
		i.changed(team)
	}
	return err
}

// EndProviderSessions obeys a logout of the provider: of its session sid, or of all of the subject's when sid
// is empty. A token that was obeyed before is refused: conflict.
func (i *Identity) EndProviderSessions(ctx context.Context, provider, issuer, subject, sid, tokenID string, tokenExpires time.Time) (int, error) {
	var teams []uuid.UUID
	err := inTx(ctx, i.db, func(q *queries.Queries) error {
		fresh, err := q.KeepLogoutToken(ctx, provider, tokenID, tokenExpires)
		if err != nil {
			return fmt.Errorf("remember the logout token: %w", err)
		}
		if fresh == 0 {
			return Refuse("conflict", "this logout token was used before")
		}
		if teams, err = q.DeleteSessionsByProvider(ctx, &provider, &issuer, sid, subject); err != nil {
			return fmt.Errorf("end the sessions: %w", err)
		}
		for _, team := range unique(teams) {
			err := audit(ctx, q, Who{Team: team, User: "server"}, "session.ended_by_provider", provider,
				map[string]any{"subject": subject, "providerSession": sid})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, team := range unique(teams) {
		i.changed(team)
	}
	return len(teams), nil
}

func unique(ids []uuid.UUID) []uuid.UUID {
	seen := map[uuid.UUID]bool{}
	var kept []uuid.UUID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			kept = append(kept, id)
		}
	}
	return kept
}

// sealedTokens are a provider's tokens as they are stored.
type sealedTokens struct {
	keyID       string
	refresh, id []byte
}

func (i *Identity) sealTokens(person uuid.UUID, held ProviderSession) (sealedTokens, error) {
	if i.keys.Empty() {
		return sealedTokens{}, Refuse("conflict", "this server has no key to seal tokens of a provider with; start it with WEFTLINE_SECRET_KEY")
	}
	sealed := sealedTokens{keyID: i.keys.Current()}
	var failed, err error
	if held.RefreshToken != "" {
		_, sealed.refresh, failed = i.keys.Put(tokenPlace(person, "refresh"), []byte(held.RefreshToken))
	}
	if held.IDToken != "" {
		_, sealed.id, err = i.keys.Put(tokenPlace(person, "id"), []byte(held.IDToken))
	}
	return sealed, errors.Join(failed, err)
}

// unseal answers "" for what was never there.
func (i *Identity) unseal(keyID, place string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	token, err := i.keys.Get(keyID, place, sealed)
	return string(token), err
}

// tokenPlace binds a sealed token to its person: in another person's row it does not open.
func tokenPlace(person uuid.UUID, kind string) string {
	return "session/" + person.String() + "/" + kind
}
