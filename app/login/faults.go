package login

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"weftline/engine"
)

// Codes of a Fault.
const (
	AttemptGone   = "attempt_gone"    // unknown or used state, another browser, or too late
	Cancelled     = "cancelled"       // the person or the provider said no
	CodeGone      = "code_gone"       // the code was used or is too old
	Clock         = "clock"           // times of the token do not fit ours
	Unreachable   = "unreachable"     // the provider does not answer
	Misconfigured = "misconfigured"   // the provider and the settings do not fit together
	BadToken      = "bad_token"       // what the provider sent cannot be trusted
	ClaimMissing  = "claim_missing"   // a rule needs a claim that did not come
	TooManyGroups = "too_many_groups" // the groups do not fit into the token
	NotFresh      = "not_fresh"       // it was asked to make the person prove who they are, and did not
	NoAccess      = "no_access"       // the person is known and may not come in
)

// Fault is why somebody is not signed in, for the page that says so.
type Fault struct {
	Code                   string
	Provider, ProviderName string
	Detail                 string // for people, beside what the code means
	Return                 string
	Denied                 *Denied // with NoAccess

	cause error // for the log only
}

// Denied is who was recognised and not let in.
type Denied struct {
	Reason string // as of engine.NoAccess
	Name   string
	Email  string
	Groups []string
}

func (f *Fault) Error() string {
	if f.cause != nil {
		return f.Code + ": " + f.cause.Error()
	}
	return f.Code + ": " + f.Detail
}

func (f *Fault) Unwrap() error { return f.cause }

func fault(code, detail string, cause error) *Fault {
	return &Fault{Code: code, Detail: detail, cause: cause}
}

// faultOf gives any error of a provider its meaning. Refusals of the engine stay what they are.
func faultOf(err error, p *provider) *Fault {
	var known *Fault
	if !errors.As(err, &known) {
		known = guess(err)
	}
	made := *known
	made.Provider, made.ProviderName = p.ID, p.Name
	return &made
}

func guess(err error) *Fault {
	var expired *oidc.TokenExpiredError
	var answer *oauth2.RetrieveError
	switch {
	case isNetwork(err):
		return fault(Unreachable, "It does not answer.", err)
	case errors.As(err, &expired):
		return fault(Clock, "The token had expired when it came.", err)
	case errors.As(err, &answer):
		return ofAnswer(answer)
	}
	return fault(BadToken, "", err)
}

// ofAnswer reads what the token endpoint said (RFC 6749, section 5.2).
func ofAnswer(answer *oauth2.RetrieveError) *Fault {
	switch {
	case answer.ErrorCode == "invalid_grant":
		return fault(CodeGone, "", answer)
	case answer.Response != nil && answer.Response.StatusCode >= 500:
		return fault(Unreachable, "It answers with an error of its own.", answer)
	case answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client":
		return fault(Misconfigured, "It does not accept the client id or the client secret.", answer)
	}
	return fault(Misconfigured, "It refused to exchange the code.", answer)
}

func isNetwork(err error) bool {
	var network net.Error
	var address *url.Error
	return errors.As(err, &network) || errors.As(err, &address) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errTooSoon)
}

// noAccess makes the page's facts of a refusal.
func (p *provider) noAccess(err error, claimed engine.Claimed) error {
	var refused *engine.NoAccess
	if !errors.As(err, &refused) {
		return err
	}
	f := fault(NoAccess, "", err)
	f.Denied = &Denied{Reason: refused.Reason, Name: refused.Name, Email: claimed.Email, Groups: claimed.Access.Groups}
	return f
}

// printable keeps a provider's words for people short and plain.
func printable(text string) string {
	const longest = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}
