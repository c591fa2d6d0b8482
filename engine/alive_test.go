//go:build unix

package engine

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/enginetest"
)

func TestAConnectionThatTheServerEndedIsNoticed(t *testing.T) {
	ctx, url := context.Background(), enginetest.Database(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if spokeUp(conn) {
		t.Error("a connection on which nothing happened was ended")
	}
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	if _, err := other.Exec(ctx, "select pg_terminate_backend($1)", conn.PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	for bound := time.Now().Add(time.Minute); !spokeUp(conn); time.Sleep(time.Millisecond) {
		if time.Now().After(bound) {
			t.Fatal("the connection was ended and nobody notices")
		}
	}
}

// The library reads ahead in the background now and then: whoever looks must not wait for that.
func TestLookingAtAConnectionDoesNotWaitForItsReader(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, enginetest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	reading, ended := make(chan struct{}), make(chan struct{})
	go func() {
		close(reading)
		_, _ = conn.PgConn().Conn().Read(make([]byte, 1))
		close(ended)
	}()
	<-reading
	for range 100 { // the reader is at it before long
		if spokeUp(conn) {
			t.Fatal("a connection on which nothing happened was ended")
		}
		time.Sleep(time.Millisecond)
	}
	_ = conn.PgConn().Conn().Close()
	<-ended
}
