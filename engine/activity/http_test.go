package activity_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weftline/engine/activity"
	"weftline/engine/flow"
)

// loopback is an http kind that may reach the test's own servers.
func loopback(t *testing.T, change ...func(*activity.HTTPOptions)) *activity.HTTP {
	t.Helper()
	egress, err := activity.ParseEgress("127.0.0.0/8, ::1")
	if err != nil {
		t.Fatal(err)
	}
	options := activity.HTTPOptions{Egress: egress}
	for _, f := range change {
		f(&options)
	}
	return activity.NewHTTP(options)
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func run(t *testing.T, kind activity.Runner, input map[string]any) activity.Outcome {
	t.Helper()
	return kind.Run(t.Context(), activity.Call{Type: "http", Input: input, Attempt: 1, IdempotencyKey: "e1/send"})
}

func result(t *testing.T, outcome activity.Outcome) map[string]any {
	t.Helper()
	if outcome.Err != nil {
		t.Fatalf("failed with %s: %s", outcome.Err.Type, outcome.Err.Message)
	}
	return outcome.Value.(map[string]any)
}

func wantError(t *testing.T, outcome activity.Outcome, kind string, words ...string) {
	t.Helper()
	if outcome.Err == nil {
		t.Fatalf("succeeded with %v, want the error %s", outcome.Value, kind)
	}
	if outcome.Err.Type != kind {
		t.Fatalf("error %s (%s), want %s", outcome.Err.Type, outcome.Err.Message, kind)
	}
	for _, word := range words {
		if !strings.Contains(outcome.Err.Message, word) {
			t.Errorf("message %q does not mention %q", outcome.Err.Message, word)
		}
	}
}

// echo answers what it received.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "query": r.URL.RawQuery, "headers": r.Header, "host": r.Host, "body": string(body)})
}

func echoed(t *testing.T, input map[string]any) (seen struct {
	Method, Query, Host, Body string
	Headers                   http.Header
}) {
	t.Helper()
	input["url"] = serve(t, echo) + "/x?a=1"
	content, _ := json.Marshal(result(t, run(t, loopback(t), input))["body"])
	if err := json.Unmarshal(content, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestRequestIsMadeFromInputs(t *testing.T) {
	seen := echoed(t, map[string]any{
		"method":  "post",
		"query":   map[string]any{"b": int64(2), "c": []any{"x", true}, "gone": nil},
		"headers": map[string]any{"X-One": "1", "Host": "shop.example"},
		"body":    map[string]any{"id": int64(9007199254740993), "html": "<b>"},
	})
	if seen.Method != "POST" || seen.Query != "a=1&b=2&c=x&c=true" || seen.Host != "shop.example" {
		t.Errorf("method, query, host = %q %q %q", seen.Method, seen.Query, seen.Host)
	}
	if want := `{"html":"<b>","id":9007199254740993}`; seen.Body != want {
		t.Errorf("body = %s, want %s", seen.Body, want)
	}
	if seen.Headers.Get("Content-Type") != "application/json" || seen.Headers.Get("X-One") != "1" {
		t.Errorf("headers = %v", seen.Headers)
	}
	if key := seen.Headers.Get("Idempotency-Key"); key != "e1/send" {
		t.Errorf("idempotency key = %q", key)
	}
}

func TestIdempotencyKeyGoesWithPostAndPatchOnly(t *testing.T) {
	for method, want := range map[string]string{"GET": "", "PUT": "", "DELETE": "", "POST": "e1/send", "PATCH": "e1/send"} {
		if got := echoed(t, map[string]any{"method": method}).Headers.Get("Idempotency-Key"); got != want {
			t.Errorf("%s: key %q, want %q", method, got, want)
		}
	}
	own := map[string]any{"method": "POST", "headers": map[string]any{"idempotency-key": "mine"}}
	if got := echoed(t, own).Headers.Values("Idempotency-Key"); !reflect.DeepEqual(got, []string{"mine"}) {
		t.Errorf("the author's key was not kept alone: %v", got)
	}
}

func TestBodyKinds(t *testing.T) {
	for name, c := range map[string]struct {
		input      map[string]any
		body, kind string
	}{
		"text":     {map[string]any{"body": "hello"}, "hello", "text/plain; charset=utf-8"},
		"own type": {map[string]any{"body": "<a/>", "headers": map[string]any{"content-type": "text/xml"}}, "<a/>", "text/xml"},
		"list":     {map[string]any{"body": []any{int64(1), 0.5, nil}}, "[1,0.5,null]", "application/json"},
		"form":     {map[string]any{"form": map[string]any{"a": "x y", "b": int64(3)}}, "a=x+y&b=3", "application/x-www-form-urlencoded"},
		"none":     {map[string]any{"body": nil}, "", ""},
	} {
		c.input["method"] = "PUT"
		seen := echoed(t, c.input)
		if seen.Body != c.body || seen.Headers.Get("Content-Type") != c.kind {
			t.Errorf("%s: body %q of type %q, want %q of %q", name, seen.Body, seen.Headers.Get("Content-Type"), c.body, c.kind)
		}
	}
}

func TestAnswerIsParsedByItsType(t *testing.T) {
	for name, c := range map[string]struct {
		kind, content string
		want          any
	}{
		"json":          {"application/json; charset=utf-8", `{"id": 9007199254740993, "x": 1.5}`, map[string]any{"id": int64(9007199254740993), "x": 1.5}},
		"problem":       {"application/problem+json", `[1]`, []any{int64(1)}},
		"text":          {"text/plain", "hi", "hi"},
		"latin1":        {"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		"bytes":         {"application/octet-stream", "\x00\xff", "AP8="},
		"nothing":       {"application/json", "", nil},
		"broken text":   {"text/plain", "\xff", "/w=="},
		"no type, text": {"", "plain", "plain"},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if c.kind != "" {
				w.Header().Set("Content-Type", c.kind)
			}
			io.WriteString(w, c.content)
		})
		if got := result(t, run(t, loopback(t), map[string]any{"url": url}))["body"]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, want %#v", name, got, c.want)
		}
	}
}

