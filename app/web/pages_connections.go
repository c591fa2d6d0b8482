package web

import (
	"fmt"
	"maps"
	"net/url"
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
	uses, err := p.usesOfSecrets(c)
	if err != nil {
		return err
	}
	frame := p.frame(c, "Secrets", "settings", settingsCrumb())
	for _, secret := range list.Items {
		row := settingsview.SecretRow{Name: secret.Name, By: secret.UpdatedBy, UsableBy: secret.UsableBy, UsedBy: uses[secret.Name], UpdatedAt: secret.UpdatedAt}
		if view.Error == "" && secret.Name == view.Typed.Name {
			if view.Asks {
				row.UsableBy = view.Typed.UsableBy
			}
			view.Typed, view.Replace = row, row.Name
		}
		view.Rows = append(view.Rows, row)
	}
	view.Now, view.MayEdit, view.CSRF = now(), May(c, auth.Admin), frame.CSRF
	return Render(c, settingsview.SecretsPage(frame, view))
}

// usesOfSecrets says in words who uses each secret: connections and published workflows.
func (p *Pages) usesOfSecrets(c *fiber.Ctx) (map[string][]string, error) {
	list, err := p.Connections.Connections(c.UserContext(), ViewOf(c).Who, everyOne)
	if err != nil {
		return nil, err
	}
	uses := map[string][]string{}
	for _, connection := range list.Items {
		for _, secret := range slices.Compact(slices.Sorted(maps.Values(connection.Secrets))) {
			uses[secret] = append(uses[secret], "the connection "+connection.Name)
		}
	}
	workflows, err := p.Vault.SecretsInUse(c.UserContext(), ViewOf(c).Who)
	for secret, names := range workflows {
		for _, name := range names {
			uses[secret] = append(uses[secret], "the workflow "+name)
		}
	}
	return uses, err
}

func (p *Pages) hasSecret(c *fiber.Ctx, name string) (bool, error) {
	list, err := p.Vault.Secrets(c.UserContext(), ViewOf(c).Who, everyOne)
	return slices.ContainsFunc(list.Items, func(secret engine.Secret) bool { return secret.Name == name }), err
}

