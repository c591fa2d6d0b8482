package web

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
)

// Failure is what an error page knows of a refusal or a fault.
type Failure = api.Problem

// errorPageTime bounds making the page of an error, whose frame asks the engine.
const errorPageTime = 5 * time.Second

// fail answers any error of any route: a problem document for programs, a page for people.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	var routing *fiber.Error
	if errors.As(err, &routing) && routing.Code == fiber.StatusNotFound {
		err = engine.Refuse("not_found", "there is nothing at "+c.Path())
	}
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
