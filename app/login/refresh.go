package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"weftline/engine"
)

const retryRefresh = 30 * time.Second // a provider that did not answer is asked again after this

// Refresh asks the provider of a session again whether it still vouches for the person, and brings rights in
// line. One caller asks at a time; others go on meanwhile. A provider that says no ends the session; one that
// does not answer leaves it its grace.
func (s *Service) Refresh(ctx context.Context, session string) error {
	refresh, err := s.identity.ClaimRefresh(ctx, session, 2*answerTime)
	if errors.Is(err, engine.ErrNoRefresh) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*answerTime) // the new tokens must be stored
	defer cancel()
	p := s.find(refresh.Provider)
	if p == nil {
		return s.identity.EndRefused(ctx, refresh, "the provider is no longer configured")
	}
	return s.settle(ctx, p, refresh, s.renew(ctx, p, refresh))
}

func (s *Service) renew(ctx context.Context, p *provider, refresh engine.Refresh) error {
	found, err := p.discover(ctx)
	if err != nil {
		return err
	}
	tokens, err := p.refresh(ctx, found, refresh.RefreshToken)
	if err != nil {
		return err
	}
	v, err := p.vouchedAgain(ctx, found, tokens, refresh)
	if err != nil {
		return err
	}
	if v.claims != nil {
		claimed, err := p.claimed(ctx, found, tokens, v)
		if err != nil {
			return err
		}
		if _, err := s.identity.SignIn(ctx, claimed, "", ""); err != nil {
			return err
		}
	}
	if tokens.RefreshToken == "" {
		tokens.RefreshToken = refresh.RefreshToken
	}
	return s.identity.KeepRefreshed(ctx, refresh, p.held(tokens, v))
}

// vouchedAgain reads who the new tokens speak of. A provider need not send an ID token with them; then the
// userinfo endpoint says the same.
func (p *provider) vouchedAgain(ctx context.Context, found *discovered, tokens *oauth2.Token, refresh engine.Refresh) (*vouched, error) {
	v := &vouched{raw: refresh.IDToken, issuer: refresh.Issuer, subject: refresh.Subject}
	var err error
	if raw, _ := tokens.Extra("id_token").(string); raw != "" {
		v, err = p.verify(ctx, found, tokens, "")
	} else if found.meta.UserInfo != "" {
		v.claims, err = p.userInfo(ctx, found, tokens, refresh.Subject)
	}
	if err == nil && (v.subject != refresh.Subject || v.issuer != refresh.Issuer) {
		err = fault(BadToken, "The new token speaks of another person.", nil)
	}
	return v, err
}

// settle decides what an answer means for the session.
func (s *Service) settle(ctx context.Context, p *provider, refresh engine.Refresh, err error) error {
	if err == nil {
		return nil
	}
	if engine.IsOutage(err) {
		return err // our own database: nothing is known of the provider
	}
	known := faultOf(p.noAccess(err, engine.Claimed{}), p)
	if known.Code != Unreachable && known.Code != Misconfigured {
		s.log.Info("the provider no longer vouches for a session", "provider", p.ID, "why", known.Error())
		return s.identity.EndRefused(ctx, refresh, known.Code)
	}
	over, err := s.identity.PostponeRefresh(ctx, refresh, retryRefresh, s.grace)
	if err != nil {
		return err
	}
	s.log.Warn("the provider of a session cannot be asked", "provider", p.ID, "why", known.Error())
	if over {
		return s.identity.EndRefused(ctx, refresh, fmt.Sprintf("the provider has not answered for %s", s.grace))
	}
	return nil
}

// EndAtProvider is the address at which the provider's own session ends too, "" when it has none or cannot be
// asked: signing out here never waits for it.
func (s *Service) EndAtProvider(ctx context.Context, ended engine.EndedSession) (address, name string) {
	p := s.find(ended.Provider)
	if p == nil {
		return "", ""
	}
	found, err := p.discover(ctx)
	if err != nil {
		return "", p.Name
	}
	return p.endSession(found, ended.IDToken), p.Name
}