func (p *Pages) saveSecret(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	change := engine.SecretChange{Name: strings.TrimSpace(form.Get("name")), Value: form.Get("value"), UsableBy: listed(form.Get("usableBy"))}
	if change.Value != "" && form.Get("replace") != change.Name {
		exists, err := p.hasSecret(c, change.Name)
		if err != nil {
			return err
		}
		if exists {
			c.Status(fiber.StatusConflict)
			return p.showSecrets(c, settingsview.Secrets{Asks: true, Typed: settingsview.SecretRow{Name: change.Name, UsableBy: change.UsableBy}})
		}
	}
	err = p.Vault.PutSecret(c.UserContext(), ViewOf(c).Who, change)
	if refusal := pageRefusal(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showSecrets(c, settingsview.Secrets{Error: refusal, Replace: form.Get("replace"), Typed: settingsview.SecretRow{Name: change.Name, UsableBy: change.UsableBy}})
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
	asked := engine.Connection{Name: c.Query("name"), Kind: c.Query("kind"), Settings: map[string]any{"auth": c.Query("auth")}}
	return p.showConnections(c, settingsview.Connections{}, asked)
}

// showConnections shows the list, and the form with what is typed into it. What is kept by that name is the
// form's where nothing else was asked for.
func (p *Pages) showConnections(c *fiber.Ctx, view settingsview.Connections, typed engine.Connection) error {
	who := ViewOf(c).Who
	list, err := p.Connections.Connections(c.UserContext(), who, everyOne)
	if err != nil {
		return err
	}
	secrets, err := p.Vault.Secrets(c.UserContext(), who, everyOne)
	if err != nil {
		return err
	}
	for _, secret := range secrets.Items {
		view.Form.SecretNames = append(view.Form.SecretNames, secret.Name)
	}
	for _, kept := range list.Items {
		view.Rows = append(view.Rows, settingsview.ConnectionRow{Name: kept.Name, Kind: kept.Kind, By: kept.UpdatedBy, UsableBy: kept.UsableBy, UpdatedAt: kept.UpdatedAt,
			Settings: fieldLines(kept.Settings), Secrets: fieldLines(kept.Secrets), Missing: missing(kept.Secrets, view.Form.SecretNames)})
		if kept.Name != typed.Name {
			continue
		}
		if view.Form.Error == "" && (typed.Kind == "" || typed.Kind == kept.Kind) {
			typed = keptWith(kept, typed)
		}
		view.Form.Kept = view.Form.Error == ""
	}
	fillForm(&view.Form, typed)
	frame := p.frame(c, "Connections", "settings", settingsCrumb())
	view.Now, view.MayEdit, view.CSRF = now(), May(c, auth.Admin), frame.CSRF
	return Render(c, settingsview.ConnectionsPage(frame, view))
}

// missing are the secrets of a connection that the team has no longer.
func missing(used map[string]string, kept []string) []string {
	gone := slices.Compact(slices.Sorted(maps.Values(used)))
	return slices.DeleteFunc(gone, func(name string) bool { return slices.Contains(kept, name) })
}

// keptWith is a kept connection with the way to authenticate that the form was switched to.
func keptWith(kept, asked engine.Connection) engine.Connection {
	if auth := asked.Settings["auth"]; asked.Kind != "" {
		kept.Settings = maps.Clone(kept.Settings)
		kept.Settings["auth"] = auth
	}
	return kept
}

func fillForm(form *settingsview.ConnectionForm, typed engine.Connection) {
	form.Kinds = activity.ConnectionKinds()
	form.Name, form.Kind, form.UsableBy = typed.Name, oneOf(typed.Kind, form.Kinds...), strings.Join(typed.UsableBy, ", ")
	if form.Kind == "" {
		form.Kind = form.Kinds[0]
	}
	form.Auths = activity.ConnectionAuths(form.Kind)
	if auth, ok := typed.Settings["auth"].(string); ok {
		form.Auth = oneOf(auth, form.Auths...)
	}
	for _, field := range activity.ConnectionFields(form.Kind, form.Auth) {
		shown := settingsview.ConnectionField{Name: field.Name, Secret: field.Secret, Required: field.Required, Choices: field.Choices, Default: field.Default}
		if value, ok := typed.Settings[field.Name]; ok && !field.Secret {
			shown.Value = fmt.Sprint(value)
		}
		if field.Secret {
			shown.Value = typed.Secrets[field.Name]
		}
		form.Fields = append(form.Fields, shown)
	}
}

// fieldLines writes fields as "name: value", sorted.
func fieldLines[V any](fields map[string]V) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, fmt.Sprintf("%s: %v", name, fields[name]))
	}
	return lines
}

func (p *Pages) saveConnection(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	typed := connectionTyped(form)
	_, err = p.Connections.PutConnection(c.UserContext(), ViewOf(c).Who, typed)
	if refusal := shown(err); refusal != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showConnections(c, settingsview.Connections{Form: settingsview.ConnectionForm{Error: refusal}}, typed)
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/settings/connections")
}

// connectionTyped is what the form asks to keep; empty fields are not given.
func connectionTyped(form url.Values) engine.Connection {
	typed := engine.Connection{Name: strings.TrimSpace(form.Get("name")), Kind: form.Get("kind"), UsableBy: listed(form.Get("usableBy")),
		Settings: map[string]any{}, Secrets: map[string]string{}}
	auth := form.Get("auth")
	if auth != "" {
		typed.Settings["auth"] = auth
	}
	for _, field := range activity.ConnectionFields(typed.Kind, auth) {
		value := strings.TrimSpace(form.Get(settingsview.ConnectionField{Name: field.Name, Secret: field.Secret}.Input()))
		switch {
		case value == "":
		case field.Secret:
			typed.Secrets[field.Name] = value
		default:
			typed.Settings[field.Name] = settingOf(value)
		}
	}
	return typed
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
	return p.showConnections(c, settingsview.Connections{Tested: name + ": " + result.Message, TestOK: result.OK}, engine.Connection{})
}

func (p *Pages) deleteConnection(c *fiber.Ctx) error {
	if err := p.Connections.DeleteConnection(c.UserContext(), ViewOf(c).Who, c.Params("connection")); err != nil {
		return err
	}
	return seeOther(c, "/settings/connections")
}
