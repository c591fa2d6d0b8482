package flow

import (
	"regexp"
	"strconv"
	"strings"
)

// The YAML 1.2 core schema: 017 is seventeen, 1_000 and dates are text, yes and no are text.
var (
	coreInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	coreOctal = regexp.MustCompile(`^0o[0-7]+$`)
	coreHex   = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	coreFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	coreInf   = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

// resolve gives the type and value of a plain scalar. A whole number beyond int64 becomes a float64.
func resolve(text string) (nodeKind, any) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nullNode, nil
	case "true", "True", "TRUE":
		return boolNode, true
	case "false", "False", "FALSE":
		return boolNode, false
	}
	base, digits := 10, strings.TrimPrefix(text, "+")
	switch {
	case coreOctal.MatchString(text):
		base, digits = 8, text[2:]
	case coreHex.MatchString(text):
		base, digits = 16, text[2:]
	case coreInf.MatchString(text):
		f, _ := strconv.ParseFloat(strings.Replace(text, ".", "", 1), 64)
		return floatNode, f
	case !coreInt.MatchString(text) && !coreFloat.MatchString(text):
		return textNode, text
	}
	if i, err := strconv.ParseInt(digits, base, 64); err == nil {
		return intNode, i
	}
	f, _ := strconv.ParseFloat(digits, 64) // too large gives an infinity, which the reader refuses
	return floatNode, f
}
