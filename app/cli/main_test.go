package cli

import (
	"os"
	"testing"
)

// A server that a test starts runs scripts in processes of its own program, which is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandboxCommand {
		os.Exit(Main(os.Args[1:], Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
	}
	os.Exit(m.Run())
}
