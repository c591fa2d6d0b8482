package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"weftline/engine"
)

// machineScopes are what rules may give to programs: nothing that changes what others run.
var machineScopes = []string{engine.ScopeWorker, engine.ScopeRun, engine.ScopeRead}

// checkMachines checks by what programs prove themselves, and what that gives them.
func (c *Config) checkMachines() error {
	var faults []error
	say := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		say("tls-cert and tls-key belong together: name both files")
	}
	if c.TLS.ClientCA != "" && c.TLS.Certificate == "" {
		say("tls-client-ca needs tls-cert and tls-key: a client proves itself within TLS")
	}
	if (c.WorkerIssuer == "") != (c.WorkerAudience == "") {
		say("worker-issuer and worker-audience belong together: without an audience a token made for another program would do")
	}
	if c.WorkerIssuer != "" {
		if fault := checkIssuer(c.WorkerIssuer); fault != "" {
			say("worker-issuer: %s", fault)
		}
		if len(c.WorkerRules) == 0 {
			say("worker-rules are missing: without one no token of worker-issuer is good for anything")
		}
	}
	for i := range c.WorkerRules {
		rule := &c.WorkerRules[i]
		rule.Team = either(rule.Team, engine.DefaultTeam)
		if rule.Claim == "" || rule.Value == "" || !slices.Contains(machineScopes, rule.Role) {
			say("worker-rules, rule %d: it is written claim=value:scope@team, with one of the scopes %s", i+1, strings.Join(machineScopes, ", "))
		}
		switch isOfCertificate := strings.HasPrefix(rule.Claim, "cert."); {
		case isOfCertificate && c.TLS.ClientCA == "":
			say("worker-rules, rule %d is about certificates, and none is accepted: name tls-client-ca", i+1)
		case !isOfCertificate && c.WorkerIssuer == "":
			say("worker-rules, rule %d is about tokens, and none is accepted: name worker-issuer and worker-audience", i+1)
		}
	}
	return errors.Join(faults...)
}
