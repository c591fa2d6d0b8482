package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestARecentStateIsHandedOutOnce(t *testing.T) {
	r, now := newRecent(1000), time.Now()
	l := &Loaded{ID: uuid.New(), LastSeq: 7, Tail: 100}
	r.keep(l, now)
	if got := r.take([]uuid.UUID{l.ID, uuid.New()}); len(got) != 1 || got[l.ID] != l {
		t.Fatalf("took %v", got)
	}
	if got := r.take([]uuid.UUID{l.ID}); len(got) != 0 || r.bytes != 0 {
		t.Fatalf("took %v again, %d bytes are left", got, r.bytes)
	}
}

func TestANewerStateReplacesAnOlderOne(t *testing.T) {
	r, now, id := newRecent(1000), time.Now(), uuid.New()
	r.keep(&Loaded{ID: id, LastSeq: 7, Tail: 100}, now)
	r.keep(&Loaded{ID: id, LastSeq: 9, Tail: 120}, now)
	if got := r.take([]uuid.UUID{id}); got[id].LastSeq != 9 || r.bytes != 0 {
		t.Fatalf("took event %d, %d bytes are left", got[id].LastSeq, r.bytes)
	}
}

func TestWhatIsFullKeepsWhoIsThereUntilTheyAreOld(t *testing.T) {
	r, now := newRecent(250), time.Now()
	first, second, third := uuid.New(), uuid.New(), uuid.New()
	r.keep(&Loaded{ID: first, Tail: 100}, now)
	r.keep(&Loaded{ID: second, Base: 60, Tail: 40}, now.Add(time.Second))
	r.keep(&Loaded{ID: third, Tail: 100}, now.Add(2*time.Second))
	if r.known[third] != nil || r.known[first] == nil || r.known[second] == nil {
		t.Fatalf("kept %v", r.known)
	}
	r.keep(&Loaded{ID: third, Tail: 100}, now.Add(recentAge+time.Millisecond))
	if r.known[third] == nil || r.known[first] != nil || r.known[second] == nil || r.bytes != 200 {
		t.Fatalf("kept %v, %d bytes", r.known, r.bytes)
	}
}