func TestAnswerHeadersAreLowerCaseAndJoined(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("X-Many", "a")
		w.Header().Add("X-Many", "b")
		w.WriteHeader(http.StatusCreated)
	})
	got := result(t, run(t, loopback(t), map[string]any{"url": url}))
	if got["status"] != int64(201) || got["headers"].(map[string]any)["x-many"] != "a, b" {
		t.Errorf("got %v", got)
	}
}

func TestOtherStatusIsAFailureWithTheBody(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"reason": "slow down"}`)
	})
	outcome := run(t, loopback(t), map[string]any{"url": url + "/pay?key=secret"})
	wantError(t, outcome, "http.429", "GET "+url+"/pay", "429 Too Many Requests")
	if strings.Contains(outcome.Err.Message, "secret") {
		t.Errorf("the query shows in %q", outcome.Err.Message)
	}
	if want := map[string]any{"reason": "slow down"}; !reflect.DeepEqual(outcome.Err.Detail, want) {
		t.Errorf("detail = %v, want %v", outcome.Err.Detail, want)
	}
	if outcome.RetryAfter != 2*time.Second {
		t.Errorf("retry after %s, want 2s", outcome.RetryAfter)
	}
}

func TestRetryAfterIsBoundedAndMayBeADate(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7200": 15 * time.Minute,
		"0":    0,
		"-3":   0,
		"soon": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		now.Add(-time.Hour).Format(http.TimeFormat):  0,
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		kind := loopback(t, func(o *activity.HTTPOptions) { o.Now = func() time.Time { return now } })
		if got := run(t, kind, map[string]any{"url": url}).RetryAfter; got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

func TestExpect(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, `{"left": 3}`)
	})
	number := map[string]any{"type": "object", "properties": map[string]any{"left": map[string]any{"type": "integer", "minimum": int64(1)}}}
	text := map[string]any{"properties": map[string]any{"left": map[string]any{"type": "string"}}}
	for name, c := range map[string]struct {
		path   string
		expect map[string]any
		err    string
	}{
		"class":          {"/", map[string]any{"status": "2xx"}, ""},
		"code":           {"/missing", map[string]any{"status": int64(404)}, ""},
		"list":           {"/missing", map[string]any{"status": []any{"2xx", int64(404)}}, ""},
		"other code":     {"/", map[string]any{"status": int64(201)}, "http.200"},
		"schema":         {"/", map[string]any{"schema": number}, ""},
		"schema refuses": {"/", map[string]any{"schema": text}, "output.invalid"},
		"nonsense":       {"/", map[string]any{"status": "fine"}, "input.invalid"},
	} {
		outcome := run(t, loopback(t), map[string]any{"url": url + c.path, "expect": c.expect})
		if got := errorType(outcome); got != c.err {
			t.Errorf("%s: error %q, want %q", name, got, c.err)
		}
	}
}

func errorType(outcome activity.Outcome) string {
	if outcome.Err == nil {
		return ""
	}
	return outcome.Err.Type
}

func TestInputsThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		input map[string]any
		word  string
	}{
		"no url":          {map[string]any{}, "url"},
		"relative url":    {map[string]any{"url": "/x"}, "absolute"},
		"other scheme":    {map[string]any{"url": "file:///etc/passwd"}, "http"},
		"unknown input":   {map[string]any{"url": "http://x.example", "ulr": "y"}, `"ulr"`},
		"body and form":   {map[string]any{"url": "http://x.example", "body": "a", "form": map[string]any{}}, "not both"},
		"split header":    {map[string]any{"url": "http://x.example", "headers": map[string]any{"A": "b\r\nC: d"}}, `"A"`},
		"split method":    {map[string]any{"url": "http://x.example", "method": "GET / HTTP/1.1"}, "method"},
		"auth type":       {map[string]any{"url": "http://x.example", "auth": map[string]any{"type": "magic"}}, "auth.type"},
		"auth incomplete": {map[string]any{"url": "http://x.example", "auth": map[string]any{"type": "bearer"}}, `"token"`},
		"saveAs":          {map[string]any{"url": "http://x.example", "saveAs": "disk"}, "disk"},
	} {
		outcome := run(t, loopback(t), c.input)
		if errorType(outcome) != "input.invalid" || !strings.Contains(outcome.Err.Message, c.word) {
			t.Errorf("%s: %+v, want input.invalid that mentions %q", name, outcome.Err, c.word)
		}
	}
}

func TestAuth(t *testing.T) {
	at := time.Unix(1700000000, 0)
	for name, c := range map[string]struct {
		auth         map[string]any
		header, want string
	}{
		"basic":   {map[string]any{"type": "basic", "username": "u", "password": "p"}, "Authorization", "Basic dTpw"},
		"bearer":  {map[string]any{"type": "bearer", "token": "t0"}, "Authorization", "Bearer t0"},
		"api key": {map[string]any{"type": "api_key", "name": "X-Key", "value": "k"}, "X-Key", "k"},
		"hmac": {map[string]any{"type": "hmac", "secret": "s"}, "X-Weftline-Signature",
			"t=1700000000,v1=290eaab17a641484d858e5988ed30614b2d9abac3cde915a098f95f366ac973a"},
	} {
		var got string
		url := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get(c.header) })
		kind := loopback(t, func(o *activity.HTTPOptions) { o.Now = func() time.Time { return at } })
		result(t, run(t, kind, map[string]any{"method": "POST", "url": url, "body": "b", "auth": c.auth}))
		if got != c.want {
			t.Errorf("%s: %s = %q, want %q", name, c.header, got, c.want)
		}
	}
	query := echoed(t, map[string]any{"auth": map[string]any{"type": "api_key", "in": "query", "name": "key", "value": "k"}}).Query
	if query != "a=1&key=k" {
		t.Errorf("query = %q", query)
	}
}

func TestClientCredentialsAreFetchedOnce(t *testing.T) {
	var grants atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			if r.Header.Get("Authorization") != "Bearer granted" {
				w.WriteHeader(http.StatusUnauthorized)
			}
			return
		}
		grants.Add(1)
		if user, password, _ := r.BasicAuth(); user != "me" || password != "pw" || r.FormValue("scope") != "read" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token": "granted", "expires_in": 3600}`)
	})
	auth := map[string]any{"type": "oauth2", "tokenUrl": url + "/token", "clientId": "me", "clientSecret": "pw", "scope": "read"}
	kind := loopback(t)
	for range 3 {
		result(t, run(t, kind, map[string]any{"url": url, "auth": auth}))
	}
	if grants.Load() != 1 {
		t.Errorf("the token was fetched %d times, want once", grants.Load())
	}
	auth["clientSecret"] = "wrong"
	wantError(t, run(t, kind, map[string]any{"url": url, "auth": auth}), "http.400", "/token")
}

