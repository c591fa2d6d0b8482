package worker

import "testing"

// What a lease of a slot and its return cost, the primitive under every attempt: alone, and with a line behind it.
func BenchmarkLeaseAndRemove(b *testing.B) {
	s := newSlots(64)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if !s.take(ctx, "normal") {
			b.Fatal("there is no slot")
		}
		s.give(1)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "leases/s")
}
