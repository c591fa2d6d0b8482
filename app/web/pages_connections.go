package web

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/activity"
	settingsview "weftline/views/settings"
)

// everyOne is a page that holds all secrets or connections that a team can reasonably have.
var everyOne = engine.PageRequest{Limit: 500}

func (p *Pages) secrets(c *fiber.Ctx) error {
	return p.showSecrets(c, settingsview.Secrets{Typed: settingsview.SecretRow{Name: c.Query("name")}})
}

func (p *Pages) showSecrets(c *fiber.Ctx, view settingsview.Secrets) error {
	list, err := p.Vault.Secrets(c.UserContext(), ViewOf(c).Who, everyOne)
	if err != nil {
		return err
	}
	frame := p.frame(c, "Settings", "settings")
	for _, secret := range list.Items {
		row := settingsview.SecretRow{Name: secret.Name, By: secret.UpdatedBy, UsableBy: secret.UsableBy, UpdatedAt: secret.UpdatedAt}
		if view.Error == "" && secret.Name == view.Typed.Name {
			view.Typed = row
		}
		view.Rows = append(view.Rows, row)
	}
	view.Now, view.MayEdit, view.CSRF = now(), May(c, auth.Admin), frame.CSRF
	return Render(c, settingsview.SecretsPage(frame, view))
}

func (p *Pages) saveSecret(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	change := engine.SecretChange{Name: strings.TrimSpace(form.Get("name")), Value: form.Get("value"), UsableBy: listed(form.Get("usableBy"))}
	err = p.Vault.PutSecret(c.UserContext(), ViewOf(c).Who, change)
	if refusal := pageRefusal(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showSecrets(c, settingsview.Secrets{Error: refusal, Typed: settingsview.SecretRow{Name: change.Name, UsableBy: change.UsableBy}})
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/settings/secrets")
}

// pageRefusal is shown, and what a form names that does not exist as well.
func pageRefusal(err error) string {
	var text string
	if isRefusal(err, "not_found") {
		text = strings.TrimPrefix(err.Error(), "not_found: ")
	}
	return max(text, shown(err))
}

func (p *Pages) deleteSecret(c *fiber.Ctx) error {
	if err := p.Vault.DeleteSecret(c.UserContext(), ViewOf(c).Who, c.Params("secret")); err != nil {
		return err
	}
	return seeOther(c, "/settings/secrets")
}

func (p *Pages) connections(c *fiber.Ctx) error {
	return p.showConnections(c, settingsview.Connections{Typed: settingsview.ConnectionTyped{Name: c.Query("name")}})
}

func (p *Pages) showConnections(c *fiber.Ctx, view settingsview.Connections) error {
	list, err := p.Connections.Connections(c.UserContext(), ViewOf(c).Who, everyOne)
	if err != nil {
		return err
	}
	frame := p.frame(c, "Settings", "settings")
	for _, kept := range list.Items {
		row := settingsview.ConnectionRow{Name: kept.Name, Kind: kept.Kind, By: kept.UpdatedBy, UsableBy: kept.UsableBy, UpdatedAt: kept.UpdatedAt,
			Settings: fieldLines(kept.Settings), Secrets: fieldLines(kept.Secrets)}
		if view.Error == "" && view.Typed.Kind == "" && kept.Name == view.Typed.Name {
			view.Typed = settingsview.ConnectionTyped{Name: kept.Name, Kind: kept.Kind, Settings: strings.Join(row.Settings, "\n"),
				Secrets: strings.Join(row.Secrets, "\n"), UsableBy: strings.Join(kept.UsableBy, ", ")}
		}
		view.Rows = append(view.Rows, row)
	}
	view.Now, view.MayEdit, view.Kinds, view.CSRF = now(), May(c, auth.Admin), activity.ConnectionKinds(), frame.CSRF
	return Render(c, settingsview.ConnectionsPage(frame, view))
}

// fieldLines writes fields as "name: value", sorted.
func fieldLines[V any](fields map[string]V) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, fmt.Sprintf("%s: %v", name, fields[name]))
	}
	return lines
}

// fieldsOf reads what fieldLines wrote.
func fieldsOf(text string) (map[string]string, error) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, engine.Refuse("invalid_input", strconv.Quote(line)+" is no field: write name: value")
		}
		fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return fields, nil
}

func (p *Pages) saveConnection(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	typed := settingsview.ConnectionTyped{Name: strings.TrimSpace(form.Get("name")), Kind: form.Get("kind"), Settings: form.Get("settings"),
		Secrets: form.Get("secrets"), UsableBy: form.Get("usableBy")}
	given, err := connectionTyped(typed)
	if err == nil {
		_, err = p.Connections.PutConnection(c.UserContext(), ViewOf(c).Who, given)
	}
	if refusal := shown(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showConnections(c, settingsview.Connections{Error: refusal, Typed: typed})
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/settings/connections")
}

func connectionTyped(typed settingsview.ConnectionTyped) (engine.Connection, error) {
	given := engine.Connection{Name: typed.Name, Kind: typed.Kind, Settings: map[string]any{}, UsableBy: listed(typed.UsableBy)}
	settings, err := fieldsOf(typed.Settings)
	if err != nil {
		return given, err
	}
	for name, value := range settings {
		given.Settings[name] = settingOf(value)
	}
	given.Secrets, err = fieldsOf(typed.Secrets)
	return given, err
}

// settingOf takes whole numbers and truth values for what they are.
func settingOf(text string) any {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

func (p *Pages) testConnection(c *fiber.Ctx) error {
	name := c.Params("connection")
	result, err := p.Connections.TestConnection(c.UserContext(), ViewOf(c).Who, name)
	if err != nil {
		return err
	}
	return p.showConnections(c, settingsview.Connections{Tested: name + ": " + result.Message, TestOK: result.OK})
}

func (p *Pages) deleteConnection(c *fiber.Ctx) error {
	if err := p.Connections.DeleteConnection(c.UserContext(), ViewOf(c).Who, c.Params("connection")); err != nil {
		return err
	}
	return seeOther(c, "/settings/connections")
}
