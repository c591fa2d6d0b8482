package activity

import (
	"net/http"
	"testing"
)

func TestARequestSaysWhichExecutionAsks(t *testing.T) {
	call := Call{Execution: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Activity: "pay", Attempt: 1, CorrelationID: "order-7"}
	header := http.Header{}
	trace(header, call)
	if got := header.Get("X-Correlation-Id"); got != "order-7" {
		t.Errorf("the correlation id is %q", got)
	}
	first := header.Get("Traceparent")
	if len(first) != 55 || first[:36] != "00-6ba7b8109dad11d180b400c04fd430c8-" || first[52:] != "-01" {
		t.Errorf("the traceparent is %q", first)
	}
	call.Attempt = 2
	second := http.Header{}
	trace(second, call)
	if next := second.Get("Traceparent"); next == first || next[:36] != first[:36] {
		t.Errorf("the second attempt is %q, the first %q", next, first)
	}
	own := http.Header{"Traceparent": {"mine"}, "X-Correlation-Id": {"mine"}}
	trace(own, call)
	if own.Get("Traceparent") != "mine" || own.Get("X-Correlation-Id") != "mine" {
		t.Errorf("what the author wrote was changed: %v", own)
	}
}
