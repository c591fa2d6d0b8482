package web

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
)

// requestTime bounds what one request may keep the engine busy. Sockets live on after their request.
const requestTime = 30 * time.Second

// guard is what stands before each handler: who asks, may they, is it really them (CSRF), and the body.
func (s *Server) guard(route Route) fiber.Handler {
	limit := route.MaxBody
	if limit == 0 {
		limit = s.payloadMax + envelope
	}
	return func(c *fiber.Ctx) error {
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		defer cancel()
		c.SetUserContext(ctx)
		if route.Needs != auth.Public {
			if err := again(c, func() error { return s.admit(c, route) }); err != nil {
				return err
			}
		}
		if err := readBody(c, limit); err != nil {
			return err
		}
		if err := s.refuseForgery(c, route); err != nil {
			return err
		}
		err := refuseForeign(c, route)
		if err == nil {
			err = handle(c, route)
		}
		if route.Needs == auth.Public && isUnauthenticated(err) {
			return s.gate.SlowDown(c, err) // a webhook with a wrong proof
		}
		return err
	}
}

// refuseForeign refuses query parameters that an address of the API does not know or has twice, before anything happens:
// ?dryRun=true must not start something. limit and cursor are good for every list, also for one that is never cut.
func refuseForeign(c *fiber.Ctx, route Route) error {
	if route.Kind != API || route.Needs == auth.Public {
		return nil
	}
	known := route.Query
	if route.Method == fiber.MethodGet {
		known = slices.Concat(known, paging)
	}
	if err := api.RefuseForeign(c.Context().QueryArgs(), known); err != nil {
		return err
	}
	return api.RefuseRepeated(c.Context().QueryArgs())
}

// handle asks again for what only reads when the database broke off, so that its restart or fail-over is a delay
// and no failure. A public page is not asked again: it may say whether this server is ready, or end a sign-in.
func handle(c *fiber.Ctx, route Route) error {
	if route.Method == fiber.MethodGet && route.Needs != auth.Public {
		return again(c, func() error { return route.Handle(c) })
	}
	return route.Handle(c)
}

func again(c *fiber.Ctx, ask func() error) error {
	_, err := engine.Again(c.UserContext(), func() (struct{}, error) { return struct{}{}, ask() })
	return err
}

func isUnauthenticated(err error) bool {
	var refusal *engine.Error
	return errors.As(err, &refusal) && refusal.Code == "unauthenticated"
}

func (s *Server) admit(c *fiber.Ctx, route Route) error {
	asking, err := s.gate.Read(c)
	if err != nil && s.mayEnterLocally(c, route, err) {
		asking, err = s.gate.SignInLocally(c)
	}
	if err != nil {
		return err
	}
	key := asking.TeamName + "/" + asking.User
	wait := s.requests.Count(key)
	if wait == 0 && route.Costly {
		wait = s.costly.Count(key)
	}
	if wait > 0 {
		return &engine.Error{Code: "rate_limited", Message: "too many requests of one user",
			RetryAfterSeconds: int(wait.Seconds()) + 1}
	}
	if !auth.May(asking.Who, route.Needs) {
		return engine.Refuse("forbidden", "this needs the right "+string(route.Needs)+", which "+asking.User+" does not have here")
	}
	if route.sensitive() && !s.gate.IsFresh(asking) {
		return engine.Refuse("sign_in_again", "this changes who may do what: sign in again first, it is longer ago than "+s.gate.Fresh().String())
	}
	c.SetUserContext(engine.InTeam(c.UserContext(), asking.Team))
	return nil
}

// mayEnterLocally: looking at a page signs the local user in; nothing else does.
func (s *Server) mayEnterLocally(c *fiber.Ctx, route Route, err error) bool {
	return s.gate.Local() && route.Kind == Page && c.Method() == fiber.MethodGet &&
		c.Get(fiber.HeaderAuthorization) == "" && isUnauthenticated(err)
}

// refuseForgery: a write by cookie must repeat the session's CSRF token and come from our own pages.
// A request with a token in its header cannot be forged by another site.
func (s *Server) refuseForgery(c *fiber.Ctx, route Route) error {
	asking, known := auth.Of(c)
	if !known || asking.Session == "" && !asking.Certificate || isSafe(c.Method()) {
		return nil
	}
	if site := c.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return engine.Refuse("forbidden", "writes from another site are refused")
	}
	if asking.Certificate {
		if c.Get("Sec-Fetch-Site") != "" {
			return engine.Refuse("forbidden", "a certificate is a credential of programs, not of browsers")
		}
		return nil
	}
	given := c.Get("X-CSRF-Token")
	if given == "" && route.Kind == Page {
		given = c.FormValue("_csrf")
	}
	if !asking.CSRFMatches(given) {
		return engine.Refuse("forbidden", "the X-CSRF-Token header is missing or is not of this session; reload the page")
	}
	return nil
}

func isSafe(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}
