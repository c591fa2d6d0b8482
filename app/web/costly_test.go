package web

import (
	"testing"
	"time"

	"weftline/app/auth"
)

// What computes a lot is asked for less often than everything else, by each user.
func TestCostlyRequestsAreLimitedByUser(t *testing.T) {
	server, base := newRealServer(t)
	server.costly = auth.NewThrottle(2, time.Hour)
	admin := caller{t, base, adminToken}
	publish(admin, "hello", hello)
	other := admin.account("other", `"author"`)
	for _, path := range []string{"/workflows/hello/plan", "/workflows/hello/tests/run"} {
		server.costly = auth.NewThrottle(2, time.Hour)
		for range 2 {
			if status, answer := admin.call("POST", path, `{"input": {"name": "Ann"}}`); status == 429 {
				t.Fatalf("%s: %v", path, answer)
			}
		}
		if status, answer := admin.call("POST", path, `{"input": {"name": "Ann"}}`); status != 429 || answer["code"] != "rate_limited" {
			t.Errorf("%s: %d %v", path, status, answer)
		}
		if status, _ := other.call("POST", path, `{"input": {"name": "Ann"}}`); status == 429 {
			t.Errorf("%s: somebody else is held back", path)
		}
		admin.must(200, "GET", "/workflows", "")
	}
}
