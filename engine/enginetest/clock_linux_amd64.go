package enginetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// kernelClock is where the kernel's clock_gettime is; clockShift is added to it, in seconds.
var (
	kernelClock uintptr
	clockShift  int64
)

//lint:ignore U1000 the kernel's callers call it, by its address
func shifted()
func addressOfShifted() uintptr

//go:linkname now time.now
func now() (sec int64, nsec int32, monotonic int64)

// ShiftClock makes the wall clock of this whole process differ from the machine's from now on, as if somebody
// had set it. The monotonic clock goes on as it was.
func ShiftClock(by time.Duration) error {
	if err := takeClock(); err != nil {
		return err
	}
	atomic.StoreInt64(&clockShift, int64(by/time.Second))
	return nil
}

// takeClock puts shifted where the Go runtime keeps the address of the kernel's function.
var takeClock = sync.OnceValue(func() error {
	kept, err := keptAddress()
	if err != nil {
		return err
	}
	if kernelClock = atomic.LoadUintptr(kept); kernelClock == 0 {
		return errors.New("this kernel lends no clock to its processes")
	}
	atomic.StoreUintptr(kept, addressOfShifted())
	return nil
})

// keptAddress finds that place in the code of time.now, which reads it by MOVQ place(IP), AX; CMPQ AX, $0.
func keptAddress() (*uintptr, error) {
	const reach = 160 // bytes of time.now that lead there
	begin := reflect.ValueOf(now).Pointer()
	code := unsafe.Slice(*(**byte)(unsafe.Pointer(&begin)), reach)
	for i := 0; i+11 <= reach; i++ {
		if bytes.Equal(code[i:i+3], []byte{0x48, 0x8b, 0x05}) && bytes.Equal(code[i+7:i+11], []byte{0x48, 0x83, 0xf8, 0x00}) {
			place := begin + uintptr(i+7) + uintptr(int32(binary.LittleEndian.Uint32(code[i+3:i+7])))
			return *(**uintptr)(unsafe.Pointer(&place)), nil
		}
	}
	return nil, errors.New("this version of Go reads the clock in another way")
}
