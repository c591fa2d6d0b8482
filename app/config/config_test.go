package config

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
)

func env(pairs map[string]string) Lookup {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

func load(t *testing.T, vars map[string]string, args ...string) *Config {
	t.Helper()
	c, err := Load("serve", args, env(vars), io.Discard, AllGroups...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, nil)
	for what, ok := range map[string]bool{
		"address":     c.Addr == "127.0.0.1:8080",
		"data folder": c.DataDir == "./data" && c.DatabaseURL == "",
		"mode":        c.ExecutionMode == LocalSync,
		"partitions":  c.Queue.PartitionCount == 32,
		"examples":    c.Examples,
		"egress":      c.EgressAllow == nil,
		"payload":     c.Limits.PayloadBytes == 1<<20,
		"output":      c.Limits.OutputBytes == 16<<20,
		"for_each":    c.Limits.ForEachItems == 10_000,
		"any address": !c.LocalModeAnyAddress,
	} {
		if !ok {
			t.Errorf("default of %s is wrong: %s", what, c)
		}
	}
}

func TestFlagsBeatEnvironmentBeatsDefault(t *testing.T) {
	vars := map[string]string{"WEFTLINE_ADDR": "127.0.0.1:1", "WEFTLINE_REGION": "north"}
	c := load(t, vars, "--addr", "127.0.0.1:2")
	if c.Addr != "127.0.0.1:2" || c.Worker.Region != "north" || c.Worker.Zone != "" {
		t.Errorf("addr %s, region %q, zone %q", c.Addr, c.Worker.Region, c.Worker.Zone)
	}
}

func TestEveryKindOfValue(t *testing.T) {
	c := load(t, map[string]string{"WEFTLINE_EGRESS_ALLOW": "127.0.0.0/8, 10.1.2.3/16"},
		"--labels", "gpu=yes,disk=ssd", "--limit-payload", "512KiB", "--examples", "off", "--log-level", "debug")
	if c.Worker.Labels["gpu"] != "yes" || c.Worker.Labels["disk"] != "ssd" {
		t.Errorf("labels %v", c.Worker.Labels)
	}
	if len(c.EgressAllow) != 2 || c.EgressAllow[1].String() != "10.1.0.0/16" {
		t.Errorf("egress %v", c.EgressAllow)
	}
	if c.Limits.PayloadBytes != 512<<10 || c.Examples || c.LogLevel != Debug {
		t.Errorf("%s", c)
	}
}

// What String prints for a value must be what Set takes: help, logs and the
// documentation show values in the form that people type.
func TestValuesReadWhatTheyPrint(t *testing.T) {
	given := map[string]string{
		"addr": "127.0.0.1:9", "labels": "a=1,b=2", "limit-output": "3GiB", "limit-payload": "1000B",
		"egress-allow": "10.0.0.0/8,fd00::/8",
	}
	c := &Config{}
	for _, s := range settings {
		want, ok := given[s.Name]
		if !ok {
			want = s.Default
		}
		v := s.value(c)
		if want != "" {
			if err := v.Set(want); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
		if want != "" && v.String() != want {
			t.Errorf("%s was set to %q and prints %q", s.Name, want, v)
		}
	}
}

func TestFaultsNameTheSettingAndTheWayOut(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		args []string
		want []string
	}{
		{args: []string{"--addr", "8080"}, want: []string{"addr", "host:port"}},
		{args: []string{"--addr", "0.0.0.0:8080"}, want: []string{"local mode", "WEFTLINE_LOCAL_MODE_ANY_ADDRESS"}},
		{args: []string{"--addr", ":8080"}, want: []string{"local mode"}},
		{args: []string{"--addr", "example.org:80"}, want: []string{"local mode"}},
		{args: []string{"--concurrency", "0"}, want: []string{"concurrency"}},
		{args: []string{"--concurrency", "many"}, want: []string{"concurrency", "whole number"}},
		{args: []string{"--execution-mode", "fast"}, want: []string{"execution-mode", "local_sync"}},
		{args: []string{"--scheduling", "random"}, want: []string{"scheduling", "tenant_aware"}},
		{args: []string{"--backpressure-action", "panic"}, want: []string{"backpressure-action", "reject"}},
		{args: []string{"--backpressure-queue-age", "10"}, want: []string{"backpressure-queue-age", "90s"}},
		{args: []string{"--backpressure-queue-depth", "-1"}, want: []string{"backpressure-queue-depth"}},
		{args: []string{"--partition-count", "0"}, want: []string{"partition-count"}},
		{args: []string{"--enable-script", "bash,perl"}, want: []string{"enable-script", "perl", "python"}},
		{args: []string{"--queues", "a,,b"}, want: []string{"queues", "place 2"}},
		{args: []string{"--labels", "a=1,"}, want: []string{"labels", "place 2"}},
		{args: []string{"--quarantine-after", "0"}, want: []string{"quarantine-after", "1 crash"}},
		{args: []string{"--quarantine-after", "-1"}, want: []string{"quarantine-after"}},
		{args: []string{"--worker-rules", "cert.cn=builder:worker"}, want: []string{"worker-rules", "tls-client-ca"}},
		{args: []string{"--worker-rules", "sub=builder:worker"}, want: []string{"worker-rules", "worker-issuer"}},
		{args: []string{"--labels", "gpu"}, want: []string{"gpu", "key=value"}},
		{args: []string{"--labels", "a=1,a=2"}, want: []string{"twice"}},
		{args: []string{"--limit-payload", "1MB"}, want: []string{"limit-payload"}},
		{args: []string{"--limit-payload", "9999999999GiB"}, want: []string{"too large"}},
		{args: []string{"--limit-output", "0B"}, want: []string{"limit-output"}},
		{args: []string{"--data-dir", ""}, want: []string{"data-dir", "DATABASE_URL"}},
		{args: []string{"extra"}, want: []string{"extra"}},
		{vars: map[string]string{"WEFTLINE_EGRESS_ALLOW": "localhost"}, want: []string{"WEFTLINE_EGRESS_ALLOW", "10.0.0.0/8"}},
		{vars: map[string]string{"WEFTLINE_BOOTSTRAP_TOKEN": "short"}, want: []string{"WEFTLINE_BOOTSTRAP_TOKEN", "16"}},
		{vars: map[string]string{"WEFTLINE_EXAMPLES": "maybe", "WEFTLINE_CONCURRENCY": "x"}, want: []string{"WEFTLINE_EXAMPLES", "WEFTLINE_CONCURRENCY"}},
	} {
		_, err := Load("serve", c.args, env(c.vars), io.Discard, AllGroups...)
		if err == nil {
			t.Errorf("%v %v was taken", c.args, c.vars)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v %v: %q does not mention %q", c.args, c.vars, err, want)
			}
		}
	}
}