func TestRedirects(t *testing.T) {
	hops := func(w http.ResponseWriter, r *http.Request) {
		var left int
		fmt.Sscanf(r.URL.Path, "/%d", &left)
		if left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
		}
	}
	url := serve(t, hops)
	result(t, run(t, loopback(t), map[string]any{"url": url + "/10"}))
	wantError(t, run(t, loopback(t), map[string]any{"url": url + "/11"}), "http.too_many_redirects", "10 redirects")
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	var leaked http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Clone() })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	result(t, run(t, loopback(t), map[string]any{
		"method": "POST", "url": first, "body": map[string]any{},
		"headers": map[string]any{"X-Secret": "s"}, "auth": map[string]any{"type": "api_key", "name": "X-Key", "value": "k"}}))
	for _, name := range []string{"X-Secret", "X-Key", "Idempotency-Key"} {
		if leaked.Get(name) != "" {
			t.Errorf("%s went to another origin", name)
		}
	}
	if leaked.Get("Content-Type") != "application/json" {
		t.Errorf("the body lost its type: %v", leaked)
	}
}

func TestOneAttemptIsOneRequest(t *testing.T) {
	var requests atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > 1 {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				connection.Close()
			}
		}
	})
	kind := loopback(t)
	result(t, run(t, kind, map[string]any{"url": url}))
	wantError(t, run(t, kind, map[string]any{"url": url}), "transport.reset")
	if requests.Load() != 2 {
		t.Errorf("%d requests for two attempts", requests.Load())
	}
}

