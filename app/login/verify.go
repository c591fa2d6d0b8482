package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"weftline/engine"
)

const (
	leeway     = time.Minute     // that clocks may differ about the end of a token
	iatLeeway  = 5 * time.Minute // and about its beginning
	logoutSpan = 5 * time.Minute // a logout token is obeyed so long after it was made
)

// vouched is an ID token that has passed every check.
type vouched struct {
	raw             string
	issuer, subject string
	sid             string
	claims          map[string]any
}

// verifier checks signature, algorithm, issuer, audience and times as go-oidc does, with our leeway.
func (p *provider) verifier(found *discovered) *oidc.IDTokenVerifier {
	return oidc.NewVerifier(found.meta.Issuer, found.keys, &oidc.Config{
		ClientID: p.ClientID, SupportedSigningAlgs: p.Algorithms, SkipIssuerCheck: len(p.Tenants) > 0,
		Now: func() time.Time { return p.now().Add(-leeway) },
	})
}

// verify checks the ID token of an answer; nonce is "" for a refresh, which has none.
func (p *provider) verify(ctx context.Context, found *discovered, tokens *oauth2.Token, nonce string) (*vouched, error) {
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return nil, fault(Misconfigured, "It sent no ID token; is the scope openid allowed for this client?", nil)
	}
	token, err := p.verifier(found).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	v := &vouched{raw: raw, issuer: token.Issuer, subject: token.Subject, claims: map[string]any{}}
	if err := token.Claims(&v.claims); err != nil {
		return nil, err
	}
	v.sid, _ = v.claims["sid"].(string)
	return v, errors.Join(p.checkIssuer(found, v), p.checkParty(token, v), p.checkTimes(token), checkNonce(token, nonce), checkAccessToken(token, tokens))
}

// checkIssuer of an issuer with tenants: the token's tenant must be on the list and in its issuer's name.
func (p *provider) checkIssuer(found *discovered, v *vouched) error {
	if v.subject == "" {
		return fault(BadToken, "The token names nobody.", nil)
	}
	if len(p.Tenants) == 0 {
		return nil
	}
	tenant, _ := v.claims["tid"].(string)
	if !slices.Contains(p.Tenants, tenant) || v.issuer != strings.ReplaceAll(found.meta.Issuer, tenantInIssue, tenant) {
		return fault(BadToken, "Your organisation may not sign in here.", fmt.Errorf("tenant %q, issuer %q", printable(tenant), printable(v.issuer)))
	}
	return nil
}

func (p *provider) checkParty(token *oidc.IDToken, v *vouched) error {
	party, present := v.claims["azp"].(string)
	if present && party != p.ClientID || !present && len(token.Audience) > 1 {
		return fault(BadToken, "The token was made for another application.", fmt.Errorf("aud %q, azp %q", token.Audience, printable(party)))
	}
	return nil
}

func (p *provider) checkTimes(token *oidc.IDToken) error {
	if ahead := token.IssuedAt.Sub(p.now()); ahead > iatLeeway {
		return fault(Clock, fmt.Sprintf("Its clock is %s ahead of this server's.", ahead.Round(time.Second)), nil)
	}
	return nil
}

// authenticated is when the person proved who they are, as the provider says; nil when it does not.
func (v *vouched) authenticated() *time.Time {
	seconds, ok := v.claims["auth_time"].(float64)
	if !ok || seconds <= 0 {
		return nil
	}
	at := time.Unix(int64(seconds), 0)
	return &at
}

// checkFresh: a provider that was asked to make the person prove who they are must say that it did; maxAge 0 =
// it was not asked.
func (p *provider) checkFresh(v *vouched, maxAge time.Duration) error {
	if maxAge == 0 {
		return nil
	}
	at := v.authenticated()
	if at == nil {
		return fault(NotFresh, "It does not say when you proved who you are (auth_time).", nil)
	}
	if age := p.now().Sub(*at); age > maxAge+leeway {
		return fault(NotFresh, "It let you through without asking: you proved who you are "+age.Round(time.Minute).String()+" ago.", nil)
	}
	return nil
}

func checkNonce(token *oidc.IDToken, nonce string) error {
	if nonce != "" && !same(token.Nonce, nonce) {
		return fault(BadToken, "The token belongs to another sign-in.", errors.New("nonce differs"))
	}
	return nil
}

func checkAccessToken(token *oidc.IDToken, tokens *oauth2.Token) error {
	if token.AccessTokenHash == "" {
		return nil
	}
	if err := token.VerifyAccessToken(tokens.AccessToken); err != nil {
		return fault(BadToken, "The two tokens do not belong together.", err)
	}
	return nil
}

// Backchannel obeys a logout token that a provider sends. Whatever is wrong with it is a refusal bad_request.
func (s *Service) Backchannel(ctx context.Context, providerID, raw string) error {
	p := s.find(providerID)
	if p == nil {
		return engine.Refuse("not_found", "there is no such provider")
	}
	found, err := p.discover(ctx)
	if err != nil {
		return engine.Refuse("not_ready", "the provider's metadata cannot be read at the moment")
	}
	token, err := p.verifyLogout(ctx, found, raw)
	if err != nil {
		return engine.Refuse("bad_request", "the logout token is not good: "+printable(err.Error()))
	}
	ended, err := s.identity.EndProviderSessions(ctx, p.ID, token.Issuer, token.Subject, token.SessionID, token.TokenID, token.Expiry)
	var refusal *engine.Error
	if errors.As(err, &refusal) {
		return engine.Refuse("bad_request", refusal.Message)
	}
	if err == nil {
		s.log.Info("the provider ended sessions", "provider", p.ID, "sessions", ended)
	}
	return err
}

func (p *provider) verifyLogout(ctx context.Context, found *discovered, raw string) (*oidc.LogoutToken, error) {
	if kind := headerType(raw); !slices.Contains([]string{"", "jwt", "logout+jwt", "application/logout+jwt"}, strings.ToLower(kind)) {
		return nil, fmt.Errorf("a token of type %s is none for logout", kind)
	}
	token, err := p.verifier(found).VerifyLogout(ctx, raw)
	if err != nil {
		return nil, err
	}
	if age := p.now().Sub(token.IssuedAt); age > logoutSpan || age < -iatLeeway {
		return nil, fmt.Errorf("it was made at %s, too far from now", token.IssuedAt.UTC().Format(time.RFC3339))
	}
	if len(p.Tenants) == 0 {
		return token, nil
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return nil, err
	}
	return token, p.checkIssuer(found, &vouched{issuer: token.Issuer, subject: "any", claims: claims})
}

// headerType is the typ of a JWT's header, "" without one.
func headerType(raw string) string {
	head, _, _ := strings.Cut(raw, ".")
	content, err := base64.RawURLEncoding.DecodeString(head)
	var header struct{ Typ string }
	if err != nil || json.Unmarshal(content, &header) != nil {
		return ""
	}
	return header.Typ
}
