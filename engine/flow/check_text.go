package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"weftline/engine/expr"
	"weftline/engine/schedule"
)

var (
	idForm      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	nameForm    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	sizeForm    = regexp.MustCompile(`^(\d{1,9})(B|KiB|MiB|GiB)$`)
	patternForm = regexp.MustCompile(`^([a-z][a-z0-9_]*|\*)(\.([a-z0-9_]+|\*|[1-5]xx))*$`)
	percentForm = regexp.MustCompile(`^(\d{1,3})(\.\d+)?%$`)
	isoStart    = regexp.MustCompile(`^P(T|\d)`)
	semverForm  = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// booleanWords are what YAML 1.1 tools read as something else than text.
var booleanWords = []string{"yes", "no", "on", "off", "y", "n", "true", "false", "null"}

// portWords cannot name an outcome or a case.
var portWords = []string{"success", "failure", "done", "skipped", "expired", "timeout", "received"}

// text checks the shapes that are a text of some form.
func (c *checker) text(n *node, s *shape) {
	switch s.kind {
	case enumShape, enumOrTemplate:
		c.word(n, s)
	case idShape, outcomeShape:
		c.id(n, s.kind == outcomeShape)
	case nameShape:
		if !nameForm.MatchString(n.raw) {
			c.ps.add("E408", n, "use a-z, 0-9 and -, at most 63, for example "+nameFrom(n.raw), "%q is not a name", n.raw)
		}
	case versionShape:
		c.version(n)
	case durationShape:
		if _, err := expr.ParseDuration(n.raw); err != nil {
			c.ps.add("E405", n, "write 30s, 10m, 1h30m, 2d or PT1H30M", "%v", err)
		}
		c.spelling[n] = spellDuration(n.raw)
	case whenShape:
		c.moment(n, s)
	case instantShape:
		if _, err := expr.ParseInstant(n.raw, ""); err != nil {
			c.ps.add("E405", n, "write 2027-01-31T09:00:00Z", "%v", err)
		}
	case sizeShape:
		if !sizeForm.MatchString(n.raw) {
			c.ps.add("E412", n, "write 512KiB, 256MiB or 1GiB", "%q is not a size", n.raw)
		}
	case zoneShape:
		if _, err := expr.LoadZone(n.raw); err != nil {
			c.ps.add("E411", n, "use an IANA name such as Europe/Berlin", "%v", err)
		}
	case cronShape:
		if _, err := schedule.ParseCron(n.raw); err != nil {
			c.ps.add("E410", n, "minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7; lists 1,15, ranges 1-5, steps */10", "%v", err)
		}
	case patternShape:
		if !patternForm.MatchString(n.raw) {
			c.ps.add("E404", n, "write http.404, http.5xx, transport.* or class.external", "%q is not an error pattern", n.raw)
		}
	case toleranceShape:
		c.tolerance(n)
	case textShape:
		if strings.Contains(n.raw, "${{") {
			c.ps.add("E314", n, "write the text itself", "%s is used as it stands and holds no expressions, here is ${{", lastKey(n.path))
		}
	case sourceShape:
		if strings.Contains(n.raw, "${{") {
			c.ps.add("E314", n, "hand the value in by env, args, stdin, input or params", "%s holds no expressions, here is ${{", lastKey(n.path))
		}
	}
}

func (c *checker) word(n *node, s *shape) {
	if s.kind == enumOrTemplate && strings.Contains(n.raw, "${{") {
		c.template(n)
		return
	}
	if slices.Contains(s.words, n.raw) {
		return
	}
	code := "E404"
	switch {
	case lastKey(n.path) == "type":
		code = "E406"
	case n.path == "apiVersion":
		code = "E111"
	case n.path == "kind":
		code = "E112"
	}
	p := c.ps.add(code, n, "use "+list(s.words), "%q is not allowed for %s", n.raw, lastKey(n.path))
	if near := expr.Nearest(n.raw, s.words); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
		p.replace(n, near)
	}
}

