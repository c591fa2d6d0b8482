package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"weftline/engine/expr"
)

// Lookup answers an environment variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Load reads a command's arguments, which may hold the flags of the given groups and
// nothing else, over the environment, over the defaults. --help writes the flags to
// help and answers flag.ErrHelp.
func Load(command string, args []string, env Lookup, help io.Writer, groups ...Group) (*Config, error) {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(help)
	c, err := Bind(flags, env, groups...)
	if err != nil {
		return nil, err
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("weftline %s takes no argument %q", command, flags.Arg(0))
	}
	return c, c.Validate()
}

// Bind is for commands with flags of their own: it answers a Config of defaults and
// environment, which flags.Parse then completes. Call Validate after that.
func Bind(flags *flag.FlagSet, env Lookup, groups ...Group) (*Config, error) {
	c := &Config{}
	var faults []error
	for _, s := range settings {
		value := s.value(c)
		if s.Default != "" {
			if err := value.Set(s.Default); err != nil {
				return nil, fmt.Errorf("default of %s: %w", s.Name, err)
			}
		}
		if given, ok := env(s.Env); ok && given != "" {
			if err := value.Set(given); err != nil {
				faults = append(faults, fmt.Errorf("%s %w", s.Env, err))
			}
		}
		if !s.EnvOnly && slices.Contains(groups, s.Group) {
			flags.Var(value, s.Name, s.Help)
		}
	}
	flags.Usage = func() { WriteHelp(flags.Output(), groups...) }
	return c, errors.Join(faults...)
}

// others are variables that commands beside serve read.
var others = []string{"WEFTLINE_URL", "WEFTLINE_TOKEN"}

// CheckEnvironment refuses variables that look like settings and are none: a misspelt one would otherwise do
// nothing, silently. environ holds NAME=value, as os.Environ answers.
func CheckEnvironment(environ []string) error {
	known := append([]string{}, others...)
	for _, s := range settings {
		known = append(known, s.Env)
	}
	var faults []error
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "WEFTLINE_") || strings.HasPrefix(name, "WEFTLINE_TEST_") || slices.Contains(known, name) {
			continue
		}
		fault := fmt.Errorf("%s is no setting", name)
		if near := expr.Nearest(name, known); near != "" {
			fault = fmt.Errorf("%s is no setting; did you mean %s?", name, near)
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

// WriteHelp lists the settings of the groups, each with its flag, variable and default.
func WriteHelp(w io.Writer, groups ...Group) {
	for i, group := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s:\n", group)
		for _, s := range settings {
			if s.Group == group {
				s.writeHelp(w)
			}
		}
	}
}

func (s Setting) writeHelp(w io.Writer) {
	if s.EnvOnly {
		fmt.Fprintf(w, "  %s=%s\n", s.Env, s.Form)
	} else {
		fmt.Fprintf(w, "  --%s %s\n", s.Name, s.Form)
	}
	fmt.Fprintf(w, "        %s\n", s.Help)
	if s.EnvOnly {
		return
	}
	fmt.Fprintf(w, "        (default %s, environment %s)\n", orNone(s.Default), s.Env)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
