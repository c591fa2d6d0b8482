package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func version(_ context.Context, t Terminal, args []string) error {
	if _, err := parse(t.flags("version"), args, 0, 0); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "weftline %s (%s, %s/%s)\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// Version names the build: the module's version, else the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(12, len(setting.Value))]
		}
	}
	return "devel"
}