func TestAnswerThatIsTooLarge(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 11)) })
	kind := loopback(t, func(o *activity.HTTPOptions) { o.MaxOutput = 10 })
	wantError(t, run(t, kind, map[string]any{"url": url}), "output.too_large", "10 bytes", "11")
}

func TestTransportErrors(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	encrypted := httptest.NewUnstartedServer(nil)
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	t.Cleanup(encrypted.Close)
	for kind, url := range map[string]string{
		"transport.dns":     "http://nowhere.invalid/",
		"transport.connect": closed.URL,
		"transport.tls":     encrypted.URL,
	} {
		outcome := run(t, loopback(t), map[string]any{"url": url})
		wantError(t, outcome, kind)
		if outcome.Err.Class != "external" {
			t.Errorf("%s is of class %s, want external", kind, outcome.Err.Class)
		}
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(20*time.Millisecond))
	defer cancel()
	wantError(t, loopback(t).Run(late, activity.Call{Input: map[string]any{"url": url}}), "timeout.attempt", url)

	stopped, stop := context.WithCancel(t.Context())
	stop()
	wantError(t, loopback(t).Run(stopped, activity.Call{Input: map[string]any{"url": url}}), "cancelled")
}

func TestUnknownTypeFailsClearly(t *testing.T) {
	registry := activity.NewRegistry()
	registry.Register("http", loopback(t))
	if registry.Unable(&flow.Activity{Type: "http"}) != "" || registry.Unable(&flow.Activity{Type: "sql"}) == "" || !reflect.DeepEqual(registry.Types(), []string{"http"}) {
		t.Errorf("types = %v", registry.Types())
	}
	wantError(t, registry.Run(t.Context(), activity.Call{Type: "sql"}), "engine.unsupported_type", "sql")
}
