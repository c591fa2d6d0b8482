//go:build !(linux && amd64)

package enginetest

import (
	"errors"
	"time"
)

// ShiftClock makes the wall clock of this whole process differ from the machine's, where that can be done.
func ShiftClock(time.Duration) error { return errors.New("the clock cannot be shifted on this system") }
