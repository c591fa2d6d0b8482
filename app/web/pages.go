package web

import (
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/app/login"
	"weftline/engine"
)

// Pages are the server-rendered pages. Each handler lives in a pages_*.go file of its own, asks Door as
// auth.Who(c), and answers with Render; an error it returns becomes the fitting error page.
type Pages struct {
	Door        engine.Door
	Tokens      Tokens
	Vault       api.Vault
	Connections api.Connections
	Audit       Audit
	Local       *LocalNotice // nil outside local mode

	Members Members
	Login   *login.Service // nil in local mode
	Gate    *auth.Gate

	attempts *auth.Throttle // beginnings of sign-ins by address
}

// LocalNotice is what pages must say in local mode.
type LocalNotice struct {
	AnyAddress bool // local mode is open to other machines: a warning on every page
}

// View is what every page may need of its request.
type View struct {
	Who       engine.Who
	CSRF      string // for <meta name="csrf-token"> and the hidden field "_csrf" of forms
	Nonce     string // for <meta name="csp-nonce">: styles that scripts must insert carry it
	RequestID string
	Path      string
	Partial   bool // htmx asks for a part, not for a whole page

	Unreachable *time.Time // the provider of the session has not answered since
}

// ViewOf gathers the View of a request.
func ViewOf(c *fiber.Ctx) View {
	asking, _ := auth.Of(c)
	return View{
		Unreachable: asking.Unreachable,
		Who:         auth.Who(c), CSRF: auth.CSRF(c), Nonce: nonceOf(c), RequestID: requestIDOf(c), Path: c.Path(),
		Partial: c.Get("HX-Request") == "true" && c.Get("HX-History-Restore-Request") != "true",
	}
}

// May reports whether who asks may do more than look, e.g. May(c, auth.Author) for an Edit button.
func May(c *fiber.Ctx, right auth.Right) bool { return auth.May(auth.Who(c), right) }

// Render answers a page with status 200, or with the one set by c.Status before.
func Render(c *fiber.Ctx, component templ.Component) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return component.Render(c.UserContext(), c.Response().BodyWriter())
}
