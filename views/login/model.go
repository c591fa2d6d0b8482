// Package login owns the pages before and after a session: choosing a provider, why somebody is not signed
// in, and having signed out. It must not know protocols; a code says what happened.
package login

import (
	"net/url"
	"strings"
)

// View is the choice of a provider.
type View struct {
	Providers []Provider
	Return    string // where to go afterwards
	SignedOut bool
	Expired   bool // the session ended while the person was at work
}

// Provider is one choice. Down says in words why it cannot be used now, "" when it can.
type Provider struct {
	ID, Name, Down string
}

// Fault is why somebody is not signed in.
type Fault struct {
	Code                   string
	Provider, ProviderName string
	Detail                 string
	Return, RequestID      string
	Denied                 *Denied
}

// Denied is a person who was recognised and may not come in.
type Denied struct {
	Reason, Name, Email string
	Groups              []string
}

// start is the address that begins a sign-in; again asks for the password although the provider knows the person.
func start(provider, returnPath string, again bool) string {
	query := url.Values{}
	if returnPath != "" && returnPath != "/" {
		query.Set("return", returnPath)
	}
	if again {
		query.Set("again", "1")
	}
	address := "/login/" + provider
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// Explain says what a code means.
func Explain(code, provider string) string {
	return strings.ReplaceAll(explanations[code], "{provider}", provider)
}

var explanations = map[string]string{
	"not_fresh":       "This act needs a proof of who you are from just now, and {provider} gave none.",
	"attempt_gone":    "This sign-in was finished already, took longer than ten minutes, or was begun in another browser.",
	"cancelled":       "{provider} says that the sign-in was cancelled.",
	"code_gone":       "{provider} no longer accepts this sign-in: it was used already or took too long.",
	"clock":           "The clocks of {provider} and of this server differ too much, so nobody can tell whether the sign-in is fresh.",
	"unreachable":     "{provider} cannot be reached at the moment.",
	"misconfigured":   "{provider} and this server are not set up to fit together.",
	"bad_token":       "What {provider} sent cannot be trusted, so nobody was signed in.",
	"claim_missing":   "{provider} did not say what decides about your access, so nobody was let in or shut out by guess.",
	"too_many_groups": "You are in more groups than {provider} can send with a sign-in.",
	"no_access":       "{provider} knows you, but you have no access here.",
}

var steps = map[string]string{
	"attempt_gone":    "Sign in again from here.",
	"cancelled":       "Sign in again when you are ready.",
	"code_gone":       "Sign in again from here.",
	"clock":           "Tell the people who run this server: both machines must follow a time server.",
	"unreachable":     "Try again in a moment. Whoever is signed in already can work on.",
	"misconfigured":   "Tell the people who run this server; the sign-in check in its settings says what to change.",
	"bad_token":       "Sign in again. If it happens twice, tell the people who run this server, with the request id.",
	"claim_missing":   "Tell the people who run this server: the claim must come with the token or the user information. If it is left out for people without groups, absentClaimsMeanNone says so.",
	"too_many_groups": "Tell the people who run this server: let the provider send only the groups of this application, or application roles.",
}

// TitleOf heads the page of a fault.
func TitleOf(f Fault) string {
	switch {
	case f.Denied != nil:
		return "Signed in, no access"
	case f.Code == "cancelled":
		return "Not signed in"
	case f.Code == "unreachable":
		return f.ProviderName + " cannot be reached"
	}
	return "Sign-in did not work"
}

// why says what keeps a recognised person out, and who can change it.
func (d Denied) why() string {
	switch d.Reason {
	case "blocked":
		return "An admin of the team has shut this account out. An admin of the team can let it in again."
	case "disabled":
		return "This account is switched off."
	case "name_taken":
		return "The name " + d.Name + " belongs to another account of the same provider. If that account is yours, an admin can let you take it over: on the page People, “Allow re-linking”."
	}
	return "No rule gives one of your groups a role in any team. Ask an admin of your team to add you to one of its groups at the identity provider."
}
