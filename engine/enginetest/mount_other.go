//go:build !linux

package enginetest

import "errors"

func mountSmall(string, int) error { return errors.New("only Linux has such file systems") }

func unmount(string) error { return nil }
