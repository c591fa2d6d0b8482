package login

import (
	"net/url"
	"strings"
)

const home = "/"

// SafeReturn is a path of this application, or its first page: whatever could lead to another site, to the
// sign-in itself or to the API is none.
func SafeReturn(path string) string {
	const longest = 2000
	if len(path) > longest || !strings.HasPrefix(path, "/") || leadsAway(path) {
		return home
	}
	decoded, err := url.PathUnescape(path)
	if err != nil || leadsAway(decoded) {
		return home
	}
	base := &url.URL{Scheme: "https", Host: "here.invalid"}
	target, err := base.Parse(path)
	if err != nil || target.Host != base.Host || target.Scheme != base.Scheme {
		return home
	}
	for _, own := range []string{"/login", "/logout", "/api/"} {
		if strings.HasPrefix(target.Path, own) {
			return home
		}
	}
	return path
}

func leadsAway(path string) bool {
	return strings.HasPrefix(path, "//") || strings.Contains(path, `\`) ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}
