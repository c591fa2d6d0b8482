// Package retry owns the question whether a failed attempt is tried again and how long the pause before it
// is. It is pure: jitter comes from a seed that the caller derives from what is tried. It must not know
// executions, clocks or storage.
package retry

import (
	"math"
	"strings"
	"time"

	"weftline/engine/flow"
)

// Types and classes of error that the rules name.
const (
	WorkerLost          = "engine.worker_lost"
	ClassInfrastructure = "infrastructure"
)

// MaxFree is how many attempts may be lost to infrastructure before that counts as a failure.
const MaxFree = 10

// MaxRetryAfter bounds what the other side may ask for.
const MaxRetryAfter = 15 * time.Minute

// Try describes the attempt that failed.
type Try struct {
	Type, Class string        // of its error
	Used        int           // attempts used up, this one included
	Free        int           // attempts lost before this one that used nothing up
	Asked       time.Duration // what the other side asked for, 0 = nothing
	Seed        uint64        // of the jitter
}

// Decision says what follows a failed attempt.
type Decision struct {
	Again bool
	Free  bool          // the attempt that failed does not count
	Pause time.Duration // before the next one, never negative
}

// Next decides. Infrastructure failures use no attempt up, unless they are excepted or too many.
func Next(policy flow.Retry, try Try) Decision {
	if Matches(policy.Except, try.Type, try.Class) {
		return Decision{}
	}
	if try.Class == ClassInfrastructure {
		if try.Free >= MaxFree {
			return Decision{}
		}
		return Decision{Again: true, Free: true, Pause: freePause(policy, try)}
	}
	if try.Used >= policy.Attempts || !Matches(policy.Errors, try.Type, try.Class) {
		return Decision{}
	}
	pause := Pause(policy, try.Used, try.Seed)
	if try.Asked > 0 {
		pause = min(try.Asked, MaxRetryAfter)
	}
	return Decision{Again: true, Pause: pause}
}

// freePause: work that lost its worker goes on at once; a broken dependency of ours gets a growing pause.
func freePause(policy flow.Retry, try Try) time.Duration {
	if try.Type == WorkerLost {
		return 0
	}
	return Pause(policy, try.Free+1, try.Seed)
}

// Pause is the pause after the n-th failed attempt (from 1): at most MaxDelay, at least 1 ms when a delay
// is set, growing without overflow.
func Pause(policy flow.Retry, n int, seed uint64) time.Duration {
	if policy.Delay <= 0 {
		return 0
	}
	pause := grow(policy.Strategy, float64(policy.Delay), n)
	if policy.MaxDelay > 0 {
		pause = min(pause, float64(policy.MaxDelay))
	}
	pause = min(pause, float64(math.MaxInt64/2))
	if policy.Jitter == "full" {
		pause *= unit(seed)
	}
	return max(time.Duration(pause).Truncate(time.Millisecond), time.Millisecond)
}

// Backoff is the pause of a repeat before turn n (from 1), without a ceiling and without jitter.
func Backoff(strategy string, every time.Duration, n int) time.Duration {
	return time.Duration(min(grow(strategy, float64(every), n), float64(math.MaxInt64/2)))
}

func grow(strategy string, base float64, n int) float64 {
	switch strategy {
	case "linear":
		return base * float64(max(n, 1))
	case "exponential":
		return base * math.Pow(2, float64(max(n, 1)-1))
	default:
		return base
	}
}

// unit maps a seed evenly to (0, 1].
func unit(seed uint64) float64 {
	seed ^= seed >> 33
	seed *= 0xff51afd7ed558ccd
	seed ^= seed >> 33
	return (float64(seed>>11) + 1) / (1 << 53)
}

// Matches reports whether a type of error fits one of the patterns: the type itself, "prefix.*", a status
// class such as http.5xx, "*", or class.<class>.
func Matches(patterns []string, errorType, class string) bool {
	for _, pattern := range patterns {
		if matches(pattern, errorType, class) {
			return true
		}
	}
	return false
}

func matches(pattern, errorType, class string) bool {
	if pattern == errorType || pattern == "*" {
		return true
	}
	if wanted, ok := strings.CutPrefix(pattern, "class."); ok {
		return wanted == class
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasSuffix(prefix, ".") {
		return strings.HasPrefix(errorType, prefix)
	}
	if prefix, ok := strings.CutSuffix(pattern, "xx"); ok {
		digits, ok := strings.CutPrefix(errorType, prefix)
		return ok && len(digits) == 2 && isDigit(digits[0]) && isDigit(digits[1])
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
