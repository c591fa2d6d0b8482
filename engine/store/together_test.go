package store

import (
	"errors"
	"testing"
)

// Those who ask while a look is on its way share the next one, which begins after they asked.
func TestManyWhoAskShareALookThatBeginsAfterThem(t *testing.T) {
	looks, goOn := 0, make(chan struct{})
	began := make(chan struct{}, 100)
	read := func() (int, error) {
		looks++
		n := looks
		began <- struct{}{}
		<-goOn
		return n, nil
	}
	shared := newTogether[string, int]()
	early, late := make(chan int, 1), make(chan int, 10)
	ask := func(answers chan<- int) {
		n, err := shared.ask("key", read)
		if err != nil {
			t.Error(err)
		}
		answers <- n
	}
	go ask(early)
	<-began
	for range cap(late) {
		go ask(late)
	}
	close(goOn)
	if n := <-early; n != 1 {
		t.Errorf("the first was answered by look %d", n)
	}
	for range cap(late) {
		if n := <-late; n < 2 {
			t.Errorf("who asked after look 1 had begun was answered by look %d", n)
		}
	}
}

func TestAFailedLookFailsAllWhoShareIt(t *testing.T) {
	wrong := errors.New("wrong")
	if _, err := newTogether[int, int]().ask(1, func() (int, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Errorf("answered %v", err)
	}
}
