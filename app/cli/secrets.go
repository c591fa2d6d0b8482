package cli

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/app/config"
	"weftline/app/secretkey"
	"weftline/engine"
	"weftline/engine/seal"
)

func secrets(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "secrets", args, []command{
		{"rotate-key", "", "seals everything with a new key", rotateKey},
	})
}

// rotateKey seals again what older keys have sealed. With WEFTLINE_SECRET_KEY the operator has put the new
// key before the old one; a key in the data folder is replaced by a new one.
func rotateKey(ctx context.Context, t Terminal, args []string) error {
	c, err := config.Load("secrets rotate-key", args, t.Env, t.Out, config.Database, config.Keys)
	if err != nil {
		return err
	}
	keys, err := configuredKeys(c)
	if err != nil {
		return err
	}
	if len(keys) == 0 && c.DatabaseURL != "" {
		return seal.ErrNoKey
	}
	url, stop, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	if len(keys) > 0 {
		return reseal(ctx, t, url, keys)
	}
	return secretkey.Rotate(c.DataDir, func(keys [][]byte) error { return reseal(ctx, t, url, keys) })
}

func reseal(ctx context.Context, t Terminal, url string, bits [][]byte) error {
	keys, err := seal.NewRing(bits...)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	changed, err := engine.NewVault(pool, keys).Reseal(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%d values are sealed with the key %s now; older keys are not needed any more\n", changed, keys.Current())
	return nil
}
