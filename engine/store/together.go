package store

import "sync"

// together answers many who ask for the same thing with one look. The look begins after everybody whom it
// answers has asked, so nobody reads what was true before its question.
type together[K comparable, V any] struct {
	mu      sync.Mutex
	waiting map[K]*look[V]
	looking map[K]bool
}

type look[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func newTogether[K comparable, V any]() *together[K, V] {
	return &together[K, V]{waiting: map[K]*look[V]{}, looking: map[K]bool{}}
}

// ask joins the next look at key. read must not depend on who asks.
func (t *together[K, V]) ask(key K, read func() (V, error)) (V, error) {
	t.mu.Lock()
	l := t.waiting[key]
	if l == nil {
		l = &look[V]{done: make(chan struct{})}
		t.waiting[key] = l
	}
	if !t.looking[key] {
		t.looking[key] = true
		go t.lookAt(key, read)
	}
	t.mu.Unlock()
	<-l.done
	return l.value, l.err
}

// lookAt looks until nobody asks any more.
func (t *together[K, V]) lookAt(key K, read func() (V, error)) {
	for {
		t.mu.Lock()
		l := t.waiting[key]
		delete(t.waiting, key)
		if l == nil {
			delete(t.looking, key)
		}
		t.mu.Unlock()
		if l == nil {
			return
		}
		l.value, l.err = read()
		close(l.done)
	}
}
