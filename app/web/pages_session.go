package web

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/app/login"
	loginview "weftline/views/login"
)

// sessionAnswer is what a page that was open for a while asks before it sends a form.
type sessionAnswer struct {
	User        string `json:"user"`
	Team        string `json:"team"`
	CSRF        string `json:"csrf"`        // of the session as it is now
	SignInAgain string `json:"signInAgain"` // where to, when the act needs a sign-in from just now; "" = it does not
}

// session says whose session the browser has now and whether it will do for an act. To people it says that they
// are signed in: a second tab ends here, and the first goes on with what was typed in it.
func (p *Pages) session(c *fiber.Ctx) error {
	asking, _ := auth.Of(c)
	if wantsPage(c) {
		return Render(c, loginview.SignedIn(p.bare(c, "Signed in"), asking.User, asking.TeamName))
	}
	answer := sessionAnswer{User: asking.User, Team: asking.TeamName, CSRF: auth.CSRF(c)}
	if isSensitive(c.Query("action")) && !p.Gate.IsFresh(asking) {
		answer.SignInAgain = againAddress(asking, "/session")
	}
	return c.JSON(answer)
}

// againAddress leads through a new sign-in at the session's provider and back.
func againAddress(asking auth.Asking, returnPath string) string {
	return "/login/" + asking.Provider + "?" + url.Values{"fresh": {"1"}, "return": {login.SafeReturn(returnPath)}}.Encode()
}
