// Package cli owns the command line: one file a command, each with its own flags and --help. Commands that
// work on definitions need nothing else; those that work on a server speak its HTTP API as any client does;
// serve, run --local, token, migrate and bench open the engine themselves. It must not know how the engine
// or the language do their work.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"weftline/app/config"
	"weftline/engine/activity"
)

// Terminal is what a command reads and writes.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	Env      config.Lookup
	Environ  []string // all of it, as os.Environ answers
}

func (t Terminal) env(name string) string {
	value, _ := t.Env(name)
	return value
}

// command is one word after weftline. usage shows its arguments; says is one line for the list.
type command struct {
	name, usage, says string
	run               func(ctx context.Context, t Terminal, args []string) error
}

// commands in the order in which the list shows them.
func commands() []command {
	return []command{
		{"serve", "[flags]", "the whole application; the default command", serve},
		{"worker", "[flags]", "a worker pool without the web application, on the database of a server", workerPool},
		{"validate", "FILE…", "checks definitions", validate},
		{"fmt", "FILE…", "brings definitions into canonical form", format},
		{"diff", "A B", "compares two definitions by activity", diff},
		{"graph", "FILE", "draws a definition as text or SVG", graph},
		{"fix", "FILE --list|--apply CODE@LINE|--all", "corrects what the validator offers to correct", fix},
		{"schema", "", "prints the JSON Schema of the language", schema},
		{"explain", "CODE", "explains an error code", explain},
		{"test", "DIR|FILE…", "runs the tests of workflows, without a server", test},
		{"plan", "FILE", "shows the path an input takes, without any effect", plan},
		{"import", "--from FORMAT FILE", "makes a definition of another system's file", importFile},
		{"run", "NAME|FILE", "starts an execution, on a server or in process", run},
		{"executions", "list|show|events|cancel|retry|release|signal", "executions of a server", executions},
		{"workflows", "list|publish", "workflows of a server", workflows},
		{"schedules", "list|show|create|pause|resume|trigger|delete|ticks", "schedules of a server", schedules},
		{"tasks", "list|complete", "human tasks of a server", tasks},
		{"token", "create", "makes an API token, straight in the database", token},
		{"secrets", "rotate-key", "seals secrets and sensitive values with a new key", secrets},
		{"migrate", "up|status", "brings the database up to date", migrate},
		{"doctor", "", "proves that every open execution will be driven on", doctor},
		{"bench", "WORKLOAD", "measures the engine", benchmark},
		{"version", "", "prints the version", version},
	}
}

// exit ends the program with a code and without a message: what is to say was said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// sandboxCommand is how the program starts itself to run scripts; people have no use for it.
const sandboxCommand = "sandbox"

const usageFault = exit(64)

// Main runs the command that args name and answers the exit code.
func Main(args []string, t Terminal) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(args) == 0 || strings.HasPrefix(args[0], "-") && !isHelp(args[0]) {
		args = append([]string{"serve"}, args...)
	}
	if isHelp(args[0]) || args[0] == "help" {
		list(t.Out)
		return 0
	}
	if args[0] == sandboxCommand {
		return codeOf(activity.ServeSandbox(t.In, t.Out), sandboxCommand, t)
	}
	t.tuneGarbage()
	for _, c := range commands() {
		if c.name == args[0] {
			return codeOf(c.run(ctx, t, args[1:]), c.name, t)
		}
	}
	fmt.Fprintf(t.Err, "weftline: there is no command %q.\n\n", args[0])
	list(t.Err)
	return int(usageFault)
}

func codeOf(err error, name string, t Terminal) int {
	var code exit
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(t.Err, "weftline %s: %v\n", name, err)
	return 1
}

func isHelp(word string) bool { return word == "-h" || word == "-help" || word == "--help" }

func list(w io.Writer) {
	fmt.Fprintln(w, "Usage: weftline [COMMAND] …")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-12s %s\n", c.name, c.says)
	}
	fmt.Fprintln(w, "\nEach command takes --help.")
}

// flags of one command: --help shows its usage line, then its flags.
func (t Terminal) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(t.Err)
	flags.Usage = func() {
		flags.SetOutput(t.Out)
		word, _, _ := strings.Cut(name, " ")
		for _, c := range commands() {
			if c.name == word {
				fmt.Fprintf(t.Out, "Usage: weftline %s %s\n\n%s\n\n", c.name, c.usage, sentence(c.says))
			}
		}
		flags.PrintDefaults()
	}
	return flags
}

func sentence(says string) string { return strings.ToUpper(says[:1]) + says[1:] + "." }

// parse reads flags that may stand before, between and after the arguments, and wants least to most
// arguments (most < 0: any number).
func parse(flags *flag.FlagSet, args []string, least, most int) ([]string, error) {
	var plain []string
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, usageFault // the flag package has said why
		}
		rest := flags.Args()
		if len(rest) == 0 {
			break
		}
		plain, args = append(plain, rest[0]), rest[1:]
	}
	if len(plain) < least || most >= 0 && len(plain) > most {
		fmt.Fprintf(flags.Output(), "weftline %s: wrong number of arguments: %d\n", flags.Name(), len(plain))
		flags.Usage()
		return nil, usageFault
	}
	return plain, nil
}

// choose runs the sub-command that args name.
func choose(ctx context.Context, t Terminal, name string, args []string, choices []command) error {
	if len(args) > 0 {
		for _, c := range choices {
			if c.name == args[0] {
				return c.run(ctx, t, args[1:])
			}
		}
	}
	out, err := t.Err, error(usageFault)
	if len(args) > 0 && isHelp(args[0]) {
		out, err = t.Out, nil
	}
	fmt.Fprintf(out, "Usage: weftline %s …\n\n", name)
	for _, c := range choices {
		fmt.Fprintf(out, "  %-9s %-24s %s\n", c.name, c.usage, c.says)
	}
	return err
}
