package timer

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAlarmGoesAtTheEarliestInstantAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		asked []time.Duration // before the sleep
		later time.Duration   // asked for one second into it, if not 0
		want  time.Duration
	}{
		"one":                {asked: []time.Duration{time.Minute}, want: time.Minute},
		"during the look":    {asked: []time.Duration{100 * time.Millisecond, time.Minute}, want: 100 * time.Millisecond},
		"later ones do not":  {asked: []time.Duration{time.Second, time.Minute, time.Hour}, want: time.Second},
		"at once":            {asked: []time.Duration{0, time.Minute}, want: 0},
		"moved while asleep": {asked: []time.Duration{time.Minute}, later: 2 * time.Second, want: 3 * time.Second},
		"not moved later":    {asked: []time.Duration{time.Minute}, later: time.Hour, want: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAlarm()
				a.within(time.Nanosecond)
				a.clear() // what was asked for before the look is over
				for _, wait := range c.asked {
					a.within(wait)
				}
				if c.later != 0 {
					time.AfterFunc(time.Second, func() { a.within(c.later) })
				}
				began := time.Now()
				a.sleep(t.Context())
				if slept := time.Since(began); slept != c.want {
					t.Errorf("slept %s, want %s", slept, c.want)
				}
			})
		})
	}
}
