package activity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Connection is a service that activities reach by name, with its secrets opened.
type Connection struct {
	Name, Kind string
	Settings   map[string]any    // texts, numbers and booleans; see CheckConnection
	Secrets    map[string]string // values by field
}

// Connections finds a connection of a team for a workflow. It answers ErrNoConnection, ErrNotUsable, or a fault
// of this server.
type Connections func(ctx context.Context, team, workflow, name string) (Connection, error)

// ErrNoConnection says that the team has no connection of that name, or that it needs a secret that is gone.
var ErrNoConnection = errors.New("no such connection")

// ErrNotUsable says that a secret or connection is there, but not for this workflow.
var ErrNotUsable = errors.New("this workflow may not use it")

// NotUsable is the error of an attempt that asks for a secret or a connection of other workflows.
func NotUsable(what string, err error) *execution.Error {
	return &execution.Error{Type: "policy." + what, Class: classActivity, Message: err.Error()}
}

// Tester is a runner that can prove a connection without any effect. Test answers why it does not work.
type Tester interface {
	Test(ctx context.Context, connection Connection) error
}

// connectionFields are the settings and secrets of a kind, those of "must" are required.
var connectionFields = map[string]struct{ must, may, secrets []string }{
	"http": {must: []string{"baseUrl"}, may: []string{"auth", "username", "name", "in", "header", "tokenUrl", "clientId", "scope"},
		secrets: []string{"password", "token", "value", "secret", "clientSecret"}},
	"sql":  {must: []string{"host", "database", "user"}, may: []string{"port", "sslmode"}, secrets: []string{"password"}},
	"smtp": {must: []string{"host"}, may: []string{"port", "security", "username", "from"}, secrets: []string{"password"}},
	"ai":   {must: []string{"baseUrl"}, may: []string{"model"}, secrets: []string{"apiKey"}},
}

// CheckConnection checks what is known of a connection before it is used: kind, fields and their form.
// secrets maps fields to names of secrets.
func CheckConnection(kind string, settings map[string]any, secrets map[string]string) error {
	fields, known := connectionFields[kind]
	if !known {
		return fmt.Errorf("kind must be one of %s, not %q", strings.Join(ConnectionKinds(), ", "), kind)
	}
	for _, key := range fields.must {
		if text, _ := scalar(settings[key]); text == "" {
			return fmt.Errorf("settings.%s is required: a connection of kind %s has %s", key, kind, strings.Join(slices.Concat(fields.must, fields.may), ", "))
		}
	}
	for key, value := range settings {
		if !slices.Contains(fields.must, key) && !slices.Contains(fields.may, key) {
			return fmt.Errorf("settings.%s is unknown: a connection of kind %s has %s", key, kind, strings.Join(slices.Concat(fields.must, fields.may), ", "))
		}
		if _, plain := scalar(value); !plain {
			return fmt.Errorf("settings.%s must be a text, number or boolean", key)
		}
	}
	for key := range secrets {
		if !slices.Contains(fields.secrets, key) {
			return fmt.Errorf("secrets.%s is unknown: a connection of kind %s has %s", key, kind, strings.Join(fields.secrets, ", "))
		}
	}
	return checkSettings(kind, Connection{Kind: kind, Settings: settings})
}

func checkSettings(kind string, c Connection) error {
	switch kind {
	case "sql":
		_, err := c.sqlConfig(Egress{})
		return err
	case "smtp":
		_, err := c.mailServer()
		return err
	}
	_, unknown := c.auth()
	_, err := c.baseURL()
	return errors.Join(err, unknown)
}

// text is a setting, "" when it is not given.
func (c Connection) text(key string) string {
	text, _ := scalar(c.Settings[key])
	return text
}

func (c Connection) textOr(key, otherwise string) string {
	if text := c.text(key); text != "" {
		return text
	}
	return otherwise
}

// baseURL is the address of a web service, without a slash at its end.
func (c Connection) baseURL() (string, error) {
	base := strings.TrimRight(c.text("baseUrl"), "/")
	parsed, err := url.Parse(base)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return "", fmt.Errorf("settings.baseUrl must be an absolute http or https address")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", fmt.Errorf("settings.baseUrl must have no user, query or fragment; credentials belong into secrets")
	}
	return base, nil
}

// connection opens the one that an activity names.
func (c Call) connection(ctx context.Context, name, kind string) (Connection, *Outcome) {
	failed := func(outcome Outcome) (Connection, *Outcome) { return Connection{}, &outcome }
	if c.connect == nil {
		return failed(fail("engine.connection", classInfrastructure, nil, "this worker knows no connections"))
	}
	found, err := c.connect(ctx, name)
	switch {
	case errors.Is(err, ErrNoConnection):
		return failed(fail("connection.not_found", classActivity, nil, "the connection %s cannot be used: %s", name, err))
	case errors.Is(err, ErrNotUsable):
		return failed(Outcome{Err: NotUsable("connection", err)})
	case err != nil:
		return failed(fail("engine.connection", classInfrastructure, nil, "the connection %s cannot be read: %s", name, err))
	case found.Kind != kind:
		return failed(fail("input.invalid", classActivity, nil, "the connection %s is of kind %s, not %s", name, found.Kind, kind))
	}
	return found, nil
}

// Connect says where connections are found; before the first Run.
func (r *Registry) Connect(connections Connections) { r.connections = connections }

// ConnectionOf is the connection that an activity names, and the kind it has to have; "" when it uses none.
func ConnectionOf(step *flow.Activity) (name, kind string) {
	switch step.Type {
	case flow.TypeSQL:
		kind = "sql"
	case flow.TypeAI:
		kind = "ai"
	case flow.TypeEmail:
		name, kind = defaultConnection, "smtp"
	case flow.TypeHTTP:
		kind = "http"
	default:
		return "", ""
	}
	if given, ok := literalInput(step.Inputs, "connection").(string); ok {
		name = given
	}
	return name, kind
}

// testers are the activity types that test a kind of connection.
var testers = map[string]string{"http": "http", "sql": "sql", "smtp": "email", "ai": "ai"}

// Test proves a connection; the error says why it does not work, without its secrets.
func (r *Registry) Test(ctx context.Context, connection Connection) error {
	tester, ok := r.runners[testers[connection.Kind]].(Tester)
	if !ok {
		return fmt.Errorf("this server cannot use connections of kind %s", connection.Kind)
	}
	err := tester.Test(ctx, connection)
	if err == nil {
		return nil
	}
	hidden := execution.NewScrubber(slices.Collect(maps.Values(connection.Secrets)))
	return errors.New(hidden.Text(err.Error()))
}
