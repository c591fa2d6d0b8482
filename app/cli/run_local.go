package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"

	"weftline/app/config"
	"weftline/app/strictjson"
	"weftline/engine"
	"weftline/engine/flow"
)

// runLocally runs a file on an engine in this process, over a temporary private PostgreSQL (or a scratch
// database on the server of DATABASE_URL), and waits for its end. Human tasks and events cannot be answered here, so it says what it waits for.
func runLocally(ctx context.Context, t Terminal, file string, input map[string]any, f runFlags) error {
	text, err := readFile(t, file)
	if err != nil {
		return err
	}
	report := flow.Validate(text)
	if !report.Valid {
		writeLines(t.Err, file, report)
		return exit(1)
	}
	folder, err := os.MkdirTemp("", "weftline-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c, err := config.Load("run", []string{"--data-dir", folder, "--log-level", "error"}, t.Env, t.Out, config.Database, config.Logging)
	if err != nil {
		return err
	}
	if c.DatabaseURL != "" {
		address, drop, err := scratchDatabase(ctx, c.DatabaseURL)
		if err != nil {
			return err
		}
		defer drop()
		c.DatabaseURL = address
	}
	app, err := startApplication(ctx, c, slog.New(slog.NewTextHandler(t.Err, &slog.HandlerOptions{Level: slog.LevelError})), false)
	if err != nil {
		return err
	}
	defer app.stop()
	person, err := app.identity.EnsureLocalUser(ctx, localUser)
	if err != nil {
		return err
	}
	local := localRun{t: t, door: app.engine, who: localWho(person), flags: f}
	id, err := local.start(ctx, report.Name, text, input)
	if err != nil {
		return err
	}
	return local.follow(ctx, id)
}

// localRun drives one execution through the door of this process.
type localRun struct {
	t     Terminal
	door  engine.Door
	who   engine.Who
	flags runFlags
}

func (l *localRun) start(ctx context.Context, name string, text []byte, input map[string]any) (uuid.UUID, error) {
	draft, err := l.door.Draft(ctx, l.who, name)
	create := err != nil
	if _, err := l.door.SaveDraft(ctx, l.who, name, text, draft.ETag, create); err != nil {
		return uuid.Nil, explained(err)
	}
	if _, _, err := l.door.Publish(ctx, l.who, name, "weftline run"); err != nil {
		return uuid.Nil, explained(err)
	}
	started, err := l.door.Start(ctx, l.who, engine.StartRequest{Workflow: name, Input: input})
	return started.ID, explained(err)
}

// follow prints events as they come, and each new reason to wait, until the end.
func (l *localRun) follow(ctx context.Context, id uuid.UUID) error {
	moved := make(chan struct{}, 1)
	stop := l.door.Watch(l.who.Team, func(change engine.Change) {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	defer stop()
	var after int64
	said := ""
	for {
		page, err := l.door.Events(ctx, l.who, id, after, 500)
		if err != nil {
			return explained(err)
		}
		if len(page.Events) > 0 {
			after = page.Events[len(page.Events)-1].Seq
			if err := l.show(page); err != nil {
				return err
			}
		}
		if page.Terminal && after == page.LastSeq {
			return l.end(ctx, id)
		}
		if said, err = l.waiting(ctx, id, said); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		case <-time.After(500 * time.Millisecond): // a hint is never the truth
		}
	}
}

func (l *localRun) show(page engine.EventPage) error {
	if !l.flags.watch || l.flags.asJSON {
		return nil
	}
	shown, err := plainJSON(page)
	if err != nil {
		return err
	}
	writeEvents(l.t, shown)
	return nil
}

// waiting says on standard error what the execution waits for, when that has changed.
func (l *localRun) waiting(ctx context.Context, id uuid.UUID, said string) (string, error) {
	detail, err := l.door.Execution(ctx, l.who, id)
	if err != nil {
		return said, explained(err)
	}
	now := ""
	for _, wait := range detail.Waits {
		if wait.Kind == "human" || wait.Kind == "event" {
			now += fmt.Sprintf("%s waits: %s\n", wait.Activity, wait.Reason)
		}
	}
	if now != said {
		fmt.Fprint(l.t.Err, now)
	}
	return now, nil
}

func (l *localRun) end(ctx context.Context, id uuid.UUID) error {
	detail, err := l.door.Execution(ctx, l.who, id)
	if err != nil {
		return explained(err)
	}
	shown, err := plainJSON(detail)
	if err != nil {
		return err
	}
	return ended(l.t, shown, l.flags.asJSON)
}

// plainJSON gives a value the form in which a client of the API has it.
func plainJSON(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return strictjson.Parse(text)
}

// explained adds the places of a refusal to its message.
func explained(err error) error {
	var refusal *engine.Error
	if !errors.As(err, &refusal) {
		return err
	}
	text := refusal.Message
	for _, problem := range refusal.Problems {
		text += "\n  " + problem.Path + ": " + problem.Message
	}
	return errors.New(text)
}
