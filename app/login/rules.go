package login

import (
	"fmt"
	"slices"
	"strings"

	"weftline/app/config"
	"weftline/engine"
)

// Decision is what the rules of a provider make of claims.
type Decision struct {
	engine.Access
	Absent  []string // claims that rules need and that are not there, which is not the same as empty
	Overage bool     // the provider says that the groups did not fit into the token
}

// Evaluate applies every rule; it neither asks nor stores anything.
func Evaluate(p config.Provider, claims map[string]any) Decision {
	d := Decision{Overage: overage(p, claims)}
	d.Groups, _ = values(claims, p.GroupsClaim)
	if d.Groups == nil {
		d.Groups = []string{}
	}
	d.Matches = []engine.AccessMatch{}
	for i, rule := range p.Rules {
		has, present := values(claims, rule.Claim)
		if rule.Claim == "email" {
			has, present = emails(p, claims), true
		}
		if !present && !(p.AbsentClaimsMeanNone && !d.Overage) && !slices.Contains(d.Absent, rule.Claim) {
			d.Absent = append(d.Absent, rule.Claim)
		}
		if slices.Contains(has, rule.Value) {
			d.Matches = append(d.Matches, engine.AccessMatch{Rule: i + 1, Team: rule.Team, Claim: rule.Claim, Value: rule.Value, Role: rule.Role})
		}
	}
	return d
}

// overage: the provider has put a reference in the place of the groups.
func overage(p config.Provider, claims map[string]any) bool {
	if _, present := values(claims, p.GroupsClaim); present {
		return false
	}
	names, _ := claims["_claim_names"].(map[string]any)
	_, named := names[p.GroupsClaim]
	return named || claims["hasgroups"] == true || claims["hasgroups"] == "true"
}

// emails are the address and its domain as @domain, if the provider has verified it.
func emails(p config.Provider, claims map[string]any) []string {
	address := textOf(claims["email"])
	at := strings.LastIndexByte(address, '@')
	if at < 1 || claims["email_verified"] != true && !p.TrustUnverifiedEmail {
		return nil
	}
	return []string{address, strings.ToLower(address[at:])}
}

// values are the texts of a claim; present is false when it is not there at all.
func values(claims map[string]any, path string) (texts []string, present bool) {
	switch value := lookup(claims, path).(type) {
	case nil:
		return nil, false
	case string:
		return []string{value}, true
	case []any:
		texts = []string{}
		for _, element := range value {
			if text, ok := element.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts, true
	case bool, float64:
		return []string{fmt.Sprint(value)}, true
	default:
		return nil, false
	}
}

// lookup finds a claim by its name, or by a path with dots into objects. A name with dots in it counts first.
func lookup(claims map[string]any, path string) any {
	if value, ok := claims[path]; ok {
		return value
	}
	head, rest, nested := strings.Cut(path, ".")
	inner, ok := claims[head].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return lookup(inner, rest)
}
