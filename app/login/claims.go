package login

import (
	"context"
	"maps"
	"strings"

	"golang.org/x/oauth2"

	"weftline/engine"
)

// claimed makes of a token what the engine stores of a person. A claim that a rule needs and the token lacks
// is asked for at the userinfo endpoint; when it is not there either, nobody is let in or shut out by that.
func (p *provider) claimed(ctx context.Context, found *discovered, tokens *oauth2.Token, v *vouched) (engine.Claimed, error) {
	claims := v.claims
	decision := Evaluate(p.Provider, claims)
	if len(decision.Absent) > 0 && found.meta.UserInfo != "" {
		more, err := p.userInfo(ctx, found, tokens, v.subject)
		if err != nil {
			return engine.Claimed{}, err
		}
		claims = merged(claims, more)
		decision = Evaluate(p.Provider, claims)
	}
	if len(decision.Absent) > 0 {
		return engine.Claimed{}, absent(decision)
	}
	return engine.Claimed{Provider: p.ID, Issuer: v.issuer, Subject: v.subject, Name: p.nameOf(claims, v.subject),
		Email: textOf(claims["email"]), EmailVerified: claims["email_verified"] == true, Access: decision.Access}, nil
}

func absent(d Decision) error {
	if d.Overage {
		return fault(TooManyGroups, "Claim "+strings.Join(d.Absent, ", ")+".", nil)
	}
	return fault(ClaimMissing, "Missing: "+strings.Join(d.Absent, ", ")+".", nil)
}

// userInfo reads the endpoint; it must speak of the same person as the token.
func (p *provider) userInfo(ctx context.Context, found *discovered, tokens *oauth2.Token, subject string) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(p.context(ctx), answerTime)
	defer cancel()
	info, err := found.oidc.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		if isNetwork(err) {
			return nil, err
		}
		return nil, nil // it refuses: the claims that the token holds must do
	}
	if !same(info.Subject, subject) {
		return nil, fault(BadToken, "The token and the user information speak of two people.", nil)
	}
	claims := map[string]any{}
	return claims, info.Claims(&claims)
}

// merged adds what the token does not say.
func merged(token, more map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, more)
	maps.Copy(all, token)
	return all
}

// reserved names are those of the application itself: nobody signs in as one of them.
var reserved = map[string]bool{"admin": true, "local": true, "server": true, "system": true}

// nameOf is what a person is called here, at their first sign-in.
func (p *provider) nameOf(claims map[string]any, subject string) string {
	const longest = 80
	for _, candidate := range []string{textOf(lookup(claims, p.NameClaim)), textOf(claims["email"]), subject} {
		name := strings.TrimSpace(printable(candidate))
		if name == "" {
			continue
		}
		if runes := []rune(name); len(runes) > longest {
			name = string(runes[:longest])
		}
		if reserved[strings.ToLower(name)] {
			name += "@" + p.ID
		}
		return name
	}
	return subject
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}
