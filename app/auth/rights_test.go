package auth

import (
	"testing"
	"time"

	"weftline/engine"
)

func TestRights(t *testing.T) {
	all := []Right{Read, Run, Decide, Author, Review, Discuss, Try, Work, Admin}
	for name, c := range map[string]struct {
		who engine.Who
		may []Right
	}{
		"nobody":            {engine.Who{}, nil},
		"viewer":            {engine.Who{Roles: []string{"viewer"}}, []Right{Read, Decide}},
		"operator":          {engine.Who{Roles: []string{"operator"}}, []Right{Read, Decide, Run}},
		"author":            {engine.Who{Roles: []string{"author"}}, []Right{Read, Decide, Run, Author, Discuss, Try}},
		"reviewer":          {engine.Who{Roles: []string{"reviewer"}}, []Right{Read, Decide, Review, Discuss}},
		"admin":             {engine.Who{Roles: []string{"admin"}}, all},
		"unknown role":      {engine.Who{Roles: []string{"king"}}, []Right{Decide}},
		"service, read":     {engine.Who{Scopes: []string{"read"}}, []Right{Read}},
		"service, run":      {engine.Who{Scopes: []string{"run"}}, []Right{Run, Decide}},
		"service, author":   {engine.Who{Scopes: []string{"author"}}, []Right{Author, Discuss}},
		"author's own, run": {engine.Who{Roles: []string{"author"}, Scopes: []string{"run"}}, []Right{Run, Decide}},
		"service, admin":    {engine.Who{Scopes: []string{"admin"}}, all},
		"viewer's own, all": {engine.Who{Roles: []string{"viewer"}, Scopes: []string{"admin"}}, []Right{Read, Decide}},
		"admin's own, read": {engine.Who{Roles: []string{"admin"}, Scopes: []string{"read"}}, []Right{Read}},
	} {
		allowed := map[Right]bool{Public: true}
		for _, right := range c.may {
			allowed[right] = true
		}
		for _, right := range append([]Right{Public}, all...) {
			if May(c.who, right) != allowed[right] {
				t.Errorf("%s: %q is %v", name, right, !allowed[right])
			}
		}
	}
}

func TestThrottle(t *testing.T) {
	throttle := NewThrottle(2, time.Hour)
	for i, waits := range []bool{false, false, true, true} {
		if (throttle.Count("a") > 0) != waits {
			t.Errorf("event %d of a", i+1)
		}
	}
	if throttle.Count("b") > 0 {
		t.Error("b pays for a")
	}
}
