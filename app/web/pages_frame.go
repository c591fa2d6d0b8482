package web

import (
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/views/ui"
)

// frame is what the shell of a page needs, open tasks counted.
func (p *Pages) frame(c *fiber.Ctx, title, section string, crumbs ...ui.Crumb) ui.Page {
	frame := p.frameOf(ViewOf(c), title, section)
	frame.Crumbs = crumbs
	frame.Theme = oneOf(kept(c, "theme"), "light", "dark")
	frame.Density = oneOf(kept(c, "density"), "compact")
	frame.OpenTasks = p.openTasks(c)
	return frame
}

// frameOf is a frame without what must be read first, for pages that must always work.
func (p *Pages) frameOf(view View, title, section string) ui.Page {
	frame := ui.Page{Title: title, Section: section, Team: view.Who.TeamName, User: view.Who.User, Admin: auth.May(view.Who, auth.Admin), CSRF: view.CSRF, Nonce: view.Nonce,
		ByProvider: p.Login != nil}
	if p.Local != nil && p.Local.AnyAddress {
		frame.Notices = append(frame.Notices, "Local mode is open to other machines: whoever can reach this address may do everything.")
	}
	if notice := p.Door.Pressure().Notice(); notice != "" {
		frame.Notices = append(frame.Notices, notice)
	}
	if view.Unreachable != nil {
		frame.Notices = append(frame.Notices, "Your identity provider has not answered since "+ui.Exact(*view.Unreachable)+
			". You can work on; if it stays away you will be signed out.")
	}
	return frame
}

// mostCounted is how far open tasks are counted for the rail.
const mostCounted = 100

// openTasks counts the tasks and reviews that wait for the person; a page shows without the count rather than not at all.
func (p *Pages) openTasks(c *fiber.Ctx) int {
	open, err := p.Door.Tasks(c.UserContext(), ViewOf(c).Who, engine.TaskFilter{
		Status: "open", PageRequest: engine.PageRequest{Limit: mostCounted}})
	if err != nil {
		return 0
	}
	n := 0
	if reviews, err := p.awaited(c); err == nil {
		n = len(reviews)
	}
	for _, task := range open.Items {
		if task.MayDecide {
			n++
		}
	}
	return n
}

// seeOther sends the browser to a page after a POST.
func seeOther(c *fiber.Ctx, address string) error { return c.Redirect(address, fiber.StatusSeeOther) }

// posted is the form of a POST.
func posted(c *fiber.Ctx) (url.Values, error) {
	values, err := url.ParseQuery(string(c.Body()))
	if err != nil {
		return nil, engine.Refuse("bad_request", "the form cannot be read: "+err.Error())
	}
	return values, nil
}

// idOf reads the id in the address; what is no id names nothing.
func idOf(c *fiber.Ctx, what string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return uuid.Nil, engine.Refuse("not_found", "there is no such "+what)
	}
	return id, nil
}

// nextPage is the address of the rest of a list, "" at its end.
func nextPage(c *fiber.Ctx, cursor *string) string {
	if cursor == nil {
		return ""
	}
	query, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	query.Set("cursor", *cursor)
	return c.Path() + "?" + query.Encode()
}

func oneOf(value string, allowed ...string) string {
	for _, choice := range allowed {
		if value == choice {
			return value
		}
	}
	return ""
}

func workflowsCrumb() ui.Crumb { return ui.Crumb{Label: "Workflows", URL: "/workflows"} }

func settingsCrumb() ui.Crumb { return ui.Crumb{Label: "Settings", URL: "/settings"} }

func workflowCrumb(name string) ui.Crumb { return ui.Crumb{Label: name, URL: "/workflows/" + name} }

// labelFilter reads "team=lending" from a search field.
func labelFilter(text string) map[string]string {
	key, value, ok := strings.Cut(strings.TrimSpace(text), "=")
	if !ok || key == "" {
		return nil
	}
	return map[string]string{key: value}
}

func now() time.Time { return time.Now() }

func versionsCrumb(name string) ui.Crumb {
	return ui.Crumb{Label: "Versions", URL: "/workflows/" + name + "/versions"}
}
