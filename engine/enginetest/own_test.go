package enginetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestAServerOfOnesOwnIsStoppedAndFilled(t *testing.T) {
	own, err := NewOwn(t)
	if err != nil {
		t.Skip(err)
	}
	url := own.Database()
	write := func() error {
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.Background()) }()
		_, err = conn.Exec(context.Background(), `insert into server_settings (key, value) select 'k' || random(), to_json(repeat('x', 100)) from generate_series(1, 20000)`)
		return err
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	own.Stop()
	if write() == nil {
		t.Error("a server that was stopped answers")
	}
	own.Start()
	if err := write(); err != nil {
		t.Error(err)
	}
	if !own.Small() {
		t.Skip("the disk cannot be filled: no file system can be mounted here")
	}
	own.Fill()
	if write() == nil {
		t.Error("the disk is full and takes rows")
	}
	own.Empty()
	if err := write(); err != nil {
		t.Error(err)
	}
	if count(t, url, "select count(*) / 20000 from server_settings where key like 'k%'") != 3 {
		t.Error("there are other rows than those that were acknowledged")
	}
}
