package demo_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"weftline/app/demo"
)

// client calls the demo world the way activities do.
func client(t *testing.T) *http.Client {
	t.Helper()
	server := demo.Start()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return server.Dial(ctx)
	}}}
}

func call(t *testing.T, client *http.Client, method, path, body string) (status int, answer map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+demo.Host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", "run/step")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func TestOrderBookFailsTwiceForEachRun(t *testing.T) {
	c := client(t)
	for _, run := range []string{"a", "b"} {
		for attempt, want := range []int{503, 503, 200, 200} {
			if got, _ := call(t, c, "GET", "/shop/orders/ord_1?run="+run, ""); got != want {
				t.Errorf("run %s, attempt %d: %d, want %d", run, attempt+1, got, want)
			}
		}
	}
}

func TestRepeatedRequestGetsTheSameReceipt(t *testing.T) {
	c := client(t)
	_, first := call(t, c, "POST", "/shop/refunds", `{"order": "ord_1", "amount": 5}`)
	_, second := call(t, c, "POST", "/shop/refunds", `{"order": "ord_1", "amount": 5}`)
	if first["id"] == nil || first["id"] != second["id"] {
		t.Errorf("receipts %v and %v", first["id"], second["id"])
	}
}

func TestAnswers(t *testing.T) {
	c := client(t)
	for request, want := range map[string]int{
		"POST /shop/shipments {\"carrier\": \"swift\"}": 201,
		"POST /shop/shipments {\"carrier\": \"lost\"}":  409,
		"POST /shop/refunds nonsense":                   400,
		"PUT /office/people/p1/apps/chat {}":            200,
		"PUT /office/people/p1/apps/wiki {}":            501,
		"GET /feeds/feed-07 {}":                         404,
		"GET /feeds/feed-13 {}":                         404,
		"GET /feeds {}":                                 200,
		"GET /nowhere {}":                               404,
	} {
		part := strings.SplitN(request, " ", 3)
		if got, _ := call(t, c, part[0], part[1], part[2]); got != want {
			t.Errorf("%s: %d, want %d", request, got, want)
		}
	}
}
