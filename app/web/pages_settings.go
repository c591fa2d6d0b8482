package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/human"
	settingsview "weftline/views/settings"
)

// Tokens is what the settings page does with API tokens.
type Tokens interface {
	CreateToken(ctx context.Context, who engine.Who, request engine.TokenRequest) (engine.Token, string, error)
	Tokens(ctx context.Context, who engine.Who, page engine.PageRequest) (engine.Page[engine.Token], error)
	DeleteToken(ctx context.Context, who engine.Who, id uuid.UUID) error
}

func (p *Pages) settings(c *fiber.Ctx) error {
	return p.showSettings(c, settingsview.View{Typed: blankToken})
}

var blankToken = settingsview.Typed{Days: settingsview.DefaultDays}

func (p *Pages) showSettings(c *fiber.Ctx, view settingsview.View) error {
	who := ViewOf(c).Who
	frame := p.frame(c, "You and tokens", "settings", settingsCrumb())
	list, err := p.Tokens.Tokens(c.UserContext(), who, engine.PageRequest{Limit: 500})
	if err != nil && !isRefusal(err, "forbidden") {
		return err
	}
	for _, token := range list.Items {
		view.Tokens = append(view.Tokens, tokenRow(token))
	}
	view.Now, view.CSRF, view.User, view.Team = now(), frame.CSRF, who.User, who.TeamName
	view.Roles, view.Groups = strings.Join(who.Roles, ", "), groupWords(who.Groups)
	view.Theme, view.Density, view.MayMakeTokens = frame.Theme, frame.Density, err == nil
	return Render(c, settingsview.Page(frame, view))
}

func tokenRow(token engine.Token) settingsview.Token {
	row := settingsview.Token{
		ID: token.ID.String(), Name: token.Name, Scopes: strings.Join(token.Scopes, ", "), ActsAs: token.User,
		CreatedAt: token.CreatedAt, ExpiresAt: token.ExpiresAt, LastUsedAt: token.LastUsedAt,
	}
	if token.ServiceAccount != nil {
		row.ActsAs = token.ServiceAccount.Name
	}
	return row
}

// makeToken shows the new token's value on its own answer, which is never stored.
func (p *Pages) makeToken(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	typed := settingsview.Typed{Name: strings.TrimSpace(form.Get("name")), Scopes: form["scope"], Days: settingsview.DefaultDays}
	if days, err := strconv.Atoi(form.Get("days")); err == nil && settingsview.Lasts(days) {
		typed.Days = days
	}
	request := engine.TokenRequest{Name: typed.Name, Scopes: typed.Scopes}
	if typed.Days > 0 {
		end := now().AddDate(0, 0, typed.Days)
		request.ExpiresAt = &end
	}
	token, value, err := p.Tokens.CreateToken(c.UserContext(), ViewOf(c).Who, request)
	var refusal *engine.Error
	if errors.As(err, &refusal) && refusal.Code != "forbidden" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showSettings(c, settingsview.View{Error: refusal.Message, Typed: typed})
	}
	if err != nil {
		return err
	}
	return p.showSettings(c, settingsview.View{NewToken: value, NewName: token.Name, Typed: blankToken})
}

func (p *Pages) revokeToken(c *fiber.Ctx) error {
	id, err := idOf(c, "token")
	if err != nil {
		return err
	}
	if err := p.Tokens.DeleteToken(c.UserContext(), ViewOf(c).Who, id); err != nil {
		return err
	}
	return seeOther(c, "/settings")
}

// appearance is kept by the browser alone.
func (p *Pages) appearance(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	keep(c, "theme", oneOf(form.Get("theme"), "light", "dark"))
	keep(c, "density", oneOf(form.Get("density"), "compact"))
	return seeOther(c, "/settings")
}

const aYear = 365 * 24 * time.Hour

// keep stores a choice of looks; scripts read and write it too, so it is no secret of the server.
func keep(c *fiber.Ctx, name, value string) {
	cookie := &fiber.Cookie{Name: keptAs(c, name), Value: value, Path: "/", Secure: overTLS(c), SameSite: fiber.CookieSameSiteLaxMode, MaxAge: int(aYear.Seconds())}
	if value == "" {
		cookie.MaxAge, cookie.Expires = -1, time.Unix(1, 0)
	}
	c.Cookie(cookie)
}

// kept is what keep stored.
func kept(c *fiber.Ctx, name string) string { return c.Cookies(keptAs(c, name)) }

// keptAs is the name of a choice's cookie. Over TLS nothing but this very host may set it.
func keptAs(c *fiber.Ctx, name string) string {
	if overTLS(c) {
		return "__Host-" + name
	}
	return name
}

// groupWords names groups for people; the local user stands in for every one.
func groupWords(groups []string) string {
	if slices.Contains(groups, human.Everybody) {
		return "all"
	}
	return strings.Join(groups, ", ")
}
