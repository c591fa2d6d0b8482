package web

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/app/login"
	"weftline/engine"
	loginview "weftline/views/login"
	"weftline/views/ui"
)

// Members is what the pages do with people and their sessions.
type Members interface {
	api.People
	TeamsOf(ctx context.Context, who engine.Who) ([]engine.TeamChoice, error)
	SwitchTeam(ctx context.Context, who engine.Who, session string, team uuid.UUID) (string, error)
	EndSession(ctx context.Context, from engine.Who, session string) (engine.EndedSession, error)
}

// attemptCookie is one cookie an attempt, so that several tabs can sign in at once. Its value begins with the
// second in which it was made.
const (
	attemptCookie  = "__Host-login-"
	attemptsKept   = 5
	stateInCookie  = 8 // characters of the state that name its cookie
	unixDigits     = 10
	attemptsMinute = 60 // beginnings of a sign-in from one address
)

// bare is the frame of a page without a person.
func (p *Pages) bare(c *fiber.Ctx, title string) ui.Page {
	return ui.Page{Title: title, Nonce: nonceOf(c), Theme: oneOf(kept(c, "theme"), "light", "dark")}
}

// login lets a person choose a provider. In local mode there is nothing to choose.
func (p *Pages) login(c *fiber.Ctx) error {
	if p.Login == nil {
		return seeOther(c, login.SafeReturn(c.Query("return")))
	}
	view := loginview.View{Return: login.SafeReturn(c.Query("return")), SignedOut: c.Query("out") != "", Expired: c.Query("expired") != ""}
	for _, choice := range p.Login.Choices(c.UserContext()) {
		shown := loginview.Provider{ID: choice.ID, Name: choice.Name}
		if choice.Fault != nil {
			shown.Down = loginview.Explain(choice.Fault.Code, choice.Name) + " " + choice.Fault.Detail
		}
		view.Providers = append(view.Providers, shown)
	}
	return Render(c, loginview.Choose(p.bare(c, "Sign in"), view))
}

// beginLogin sends the browser to the provider. Only a navigation of a person begins anything: no image, no
// frame and no prefetch.
func (p *Pages) beginLogin(c *fiber.Ctx) error {
	if p.Login == nil {
		return engine.Refuse("not_found", "there is no such provider")
	}
	if to := c.Get("Sec-Fetch-Dest"); to != "" && to != "document" || c.Get("Sec-Purpose") != "" {
		return engine.Refuse("bad_request", "a sign-in begins by opening this page")
	}
	if wait := p.attempts.Count(c.IP()); wait > 0 {
		return &engine.Error{Code: "rate_limited", Message: "too many sign-ins were begun from this address", RetryAfterSeconds: int(wait.Seconds()) + 1}
	}
	attempt, address, err := p.Login.Begin(c.UserContext(), c.Params("provider"), c.Query("return"), login.Asked{Again: c.Query("again") != "", Fresh: c.Query("fresh") != ""})
	if err != nil {
		return p.loginFault(c, err)
	}
	p.dropOldAttempts(c)
	value := strconv.FormatInt(time.Now().Unix(), 10) + attempt.Cookie
	c.Cookie(hostCookie(attemptCookie+attempt.State[:stateInCookie], value, engine.AttemptLife))
	return c.Redirect(address, fiber.StatusSeeOther)
}

func hostCookie(name, value string, life time.Duration) *fiber.Cookie {
	cookie := &fiber.Cookie{Name: name, Value: value, Path: "/", HTTPOnly: true, Secure: true, SameSite: fiber.CookieSameSiteLaxMode, MaxAge: int(life.Seconds())}
	if value == "" {
		cookie.MaxAge, cookie.Expires = -1, time.Unix(1, 0)
	}
	return cookie
}

// dropOldAttempts keeps the newest few, so that tabs left open do not fill the header.
func (p *Pages) dropOldAttempts(c *fiber.Ctx) {
	type held struct{ name, since string }
	var all []held
	c.Request().Header.VisitAllCookie(func(name, value []byte) {
		if strings.HasPrefix(string(name), attemptCookie) {
			all = append(all, held{string(name), string(value[:min(len(value), unixDigits)])})
		}
	})
	slices.SortFunc(all, func(a, b held) int { return strings.Compare(b.since, a.since) })
	for i, old := range all {
		if i >= attemptsKept-1 {
			c.Cookie(hostCookie(old.name, "", 0))
		}
	}
}

// finishLogin is where the provider sends the browser back to.
func (p *Pages) finishLogin(c *fiber.Ctx) error {
	if p.Login == nil {
		return engine.Refuse("not_found", "there is no such provider")
	}
	state := c.Query("state")
	name := attemptCookie + state[:min(len(state), stateInCookie)]
	value := c.Cookies(name)
	c.Cookie(hostCookie(name, "", 0))
	session, returnPath, err := p.Login.Finish(c.UserContext(), login.Came{
		Provider: c.Params("provider"), State: state, Code: c.Query("code"), Issuer: c.Query("iss"),
		Error: c.Query("error"), ErrorText: c.Query("error_description"), Cookie: value[min(len(value), unixDigits):],
		Address: c.IP(), Agent: c.Get(fiber.HeaderUserAgent), Request: requestIDOf(c)})
	if err != nil {
		return p.notFinished(c, err)
	}
	p.endOldSession(c)
	p.Gate.Remember(c, session)
	return c.Redirect(returnPath, fiber.StatusSeeOther)
}