// id checks an id, and for outcomes that it is not the name of a port.
func (c *checker) id(n *node, isOutcome bool) {
	switch {
	case slices.Contains(booleanWords, strings.ToLower(n.raw)):
		c.ps.add("E210", n, "choose another word", "%q cannot be an id: YAML 1.1 tools read it as a boolean or null", n.raw)
	case !idForm.MatchString(n.raw):
		hint := "use a-z, 0-9 and _, beginning with a letter, at most 63"
		if fixed := idFrom(n.raw); fixed != "" {
			hint = fmt.Sprintf("write %s (an id stands in expressions, where - is a minus)", fixed)
		}
		c.ps.add("E210", n, hint, "%q is not an id", n.raw)
	case isOutcome && slices.Contains(portWords, n.raw):
		c.ps.add("E210", n, "choose another word", "%q is the name of a port every activity has", n.raw)
	}
}

// idFrom makes an id out of a text, "" when nothing is left.
func idFrom(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && out.Len() > 0, r == '_' && out.Len() > 0:
			out.WriteRune(r)
		case out.Len() > 0:
			out.WriteByte('_')
		}
	}
	fixed := strings.Trim(out.String(), "_")
	if !idForm.MatchString(fixed) {
		return ""
	}
	return fixed
}

func nameFrom(text string) string {
	if fixed := strings.ReplaceAll(idFrom(text), "_", "-"); fixed != "" {
		return fixed
	}
	return "my-workflow"
}

// version is a semantic version of the file itself, or for a child a number or a range.
func (c *checker) version(n *node) {
	if strings.HasPrefix(n.path, "metadata") {
		if !semverForm.MatchString(n.raw) {
			c.ps.add("E413", n, `write "1.2.0"`, "%q is not a semantic version", n.raw)
		}
		return
	}
	if _, err := semver.NewConstraint(n.raw); err != nil {
		c.ps.add("E413", n, `write 3, "1.x" or ">=1.2 <2"`, "%q is not a version or a range", n.raw)
	}
}

// moment is a duration or an instant as it stands, a template, or a bare expression; the shape says which.
func (c *checker) moment(n *node, s *shape) {
	_, notDuration := expr.ParseDuration(n.raw)
	_, notInstant := expr.ParseInstant(n.raw, "")
	mayDelay, mayPoint := slices.Contains(s.words, "duration"), slices.Contains(s.words, "instant")
	switch {
	case notDuration == nil && mayDelay, notInstant == nil && mayPoint:
		c.values[n] = expr.Constant(n.raw)
		c.spelling[n] = spellDuration(n.raw)
	case mayPoint && (looksLikeDate(n.raw) || !mayDelay && notDuration == nil):
		c.ps.add("E405", n, "write 2027-01-31T09:00:00Z", "%v", notInstant)
	case looksLikeDuration(n.raw):
		c.ps.add("E405", n, "write 30s, 10m, 1h30m, 2d or PT1H30M", "%v", notDuration)
	case strings.Contains(n.raw, "${{"):
		c.template(n)
	default:
		c.expression(n)
	}
}

// looksLikeDate tells a bad instant from an expression.
func looksLikeDate(text string) bool {
	return len(text) > 4 && text[4] == '-' && strings.Trim(text[:4], "0123456789") == ""
}

// looksLikeDuration tells a bad duration from an expression.
func looksLikeDuration(text string) bool {
	return text == "" || text[0] >= '0' && text[0] <= '9' || isoStart.MatchString(text)
}

func (c *checker) tolerance(n *node) {
	if n.kind == intNode {
		if n.value.(int64) < 0 {
			c.ps.add("E414", n, "", "tolerate must be 0 or more")
		}
		return
	}
	if !percentForm.MatchString(n.raw) {
		c.ps.add("E414", n, "write 3 or 5%", "%q is not a count or a percentage", n.raw)
	}
}

func parseSize(text string) int64 {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil {
		return 0
	}
	var n int64
	fmt.Sscan(parts[1], &n)
	return n << map[string]int{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[parts[2]]
}
