package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/app/config"
	"weftline/engine"
	"weftline/migrations"
)

func token(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "token", args, []command{
		{"create", "--name N --scopes S,…", "prints the token, this once", createToken},
	})
}

// createToken works straight on the database: whoever may open it may do anything anyhow.
func createToken(ctx context.Context, t Terminal, args []string) error {
	flags := flag.NewFlagSet("token create", flag.ContinueOnError)
	flags.SetOutput(t.Err)
	c, err := config.Bind(flags, t.Env, config.Database)
	if err != nil {
		return err
	}
	name := flags.String("name", "", "what the token is for")
	scopes := flags.String("scopes", "read", "what it may do: read, run, author, review, worker, admin; several with commas")
	account := flags.String("service-account", "", "act as this named identity instead of the local user")
	groups := flags.String("groups", "", "groups of the service account; several with commas")
	expires := flags.Duration("expires-in", 0, "how long it is good, such as 720h; 0 is for ever")
	flags.Usage = func() {
		fmt.Fprint(t.Out, "Usage: weftline token create --name NAME --scopes SCOPE,…\n\n")
		flags.SetOutput(t.Out)
		flags.PrintDefaults()
	}
	if _, err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	request := engine.TokenRequest{Name: *name, Scopes: commas(*scopes)}
	if *account != "" {
		request.ServiceAccount = &engine.ServiceAccount{Name: *account, Groups: commas(*groups)}
	}
	if *expires > 0 {
		until := time.Now().Add(*expires)
		request.ExpiresAt = &until
	}
	value, err := makeToken(ctx, c, request)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, value)
	return err
}

func makeToken(ctx context.Context, c *config.Config, request engine.TokenRequest) (string, error) {
	url, stop, err := openDatabase(ctx, c)
	if err != nil {
		return "", err
	}
	defer stop()
	if err := migrations.Up(ctx, url); err != nil {
		return "", err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	identity := engine.NewIdentity(pool)
	person, err := identity.EnsureLocalUser(ctx, localUser)
	if err != nil {
		return "", err
	}
	_, value, err := identity.CreateToken(ctx, localWho(person), request)
	var refusal *engine.Error
	if errors.As(err, &refusal) {
		return "", errors.New(refusal.Message)
	}
	return value, err
}

// localUser is the one person of local mode.
const localUser = "local"

func localWho(person engine.Person) engine.Who {
	return engine.Who{Team: person.Team, TeamName: engine.DefaultTeam, User: person.Name, Person: person.User, Roles: []string{engine.RoleAdmin}, Address: "command line"}
}

func commas(text string) []string {
	var parts []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
