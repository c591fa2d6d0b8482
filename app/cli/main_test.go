package cli

import (
	"os"
	"testing"
)

// releaseVariable makes this test binary the program, as this release is.
const releaseVariable = "WEFTLINE_TEST_RELEASE"

// A server that a test starts runs scripts in processes of its own program, which is the test binary.
func TestMain(m *testing.M) {
	if os.Getenv(releaseVariable) != "" || len(os.Args) == 2 && os.Args[1] == sandboxCommand {
		os.Exit(Main(os.Args[1:], Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
	}
	code := m.Run()
	if nextFolder != "" {
		_ = os.RemoveAll(nextFolder)
	}
	os.Exit(code)
}
