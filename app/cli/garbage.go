package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage may grow to leastGarbage bytes, or to what is alive if that is more, before it is collected. By Go's own rule,
// what is alive alone, a server whose few megabytes are alive collects all the time under load: that was a tenth of its
// processor time in linear20. An idle server stays under 80 MB.
const (
	leastGarbage = 40 << 20
	goPercent    = 100 // what Go does by itself: as much garbage as is alive
	mostPercent  = 800
)

// tuneGarbage applies the rule after each collection from now on. Whoever sets GOGC decides alone; the limit of
// GOMEMLIMIT holds in any case, because Go collects sooner when it comes near.
func (t Terminal) tuneGarbage() {
	if t.env("GOGC") == "" {
		afterCollection(0)
	}
}

// afterCollection sets the share of garbage for what is alive now, and is called again by the next collection, which
// finds the marker unreachable.
func afterCollection(before int) {
	percent := garbagePercent(aliveBytes())
	if percent != before {
		debug.SetGCPercent(percent)
	}
	runtime.AddCleanup(new([16]byte), afterCollection, percent)
}

// garbagePercent is the garbage that may be, in percent of the bytes that are alive.
func garbagePercent(alive uint64) int {
	return int(min(max(leastGarbage*100/max(alive, 1), goPercent), mostPercent))
}

func aliveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
