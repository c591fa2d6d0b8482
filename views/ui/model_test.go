package ui

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		2 * time.Second:  "just now",
		40 * time.Second: "40 s ago",
		3 * time.Minute:  "3 min ago",
		-8 * time.Second: "in 8 s",
		30 * time.Hour:   "30 h ago",
		72 * time.Hour:   "3 days ago",

		59*time.Second + 600*time.Millisecond: "1 min ago",
		-59*time.Minute - 40*time.Second:      "in 1 h",
		47*time.Hour + 40*time.Minute:         "2 days ago",
	} {
		if got := Ago(now.Add(-ago), now); got != want {
			t.Errorf("Ago(%v) = %q, want %q", ago, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:             "0 ms",
		840 * time.Millisecond:   "840 ms",
		5 * time.Second:          "5 s",
		12400 * time.Millisecond: "12.4 s",
		200 * time.Second:        "3 min 20 s",
		2 * time.Hour:            "2 h",
		52 * time.Hour:           "2 d 4 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -12500: "-12,500", -500: "-500", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}
