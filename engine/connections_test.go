package engine

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"weftline/engine/activity"
)

// probe stands for the ai kind; it takes any connection whose key is right.
type probe struct{}

func (probe) Run(context.Context, activity.Call) activity.Outcome { return activity.Outcome{} }

func (probe) Test(_ context.Context, connection activity.Connection) error {
	if key := connection.Secrets["apiKey"]; key != "s3cr3t-1" {
		return errors.New("the key " + key + " is wrong")
	}
	return nil
}

func newServices(t *testing.T) (*Connections, *Vault, Who) {
	t.Helper()
	vault, admin := newVault(t, 1)
	kinds := activity.NewRegistry()
	kinds.Register("ai", probe{})
	return newConnections(vault.db, vault, kinds), vault, admin
}

func assistant() Connection {
	return Connection{Name: "assistant", Kind: "ai", Settings: map[string]any{"baseUrl": "https://ai.example/v1", "model": "small"},
		Secrets: map[string]string{"apiKey": "AI_KEY"}}
}

func TestConnectionsAreKeptByTeam(t *testing.T) {
	services, vault, admin := newServices(t)
	ctx := t.Context()
	kept, err := services.PutConnection(ctx, admin, assistant())
	if err != nil || !reflect.DeepEqual(kept.Settings, assistant().Settings) || kept.Secrets["apiKey"] != "AI_KEY" || kept.UpdatedBy != admin.User {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	if _, err := services.find(ctx, admin.Team.String(), "pay", "assistant"); !errors.Is(err, activity.ErrNoConnection) || !strings.Contains(err.Error(), "AI_KEY") {
		t.Errorf("without its secret: %v", err)
	}
	if err := vault.PutSecret(ctx, admin, SecretChange{Name: "AI_KEY", Value: "s3cr3t-1"}); err != nil {
		t.Fatal(err)
	}
	found, err := services.find(ctx, admin.Team.String(), "pay", "assistant")
	if err != nil || found.Kind != "ai" || found.Secrets["apiKey"] != "s3cr3t-1" || found.Settings["model"] != "small" {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := services.find(ctx, uuid.NewString(), "pay", "assistant"); !errors.Is(err, activity.ErrNoConnection) {
		t.Errorf("another team: %v", err)
	}
	page, err := services.Connections(ctx, admin, PageRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Secrets["apiKey"] != "AI_KEY" {
		t.Errorf("list %+v, %v", page, err)
	}
	if kind, err := services.kind(ctx, admin.Team, "assistant"); kind != "ai" || err != nil {
		t.Errorf("kind %q, %v", kind, err)
	}
	if err := services.DeleteConnection(ctx, admin, "assistant"); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, services.DeleteConnection(ctx, admin, "assistant"), "not_found")
	if kind, err := services.kind(ctx, admin.Team, "assistant"); kind != "" || err != nil {
		t.Errorf("after deletion: kind %q, %v", kind, err)
	}
}

func TestAConnectionTestSaysWhyAndHidesSecrets(t *testing.T) {
	services, vault, admin := newServices(t)
	ctx := t.Context()
	_, err := services.TestConnection(ctx, admin, "assistant")
	wantRefusal(t, err, "not_found")
	if _, err := services.PutConnection(ctx, admin, assistant()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		secret string
		ok     bool
		word   string
	}{{"", false, "no secret AI_KEY"}, {"wrong-key", false, "*** is wrong"}, {"s3cr3t-1", true, "answers"}} {
		if step.secret != "" {
			if err := vault.PutSecret(ctx, admin, SecretChange{Name: "AI_KEY", Value: step.secret}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := services.TestConnection(ctx, admin, "assistant")
		if err != nil || got.OK != step.ok || !strings.Contains(got.Message, step.word) || strings.Contains(got.Message, "wrong-key") {
			t.Errorf("with %q: %+v, %v", step.secret, got, err)
		}
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	services, _, admin := newServices(t)
	for name, change := range map[string]func(*Connection){
		"name":     func(c *Connection) { c.Name = "a/b" },
		"kind":     func(c *Connection) { c.Kind = "ftp" },
		"settings": func(c *Connection) { c.Settings = nil },
		"unknown":  func(c *Connection) { c.Settings["password"] = "hunter2" },
		"secret":   func(c *Connection) { c.Secrets = map[string]string{"apiKey": "a value, not a name"} },
	} {
		given := assistant()
		change(&given)
		if _, err := services.PutConnection(t.Context(), admin, given); err == nil {
			t.Errorf("%s was taken", name)
		} else {
			wantRefusal(t, err, "invalid_input")
		}
	}
}
