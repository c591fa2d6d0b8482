package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// replicaVariable holds, as JSON, what a replica is to be: this test binary again, as a process of its own that
// can be killed.
const replicaVariable = "WEFTLINE_TEST_REPLICA"

// replica says how one is started. Name is shown as its version in the worker registry.
type replica struct {
	Database, Log string
	Name, Region  string
	Connections   int // of its pool; 0 = as many as usual
	Quarantine    int // crashes in a row; 0 = as many as usual
}

// deadly is the address at which an activity takes its process down, as long as isHarmless does not hold.
const deadly = "http://deadly"

// isHarmless reports whether the cause of death was put right.
func isHarmless(log string) bool {
	_, err := os.Stat(log + ".harmless")
	return err == nil
}

func TestMain(m *testing.M) {
	if text := os.Getenv(replicaVariable); text != "" {
		var r replica
		if err := cmp.Or(json.Unmarshal([]byte(text), &r), r.serve()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Signals that set a replica's wall clock.
var clockSignals = map[os.Signal]time.Duration{
	syscall.SIGUSR1: 10 * time.Minute,
	syscall.SIGUSR2: -10 * time.Minute,
	syscall.SIGHUP:  0,
}

// serve drives executions until it is killed or its test is gone; each effect is a line of the log.
func (r replica) serve() error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // open as long as whoever started it lives
		os.Exit(1)
	}()
	effects, err := os.OpenFile(r.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	kinds := activity.NewRegistry()
	kinds.Register("http", &fakeHTTP{answer: func(_ context.Context, call activity.Call) activity.Outcome {
		_, err := fmt.Fprintln(effects, call.IdempotencyKey)
		if input, _ := call.Input.(map[string]any); input["url"] == deadly && !isHarmless(r.Log) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
		if err != nil {
			return activity.Outcome{Err: &execution.Error{Type: "test.log", Class: "infrastructure", Message: err.Error()}}
		}
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	}})
	clocks := make(chan os.Signal, 1)
	signal.Notify(clocks, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP)
	go func() {
		for how := range clocks {
			if err := enginetest.ShiftClock(clockSignals[how]); err != nil {
				fmt.Fprintln(os.Stderr, "the clock stays as it is:", err)
			}
		}
	}()
	alive, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := engine.Options{DatabaseURL: r.Database, Activities: kinds, Version: r.Name, Region: r.Region, Connections: r.Connections, QuarantineAfter: r.Quarantine, Log: slog.New(slog.DiscardHandler)}
	for { // as whoever supervises a process starts it again when it finds no database
		e, err := engine.Open(alive, options)
		if err == nil {
			if err = e.Run(alive); err == nil {
				return nil
			}
			e.Close(alive)
		}
		select {
		case <-alive.Done():
			return nil
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// replica starts one; kill ends it as a power cut would.
func (w *world) replica(log string) (kill func()) {
	w.t.Helper()
	end := w.replicaProcess(log)
	return func() { end(syscall.SIGKILL) }
}

// replicaProcess starts one; end sends it a signal and waits until it is gone.
func (w *world) replicaProcess(log string) (end func(os.Signal)) {
	w.t.Helper()
	end, _ = w.launch(replica{Database: w.url, Log: log})
	return end
}

// launch starts a replica; send sends it a signal.
func (w *world) launch(r replica) (end, send func(os.Signal)) {
	w.t.Helper()
	process, err := r.start()
	if err != nil {
		w.t.Fatal(err)
	}
	gone := false
	end = func(how os.Signal) {
		if !gone {
			gone = true
			_ = process.Process.Signal(how)
			late := time.AfterFunc(2*patience, func() {
				w.t.Errorf("a replica does not end by %s", how)
				_ = process.Process.Kill()
			})
			_ = process.Wait()
			late.Stop()
		}
	}
	w.t.Cleanup(func() { end(syscall.SIGKILL) })
	send = func(how os.Signal) {
		if !gone {
			_ = process.Process.Signal(how)
		}
	}
	return end, send
}

func (r replica) start() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), replicaVariable+"="+string(text))
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil { // its lifeline, until Wait
		return nil, err
	}
	return process, process.Start()
}
