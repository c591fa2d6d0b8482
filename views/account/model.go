// Package account owns a person's own page: the teams they work in, the browsers they are signed in with. It
// must not know how sessions are kept.
package account

import (
	"strings"
	"time"
)

// View is the page.
type View struct {
	Now                                 time.Time
	CSRF                                string
	User, Team, Roles, Groups, Provider string
	Teams                               []Team
	Sessions                            []Session
	Local, Admin                        bool
}

// Team is one that the person may work in.
type Team struct {
	ID, Name, Roles string
	Current         bool
}

// Session is a browser that is signed in.
type Session struct {
	ID, Agent, Address, Team         string
	CreatedAt, LastSeenAt, ExpiresAt time.Time
	Current                          bool
}

// browser is a name that people know out of a user agent.
func (s Session) browser() string {
	name := "Unknown browser"
	for _, known := range []struct{ part, name string }{ // in this order: most name others too
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(s.Agent, known.part) {
			name = known.name
			break
		}
	}
	for _, known := range []struct{ part, name string }{
		{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Mac OS", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(s.Agent, known.part) {
			return name + " on " + known.name
		}
	}
	return name
}
