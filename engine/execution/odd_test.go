package execution

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestOddValuesFoldAsTheyWereTaken: NUL, what is not UTF-8, numbers at the edge of their range, deep and large
// values in outputs, signals and answers never leave an execution that cannot be read again.
func TestOddValuesFoldAsTheyWereTaken(t *testing.T) {
	deep := any("bottom")
	for range 2000 {
		deep = []any{deep}
	}
	for name, value := range map[string]any{
		"NUL": "a\x00b", "not UTF-8": "a\xff\xfeb", "half a surrogate pair": "\xed\xa0\x80", "line ends": "\u2028\u2029\r\n",
		"largest float": 1.7976931348623157e308, "smallest float": 5e-324, "largest whole number": int64(9223372036854775807),
		"deep": deep, "long": strings.Repeat("x", 1<<20), "odd keys": map[string]any{"": int64(1), "\x00": int64(2), "a\"b": int64(3)},
		"hollow": map[string]any{"list": []any(nil), "object": map[string]any(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
    - {id: hear, type: event, needs: [a], event: {name: go, correlation: "'k'"}, timeout: 1h}
`, nil)
			s.answer("a", fine(map[string]any{"body": value})).runUntil(testTime).is(StatusWaiting)
			s.signal("go", "s1", value)
			s.run().is(StatusCompleted)
		})
	}
}

// TestSleepsAreMeasuredInDaysAndYears: a pause longer than 32 bits of milliseconds ends when it should; one beyond
// five years is refused, with the instant in the message.
func TestSleepsAreMeasuredInDaysAndYears(t *testing.T) {
	for _, days := range []int{25, 50, 365, 1800} {
		s := simulate(t, fmt.Sprintf("  activities:\n    - {id: a, type: wait, wait: {timer: {after: %dd}}}\n", days), nil)
		s.run().is(StatusCompleted)
		if slept := s.now.Sub(testTime); slept != time.Duration(days)*24*time.Hour {
			t.Errorf("%d days took %s", days, slept)
		}
	}
	s := simulate(t, "  input: {type: object, properties: {at: {type: string}}}\n  activities:\n    - {id: a, type: wait, wait: {timer: {at: \"${{ inputs.at }}\"}}}\n",
		map[string]any{"at": "2036-03-01T09:00:00Z"})
	s.run().is(StatusFailed).failedWith("input.invalid")
}

// TestTheLastTwoBranchesEndInEitherOrder: a join speaks once whichever of its branches ends last.
func TestTheLastTwoBranchesEndInEitherOrder(t *testing.T) {
	for order := range 100 {
		s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
    - {id: b, type: http, inputs: {url: http://x}}
    - {id: c, type: http, needs: [a, b], inputs: {url: http://x}}
`, nil)
		s.advance()
		work := Pending(s.wf, s.st)
		s.attempt(work[order%2])
		s.attempt(work[1-order%2])
		s.run().is(StatusCompleted)
		if n := s.count(ActivityReady, "c"); n != 1 {
			t.Fatalf("the join spoke %d times", n)
		}
	}
}
