package expr

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

var textFunctions = map[string]function{
	"upper":  {[]Kind{Text}, 1, false, Text, onText(strings.ToUpper)},
	"lower":  {[]Kind{Text}, 1, false, Text, onText(strings.ToLower)},
	"base64": {[]Kind{Text}, 1, false, Text, onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })},
	"sha256": {[]Kind{Text}, 1, false, Text, onText(func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) })},
	"urlEncode": {[]Kind{Text}, 1, false, Text, onText(func(s string) string {
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	})},
	"trim":    {[]Kind{Text, Text}, 1, false, Text, trim},
	"split":   {[]Kind{Text, Text}, 2, false, List, split},
	"join":    {[]Kind{List, Text}, 1, false, Text, join},
	"replace": {[]Kind{Text, Text, Text}, 3, false, Text, replace},
	"indexOf": {[]Kind{Text | List, Any}, 2, false, Number, indexOf},
	"string":  {[]Kind{Text | Number | Boolean}, 1, false, Text, func(_ *frame, args []any) (any, error) { return plainText(args[0]) }},
	"uuid5":   {[]Kind{Text, Text}, 2, false, Text, uuid5},
}

func onText(change func(string) string) func(*frame, []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		text := args[0].(string)
		if err := f.spend(2 * len(text)); err != nil {
			return nil, err
		}
		return change(text), nil
	}
}

func trim(f *frame, args []any) (any, error) {
	text := args[0].(string)
	if err := f.spend(len(text)); err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return strings.Trim(text, args[1].(string)), nil
	}
	return strings.TrimSpace(text), nil
}

func split(f *frame, args []any) (any, error) {
	text, by := args[0].(string), args[1].(string)
	if err := f.spend(len(text) + 16*(strings.Count(text, by)+1)); err != nil {
		return nil, err
	}
	parts := strings.Split(text, by)
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

func join(f *frame, args []any) (any, error) {
	list, by := args[0].([]any), ""
	if len(args) == 2 {
		by = args[1].(string)
	}
	var out strings.Builder
	for i, item := range list {
		text, err := plainText(item)
		if err != nil {
			return nil, err
		}
		if err := f.spend(len(by) + len(text)); err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString(by)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

func replace(f *frame, args []any) (any, error) {
	text, from, to := args[0].(string), args[1].(string), args[2].(string)
	size := len(text) + strings.Count(text, from)*len(to)
	if err := f.spend(len(text) + size); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(text, from, to), nil
}

func indexOf(f *frame, args []any) (any, error) {
	if list, ok := args[0].([]any); ok {
		for i, item := range list {
			if same, err := equal(f, item, args[1], 0); same || err != nil {
				return int64(i), err
			}
		}
		return int64(-1), nil
	}
	part, ok := args[1].(string)
	if !ok {
		return nil, wrongArgument("indexOf", 1, Text, args[1])
	}
	text := args[0].(string)
	at := strings.Index(text, part)
	if at > 0 {
		at = utf8.RuneCountInString(text[:at])
	}
	return int64(at), f.spend(len(text))
}

// uuid5 takes a UUID, or dns or url, as its name space.
func uuid5(_ *frame, args []any) (any, error) {
	var space uuid.UUID
	switch name := args[0].(string); name {
	case "dns":
		space = uuid.NameSpaceDNS
	case "url":
		space = uuid.NameSpaceURL
	default:
		var err error
		if space, err = uuid.Parse(name); err != nil {
			return nil, &Error{Code: CodeType, Message: "the name space of uuid5 is not a UUID, dns or url"}
		}
	}
	return uuid.NewSHA1(space, []byte(args[1].(string))).String(), nil
}

// plainText is how a value stands inside a text; only text, numbers and booleans can.
func plainText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case int64, float64:
		return numberText(v), nil
	case nil:
		return "", &Error{Code: CodeEmbedded, Message: "null cannot stand inside a text", Hint: `use ?? ""`}
	}
	return "", &Error{Code: CodeEmbedded, Message: article(value) + " cannot stand inside a text", Hint: "use toJSON(...)"}
}
