package web

import (
	"strings"

	"github.com/gofiber/fiber/v2"
)

// sensitive are the acts that change who may do what, or what reaches other systems, or that end sessions: a person
// must have signed in a short time ago. TestSensitiveActsNeedAFreshSignIn goes through them.
var sensitive = map[string]bool{
	"POST /settings/policy":                         true,
	"POST /settings/secrets":                        true,
	"POST /settings/secrets/:secret/delete":         true,
	"POST /settings/connections":                    true,
	"POST /settings/connections/:connection/delete": true,
	"POST /settings/tokens":                         true,
	"POST /settings/tokens/:id/revoke":              true,
	"POST /account/sessions/:id/revoke":             true,
	"DELETE /api/v1/sessions/:id":                   true,
	"POST /people/:id/roles":                        true,
	"POST /people/:id/block":                        true,
	"POST /people/:id/unblock":                      true,
	"POST /people/:id/relink":                       true,
	"PATCH /api/v1/team/policy":                     true,
	"POST /api/v1/tokens":                           true,
	"DELETE /api/v1/tokens/:id":                     true,
	"PUT /api/v1/secrets/:name":                     true,
	"DELETE /api/v1/secrets/:name":                  true,
	"PUT /api/v1/connections/:name":                 true,
	"DELETE /api/v1/connections/:name":              true,
	"PUT /api/v1/people/:id/roles":                  true,
	"POST /api/v1/people/:id/block":                 true,
	"POST /api/v1/people/:id/unblock":               true,
	"POST /api/v1/people/:id/relink":                true,
}

func (r Route) sensitive() bool { return sensitive[r.Method+" "+r.Path] }

// isSensitive reports whether posting a form to a path is.
func isSensitive(path string) bool {
	for line := range sensitive {
		if pattern, isPost := strings.CutPrefix(line, "POST "); isPost && fiber.RoutePatternMatch(path, pattern) {
			return true
		}
	}
	return false
}
