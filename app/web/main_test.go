package web

import (
	"fmt"
	"os"
	"testing"

	"weftline/engine/activity"
)

// sandboxWord makes the test binary a process that runs scripts.
const sandboxWord = "be-a-sandbox"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandboxWord {
		if err := activity.ServeSandbox(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
