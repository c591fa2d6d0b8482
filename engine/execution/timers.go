package execution

import (
	"cmp"
	"slices"
	"time"
)

func (t timer) compare(o timer) int {
	return cmp.Or(
		cmp.Compare(t.At, o.At),
		cmp.Compare(t.Kind, o.Kind),
		cmp.Compare(t.Key.Activity, o.Key.Activity),
		cmp.Compare(t.Key.Item, o.Key.Item),
		cmp.Compare(t.N, o.N),
	)
}

// schedule sets a timer of an activity a while from an instant; 0 sets none.
func (f *fold) schedule(p place, kind timerKind, from int64, after time.Duration) {
	if after > 0 {
		f.add(p, timer{At: from + ceilMillis(after), Kind: kind, Key: p.key})
	}
}

func (f *fold) add(p place, t timer) {
	p.run.Due = append(p.run.Due, t)
	f.addTimer(t)
}

func (f *fold) addTimer(t timer) {
	at, _ := slices.BinarySearchFunc(f.st.Timers, t, timer.compare)
	f.st.Timers = slices.Insert(f.st.Timers, at, t)
}

// unschedule removes the timers of a kind from an activity.
func (f *fold) unschedule(p place, kind timerKind) {
	p.run.Due = slices.DeleteFunc(p.run.Due, func(t timer) bool {
		if t.Kind == kind {
			f.removeTimer(t)
		}
		return t.Kind == kind
	})
}

func (f *fold) unscheduleAll(p place) {
	for _, t := range p.run.Due {
		f.removeTimer(t)
	}
	p.run.Due = nil
}

// fired removes one timer that has done its work.
func (f *fold) fired(p place, kind timerKind, n int) {
	p.run.Due = slices.DeleteFunc(p.run.Due, func(t timer) bool {
		gone := t.Kind == kind && t.N == n
		if gone {
			f.removeTimer(t)
		}
		return gone
	})
}

func (f *fold) removeTimer(t timer) {
	if at, found := slices.BinarySearchFunc(f.st.Timers, t, timer.compare); found {
		f.st.Timers = slices.Delete(f.st.Timers, at, at+1)
	}
}

// removeKind removes a timer of the execution itself.
func (f *fold) removeKind(kind timerKind) {
	f.st.Timers = slices.DeleteFunc(f.st.Timers, func(t timer) bool { return t.Kind == kind && t.Key == key{} })
}

func ceilMillis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// NextDue is the earliest instant at which something falls due by itself. A paused execution only ends by
// its own time-out.
func NextDue(st *State) (time.Time, bool) {
	for _, t := range st.Timers {
		if !st.Paused || t.Kind == timerDeadline {
			return instant(t.At), true
		}
	}
	return time.Time{}, false
}
