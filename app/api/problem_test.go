package api_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/app/api"
)

// TestAnOutageIsNoFault: while the database is away a client is told to come back, and a fault stays a fault.
func TestAnOutageIsNoFault(t *testing.T) {
	_, unreachable := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"unreachable":        {unreachable, 503},
		"ended under us":     {&pgconn.PgError{Code: "57P01"}, 503},
		"no connection left": {&pgconn.PgError{Code: "53300"}, 503},
		"deadlock":           {&pgconn.PgError{Code: "40P01"}, 503},
		"wrong statement":    {&pgconn.PgError{Code: "42601"}, 500},
		"anything else":      {errors.New("nil map"), 500},
	} {
		problem := api.ProblemOf(fmt.Errorf("read it: %w", c.err), "r")
		if problem.Status != c.status || (problem.RetryAfter > 0) != (c.status == 503) {
			t.Errorf("%s: %+v", name, problem)
		}
	}
}
