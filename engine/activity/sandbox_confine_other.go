//go:build !linux

package activity

import "time"

// Elsewhere the sandbox rests on the interpreter, which has no way out to begin with, and on the watch over
// its heap; the parent's clock stands in for processor time.

func confine() error { return nil }

var processStart = time.Now()

func processorTime() time.Duration { return time.Since(processStart) }

func boundScript(int, int64) error { return nil }