// notFinished: whoever is signed in already has no use for the page of an attempt that is gone, as happens
// after going back in the browser.
func (p *Pages) notFinished(c *fiber.Ctx, err error) error {
	var fault *login.Fault
	if errors.As(err, &fault) && fault.Code == login.AttemptGone {
		if _, signedIn := p.Gate.Read(c); signedIn == nil {
			return seeOther(c, "/")
		}
	}
	return p.loginFault(c, err)
}

// endOldSession: a new sign-in never goes on under an id that was there before it.
func (p *Pages) endOldSession(c *fiber.Ctx) {
	if old := p.Gate.SessionOf(c); old != "" {
		_, _ = p.Members.EndSession(c.UserContext(), engine.Who{Address: c.IP(), Request: requestIDOf(c)}, old) // it ends by itself too
	}
}

func (p *Pages) loginFault(c *fiber.Ctx, err error) error {
	var fault *login.Fault
	if !errors.As(err, &fault) {
		return err
	}
	view := loginview.Fault{Code: fault.Code, Provider: fault.Provider, ProviderName: fault.ProviderName, Detail: fault.Detail,
		Return: login.SafeReturn(fault.Return), RequestID: requestIDOf(c)}
	status := fiber.StatusBadRequest
	switch fault.Code {
	case login.Unreachable:
		status = fiber.StatusServiceUnavailable
	case login.NoAccess, login.ClaimMissing, login.TooManyGroups, login.NotFresh:
		status = fiber.StatusForbidden
	}
	if denied := fault.Denied; denied != nil {
		view.Denied = &loginview.Denied{Reason: denied.Reason, Name: denied.Name, Email: denied.Email, Groups: denied.Groups}
	}
	return Render(c.Status(status), loginview.FaultPage(p.bare(c, loginview.TitleOf(view)), view))
}

// logout ends the session here first, so that nothing else can keep it alive, and then at the provider.
func (p *Pages) logout(c *fiber.Ctx) error {
	asking, _ := auth.Of(c)
	if p.Login == nil || asking.Session == "" {
		return engine.Refuse("conflict", "there is nothing to sign out of: this server is in local mode")
	}
	ended, err := p.Members.EndSession(c.UserContext(), asking.Who, asking.Session)
	if err != nil {
		return err
	}
	p.Gate.Forget(c)
	c.Set("Clear-Site-Data", `"cache"`)
	address, name := p.Login.EndAtProvider(c.UserContext(), ended)
	if ViewOf(c).Partial { // a script may go to another site, a form may not (content security policy)
		if address == "" {
			address = "/login?out=1"
		}
		c.Set("HX-Redirect", address)
		return c.SendStatus(fiber.StatusNoContent)
	}
	return Render(c, loginview.SignedOut(p.bare(c, "Signed out"), name, address))
}

// backchannel is called by the provider itself, without a cookie.
func (p *Pages) backchannel(c *fiber.Ctx) error {
	if p.Login == nil {
		return engine.Refuse("not_found", "there is no such provider")
	}
	if wait := p.attempts.Count("backchannel " + c.IP()); wait > 0 {
		return &engine.Error{Code: "rate_limited", Message: "too many logout tokens from this address", RetryAfterSeconds: int(wait.Seconds()) + 1}
	}
	form, err := posted(c)
	if err != nil {
		return err
	}
	if err := p.Login.Backchannel(c.UserContext(), c.Params("provider"), form.Get("logout_token")); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusOK)
}

// sendToLogin leads a browser to the sign-in: by a header where htmx would put the page into a part, by a
// redirect elsewhere. Programs get their refusal; it answers false.
func (s *Server) sendToLogin(c *fiber.Ctx) bool {
	hadSession := s.gate.SessionOf(c) != ""
	if strings.HasPrefix(c.Path(), "/api/") || c.Get(fiber.HeaderAuthorization) != "" {
		return false
	}
	if c.Get("HX-Request") == "true" {
		c.Set("HX-Redirect", loginAddress(pathOfPage(c.Get("HX-Current-URL")), hadSession))
		c.Status(fiber.StatusUnauthorized)
		return true
	}
	if !wantsPage(c) {
		return false
	}
	from := string(c.Request().URI().RequestURI())
	if c.Method() != fiber.MethodGet {
		from = pathOfPage(c.Get(fiber.HeaderReferer))
	}
	c.Location(loginAddress(from, hadSession))
	c.Status(fiber.StatusSeeOther)
	return true
}

func pathOfPage(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	return u.RequestURI()
}

// loginAddress leads back to where the person was. expired says that they were signed in before.
func loginAddress(returnPath string, expired bool) string {
	query := url.Values{}
	if path := login.SafeReturn(returnPath); path != "/" {
		query.Set("return", path)
	}
	if expired {
		query.Set("expired", "1")
	}
	if len(query) == 0 {
		return "/login"
	}
	return "/login?" + query.Encode()
}
