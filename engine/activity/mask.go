package activity

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// mask is what stands where a secret was.
const mask = "***"

// masked removes secrets from an outcome, so that an answer that repeats what it was sent does not carry
// them into histories. They are found as they are, in base64 and as part of a URL.
func (o Outcome) masked(secrets []string) Outcome {
	if len(secrets) == 0 {
		return o
	}
	replacer := strings.NewReplacer(maskPairs(secrets)...)
	o.Value = maskValue(o.Value, replacer)
	if o.Err != nil {
		clean := *o.Err
		clean.Message = replacer.Replace(clean.Message)
		clean.Detail = maskValue(clean.Detail, replacer)
		o.Err = &clean
	}
	return o
}

// maskPairs lists what to replace, the longest first: one secret may hold another.
func maskPairs(secrets []string) []string {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		forms = append(forms, secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.RawURLEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret), url.PathEscape(secret))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, mask)
	}
	return pairs
}

func maskValue(value any, replacer *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return replacer.Replace(v)
	case []any:
		for i := range v {
			v[i] = maskValue(v[i], replacer)
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, item := range v {
			clean[replacer.Replace(key)] = maskValue(item, replacer)
		}
		return clean
	}
	return value
}