func TestAnyAddressWhenAllowed(t *testing.T) {
	c := load(t, map[string]string{"WEFTLINE_LOCAL_MODE_ANY_ADDRESS": "true"}, "--addr", "0.0.0.0:8080")
	if !c.LocalModeAnyAddress {
		t.Error("not allowed")
	}
	for _, loopback := range []string{"127.0.0.9:1", "[::1]:1", "localhost:1"} {
		load(t, nil, "--addr", loopback)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	for _, dsn := range []string{
		"postgres://user:hunter2-secret@db.example:5432/weftline?sslpassword=hunter2-secret",
		"host=db.example password=hunter2-secret", "postgres://user:hunter2-secret@db.exa mple/x",
	} {
		vars := map[string]string{"DATABASE_URL": dsn, "WEFTLINE_BOOTSTRAP_TOKEN": "hunter2-secret-token"}
		printed := load(t, vars, "--region", "north").String()
		if strings.Contains(printed, "hunter2") {
			t.Errorf("a secret is printed: %s", printed)
		}
		if !strings.Contains(printed, "region=north") || !strings.Contains(printed, "bootstrap-token=(set)") {
			t.Errorf("what is set cannot be seen: %s", printed)
		}
	}
}

func TestHelpListsEachSettingWithItsDefault(t *testing.T) {
	var help strings.Builder
	_, err := Load("serve", []string{"--help"}, env(map[string]string{"WEFTLINE_BOOTSTRAP_TOKEN": "hunter2-secret-token"}), &help, AllGroups...)
	if !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("--help answers %v", err)
	}
	for _, s := range Settings() {
		for _, want := range []string{s.Env, s.Default, s.Help} {
			if !strings.Contains(help.String(), want) {
				t.Errorf("help of %s lacks %q", s.Name, want)
			}
		}
	}
	if strings.Contains(help.String(), "hunter2") {
		t.Error("help shows a secret of the environment")
	}
}

func TestACommandTakesItsGroupsOnly(t *testing.T) {
	if _, err := Load("migrate", []string{"--region", "north"}, env(nil), io.Discard, Database); err == nil {
		t.Error("a flag of another group was taken")
	}
	c, err := Load("migrate", []string{"--data-dir", "/x"}, env(map[string]string{"WEFTLINE_REGION": "north"}), io.Discard, Database)
	if err != nil || c.DataDir != "/x" || c.Worker.Region != "north" {
		t.Errorf("%v %v", c, err)
	}
}

func TestTableIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		if s.Env != "DATABASE_URL" && s.Env != "WEFTLINE_"+strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) {
			t.Errorf("%s is set by %s: one name in both forms", s.Name, s.Env)
		}
		if seen[s.Name] || s.Help == "" || s.Form == "" || !slices.Contains(AllGroups, s.Group) {
			t.Errorf("%s is listed twice, unexplained, or in no group", s.Name)
		}
		seen[s.Name] = true
	}
}
