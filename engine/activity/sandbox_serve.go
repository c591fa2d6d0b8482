package activity

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	sandboxWatch    = 5 * time.Millisecond // how often a running script is measured
	sandboxStack    = 64 << 20             // bytes of the interpreter's own stack
	maxSandboxOrder = math.MaxUint32       // the parent has bounded it already
)

// ServeSandbox is the life of a sandbox process: it runs the scripts that come in, one after the other, until
// in ends. It gives up every way out of the process first, so that a fault in the interpreter leads nowhere.
func ServeSandbox(in io.Reader, out io.Writer) error {
	time.Local = time.UTC // the zone of the machine is none of a script's business
	debug.SetMaxStack(sandboxStack)
	if err := confine(); err != nil {
		return err
	}
	server := &sandboxServer{out: out}
	orders := make(chan sandboxOrder)
	go receiveOrders(bufio.NewReader(in), orders)
	for order := range orders {
		if err := server.run(order); err != nil {
			return err
		}
		runtime.GC() // the next script begins with an empty heap
	}
	return nil
}

// receiveOrders reads beside the script, so that the process ends with its parent even in an endless loop.
func receiveOrders(in *bufio.Reader, orders chan<- sandboxOrder) {
	for {
		var order sandboxOrder
		if err := readFrame(in, maxSandboxOrder, &order); err != nil {
			if errors.Is(err, io.EOF) {
				os.Exit(0)
			}
			os.Exit(1)
		}
		orders <- order
	}
}

// sandboxServer writes reports; after the end of a script nothing more of it is written.
type sandboxServer struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *sandboxServer) report(report sandboxReport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeFrame(s.out, report)
}

func (s *sandboxServer) run(order sandboxOrder) error {
	debug.SetMemoryLimit(order.Memory)
	done := make(chan struct{})
	go s.watch(order, done)
	end := runJavaScript(order, func(stream, line string) { _ = s.report(sandboxReport{Stream: stream, Line: line}) })
	close(done)
	return s.report(end)
}

// watch ends the process when a script takes more than it may: an interpreter cannot be interrupted in the
// middle of one large operation, a process can.
func (s *sandboxServer) watch(order sandboxOrder, done <-chan struct{}) {
	ticker := time.NewTicker(sandboxWatch)
	defer ticker.Stop()
	began := processorTime()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		switch {
		case heapBytes() > order.Memory:
			s.abort(faultMemory(order.Memory))
		case processorTime()-began > time.Duration(order.CPU)*time.Millisecond:
			s.abort(faultCPU(order.CPU))
		}
	}
}

// abort reports a fault and ends the process. The lock stays taken: this is the last report.
func (s *sandboxServer) abort(fault *sandboxFault) {
	s.mu.Lock()
	_ = writeFrame(s.out, sandboxReport{Fault: fault})
	os.Exit(1)
}

// heapBytes are those of values that live, or are not yet swept.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
