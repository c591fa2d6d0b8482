package activity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// overConnection is the input of a request, made complete by the connection that it may name.
func (c Call) overConnection(ctx context.Context) (any, *Outcome) {
	given, _ := c.Input.(map[string]any)
	name, named := given["connection"].(string)
	if !named {
		return c.Input, nil
	}
	connection, failed := c.connection(ctx, name, "http")
	if failed != nil {
		return nil, failed
	}
	complete, err := connection.overConnection(given)
	if err != nil {
		outcome := invalid(err)
		return nil, &outcome
	}
	return complete, nil
}

// overConnection makes the inputs of a request that names a connection complete: its url is a path below the
// connection's address, its credential the connection's. A credential never goes to another address.
func (c Connection) overConnection(given map[string]any) (map[string]any, error) {
	path, _ := given["url"].(string)
	if path != "" && !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("url must be a path such as /orders, since the connection %s says where the service is", c.Name)
	}
	if given["auth"] != nil {
		return nil, fmt.Errorf("auth comes from the connection %s; leave one of them out", c.Name)
	}
	base, err := c.baseURL()
	if err != nil {
		return nil, err
	}
	inputs := maps.Clone(given)
	delete(inputs, "connection")
	inputs["url"] = base + path
	inputs["auth"], err = c.auth()
	return inputs, err
}

// auth is the credential as the inputs of a request have it; nil when the service asks for none.
func (c Connection) auth() (any, error) {
	kind := c.text("auth")
	if kind == "" {
		return nil, nil
	}
	keys, known := authKeys[kind]
	if !known {
		return nil, fmt.Errorf("settings.auth must be one of %s", strings.Join(slices.Sorted(maps.Keys(authKeys)), ", "))
	}
	auth := map[string]any{"type": kind}
	for _, key := range slices.Concat(keys.must, keys.may) {
		if value := c.Secrets[key]; value != "" {
			auth[key] = value
		} else if value := c.text(key); value != "" {
			auth[key] = value
		}
	}
	return auth, nil
}

// Test asks for the connection's address. Any answer will do that does not refuse the credential.
func (h *HTTP) Test(ctx context.Context, connection Connection) error {
	input, err := connection.overConnection(map[string]any{"url": "/"})
	if err != nil {
		return err
	}
	outcome := h.Run(ctx, Call{Input: input})
	if outcome.Err == nil {
		return nil
	}
	kind := outcome.Err.Type
	if strings.HasPrefix(kind, "http.4") && kind != "http.401" && kind != "http.403" || kind == "output.invalid" {
		return nil
	}
	return errors.New(outcome.Err.Message)
}
