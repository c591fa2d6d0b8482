package enginetest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"weftline/app/localpg"
)

// Own is a PostgreSQL of one test alone, which the test may break. It is on a small file system of its own where
// the machine lets us make one.
type Own struct {
	t       testing.TB
	dir     string
	small   bool
	options localpg.Options
	running *localpg.Server
}

// smallSize is what the small file system holds: the server with all that a test writes, and its WAL.
const smallSize = 600 << 20

// NewOwn starts a server for a test; err says why this machine cannot.
func NewOwn(t testing.TB) (own *Own, err error) {
	t.Helper()
	base := filepath.Join(os.TempDir(), "weftline-test-"+strconv.Itoa(os.Getuid()))
	for slot := 0; ; slot++ {
		own = &Own{t: t, dir: filepath.Join(base, "own-"+strconv.Itoa(slot))}
		if err = own.open(); err == nil {
			break
		}
		if inUse := (*localpg.InUseError)(nil); !errors.As(err, &inUse) {
			return nil, err
		}
	}
	t.Cleanup(func() {
		_ = own.running.Stop(context.Background())
		if own.small {
			_ = unmount(own.dir)
		}
	})
	return own, nil
}

// open starts the server of a folder, with the shortest WAL there is.
func (o *Own) open() error {
	if err := os.MkdirAll(o.dir, 0o711); err != nil {
		return err
	}
	o.small = mountSmall(o.dir, smallSize) == nil
	o.options = serverOptions(o.dir)
	o.options.Settings["max_wal_size"], o.options.Settings["min_wal_size"] = "64MB", "32MB"
	o.options.Settings["full_page_writes"] = "on" // pages that were half written when the disk was full are healed
	ctx, cancel := context.WithTimeout(context.Background(), setupBound)
	defer cancel()
	var err error
	if o.running, err = startAnew(ctx, o.options); err != nil && o.small {
		if inUse := (*localpg.InUseError)(nil); !errors.As(err, &inUse) {
			_ = unmount(o.dir)
		}
	}
	return err
}

// Database answers the URL of a fresh database with all migrations.
func (o *Own) Database() string {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupBound)
	defer cancel()
	address, err := url.Parse(o.running.URL())
	if err != nil {
		o.t.Fatal(err)
	}
	s := &server{url: *address}
	if err := s.prepare(ctx, true); err != nil {
		o.t.Fatal(err)
	}
	name := testPrefix + randomHex()
	s.admin(o.t, "create database "+name+" template "+s.template+s.strategy)
	return withDatabase(s.url, name)
}

// Stop ends the server at once, as a crash of it would: nothing is saved but what was durable.
func (o *Own) Stop() {
	at, cancel := context.WithCancel(context.Background())
	cancel()
	_ = o.running.Stop(at)
}

// Start starts the server again; it answers when connections are taken.
func (o *Own) Start() {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupBound)
	defer cancel()
	var err error
	if o.running, err = localpg.Start(ctx, o.options); err != nil {
		o.t.Fatal(err)
	}
}

// Small reports whether its disk can be filled.
func (o *Own) Small() bool { return o.small }

// Fill leaves no room on its disk.
func (o *Own) Fill() {
	o.t.Helper()
	ballast, err := os.Create(o.ballast())
	if err != nil {
		o.t.Fatal(err)
	}
	for size := 1 << 20; size > 0; size /= 4096 { // in large pieces, then in pages, then in bytes
		for piece := make([]byte, size); err == nil; {
			_, err = ballast.Write(piece)
		}
		err = nil
	}
	_ = ballast.Close()
}

// Empty makes room again, and starts the server anew if it did not survive.
func (o *Own) Empty() {
	o.t.Helper()
	if err := os.Remove(o.ballast()); err != nil {
		o.t.Fatal(err)
	}
	select {
	case <-o.running.Died():
		o.Stop()
		o.Start()
	default:
	}
}

func (o *Own) ballast() string { return filepath.Join(o.dir, "ballast") }
