package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"weftline/app/config"
)

// The tables of docs/configuration.md are the table of settings, line by line.
func TestConfigurationIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range config.Settings() {
		flag, value := "`--"+s.Name+" "+strings.ReplaceAll(s.Form, "|", `\|`)+"`", "`"+s.Default+"`"
		if s.EnvOnly {
			flag = "(environment only)"
		}
		if s.Default == "" {
			value = "none"
		}
		want = append(want, fmt.Sprintf("| %s | `%s` | %s | %s |", flag, s.Env, value, s.Help))
	}
	var have []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `--") || strings.HasPrefix(line, "| (env") {
			have = append(have, strings.TrimSpace(line))
		}
	}
	for i, line := range want {
		if i >= len(have) || have[i] != line {
			t.Fatalf("docs/configuration.md lacks, at its place:\n%s", line)
		}
	}
	if len(have) != len(want) {
		t.Errorf("docs/configuration.md has %d rows more than there are settings", len(have)-len(want))
	}
}

// Every command and every line of the list is in docs/cli.md.
func TestCommandsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		if !strings.Contains(string(text), "weftline "+c.name) {
			t.Errorf("docs/cli.md does not mention weftline %s", c.name)
		}
	}
}
