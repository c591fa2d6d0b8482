package web

import (
	"context"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
)

// Failure is what an error page knows of a refusal or a fault.
type Failure = api.Problem

// errorPageTime bounds making the page of an error, whose frame asks the engine.
const errorPageTime = 5 * time.Second

// fail answers any error of any route: a problem document for programs, a page for people.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	failure := api.ProblemOf(err, requestIDOf(c))
	if failure.Status >= fiber.StatusInternalServerError && failure.Code == "internal" {
		s.log.Error("request failed", "request", failure.RequestID, "method", c.Method(), "path", c.Path(), "error", err)
	}
	if failure.Code == "unauthenticated" && s.gate.ByProvider() && s.sendToLogin(c) {
		return nil
	}
	if !wantsPage(c) {
		return api.SendProblem(c, failure)
	}
	if failure.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(failure.RetryAfter))
	}
	// The request's own time is over: its guard has returned.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), errorPageTime)
	defer cancel()
	c.SetUserContext(ctx)
	again := ""
	if asking, _ := auth.Of(c); failure.Code == "sign_in_again" {
		again = againAddress(asking, pathOfPage(c.Get(fiber.HeaderReferer)))
	}
	return Render(c.Status(failure.Status), s.pages.ErrorPage(ViewOf(c), failure, again))
}

// wantsPage: outside the API a browser gets a page, anything else a problem document.
func wantsPage(c *fiber.Ctx) bool {
	return !strings.HasPrefix(c.Path(), "/api/") && strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}

// plainErrorPage needs no style or script, so it works whatever else is broken.
func plainErrorPage(failure Failure) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>%d %s</title>`+
			`<main><h1>%s</h1><p>%s</p><p><small>Request %s</small></p><p><a href="/">Home</a></p></main></html>`,
			failure.Status, html.EscapeString(failure.Title), html.EscapeString(failure.Title),
			html.EscapeString(failure.Detail), html.EscapeString(failure.RequestID))
		return err
	})
}
