package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
)

// open are the routes that need no credential. Whatever is added here is open to the world.
var open = map[string]bool{
	"GET /healthz": true, "GET /readyz": true, "GET /metrics": true,
	"GET /api/v1/schema/workflow.json": true, "GET /api/v1/openapi.json": true,
	"GET /api/v1/live":   true,                                                          // asks for the credential itself, since a ticket will do; see package live
	"GET /hooks/:team/*": true, "POST /hooks/:team/*": true, "PUT /hooks/:team/*": true, // each webhook asks for its own proof
}

// pathOf fills the parameters of a route.
func pathOf(route Route) string {
	return strings.NewReplacer(":name", "w", ":id", known.String(), ":version", "1", ":number", "1", ":task", known.String(), ":backfill", known.String(), ":comment", "1").Replace(route.Path)
}

// Every route of the API refuses who is nobody, who is wrong and who lacks the right; a new one does so by
// its line in the table, or fails here.
func TestEveryRouteAsksWhoAsks(t *testing.T) {
	scopes := []string{"read", "run", "author", "review", "worker", "admin"}
	server, _ := newTestServer(t, nil)
	for _, route := range server.Routes() {
		line := route.Method + " " + route.Path
		if open[line] != (route.Needs == auth.Public) && route.Kind != Page {
			t.Errorf("%s: open to the world, but not listed as such, or the other way round", line)
			continue
		}
		if route.Kind != API || open[line] {
			continue
		}
		server, _ := newTestServer(t, nil) // one for each: it slows down whoever guesses
		for name, headers := range map[string][]string{
			"nobody": nil, "garbage": {"Authorization", "Bearer garbage"}, "basic": {"Authorization", "Basic YTpi"},
			"stale session": {"Cookie", auth.CookieName + "=old"},
		} {
			if got := ask(t, server, request{route.Method, pathOf(route), "", headers}); got.StatusCode != fiber.StatusUnauthorized {
				t.Errorf("%s: %s gets %d", line, name, got.StatusCode)
			}
		}
		for _, scope := range scopes {
			allowed := scope == "admin" || scope == string(route.Needs) || route.Needs == auth.Decide && scope == "run" || route.Needs == auth.Discuss && (scope == "author" || scope == "review")
			if allowed {
				continue // what it answers then is the handler's, see the other tests
			}
			if got := ask(t, server, request{route.Method, pathOf(route), "", bearer(scope)}); got.StatusCode != fiber.StatusForbidden {
				t.Errorf("%s: the scope %s gets %d", line, scope, got.StatusCode)
			}
		}
	}
}

// No write is a GET: a link, an image or a prefetch must never decide anything.
func TestWritesAreNoGETs(t *testing.T) {
	server, _ := newTestServer(t, nil)
	for _, route := range server.Routes() {
		if route.Method == fiber.MethodGet && route.Kind == API && route.Needs != auth.Public && route.Needs != auth.Read && route.Needs != auth.Admin {
			t.Errorf("GET %s needs the right %s: what only looks needs read", route.Path, route.Needs)
		}
	}
}

func TestTheAPIDocumentHoldsEveryRoute(t *testing.T) {
	server, _ := newTestServer(t, nil)
	got := ask(t, server, request{"GET", "/api/v1/openapi.json", "", nil})
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string           `json:"operationId"`
			Summary     string           `json:"summary"`
			Responses   map[string]any   `json:"responses"`
			Parameters  []map[string]any `json:"parameters"`
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal([]byte(got.text), &document); err != nil || document.OpenAPI != "3.1.0" {
		t.Fatalf("%d %v", got.StatusCode, err)
	}
	ids := map[string]bool{}
	for _, route := range server.Routes() {
		if route.Kind == Page {
			continue
		}
		template := strings.NewReplacer(":name", "{name}", ":id", "{id}", ":version", "{version}", ":number", "{number}", ":comment", "{comment}", ":backfill", "{backfill}", ":team", "{team}", ":activity", "{activity}", "*", "{path}").Replace(route.Path)
		operation, ok := document.Paths[template][strings.ToLower(route.Method)]
		if !ok || operation.Summary == "" || len(operation.Responses) < 2 || ids[operation.OperationID] {
			t.Errorf("%s %s is missing or incomplete: %+v", route.Method, template, operation)
		}
		ids[operation.OperationID] = true
	}
	for _, reference := range strings.Split(got.text, `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(reference, `"`)
		if schema, ok := document.Components.Schemas[name].(map[string]any); !ok || schema["type"] == nil {
			t.Errorf("the schema %s is referred to and does not exist", name)
		}
	}
}
