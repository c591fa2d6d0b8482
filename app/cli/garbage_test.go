package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGarbageMayGrowByARoomOrByWhatIsAlive(t *testing.T) {
	for _, c := range []struct {
		alive uint64
		want  int
	}{
		{0, mostPercent},
		{1 << 20, mostPercent},
		{10 << 20, 400},
		{20 << 20, 200},
		{40 << 20, goPercent},
		{4 << 30, goPercent},
	} {
		if got := garbagePercent(c.alive); got != c.want {
			t.Errorf("of %d bytes alive, %d percent may be garbage, want %d", c.alive, got, c.want)
		}
	}
}

func TestWhatIsAliveIsLookedAtAfterEachCollection(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(goPercent) })
	Terminal{Env: func(string) (string, bool) { return "", false }}.tuneGarbage()
	alive := make([]byte, 3*leastGarbage)
	for range 1000 { // cleanups run in a goroutine of their own, some time after the collection
		runtime.GC()
		if percent := debug.SetGCPercent(goPercent); percent == goPercent {
			runtime.KeepAlive(alive)
			return
		} else {
			debug.SetGCPercent(percent)
		}
		runtime.Gosched()
	}
	t.Fatal("much is alive and the share of garbage is what it was when nothing was")
}
