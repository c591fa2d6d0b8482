package activity

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"weftline/engine/flow"
)

const (
	readingCPU    = 1000            // milliseconds of processor time for reading one script
	readingWithin = 5 * time.Second // for all scripts of one definition
	readingsKept  = 2000            // scripts whose verdict is remembered
	readersTeam   = "-"             // processes that only read serve nobody's scripts
)

// Reader is a Runner that can say what is wrong with the code of its activities before it runs. It says nothing of
// what it cannot judge.
type Reader interface {
	Mistakes(ctx context.Context, code []flow.Code) []flow.Problem
}

// Mistakes finds scripts in JavaScript that cannot be compiled. They are compiled where they would run: a text can
// keep the compiler busy, or fill its stack, without end. What is not read within its bounds is not judged.
func (s *Script) Mistakes(ctx context.Context, code []flow.Code) []flow.Problem {
	ctx, cancel := context.WithTimeout(ctx, readingWithin)
	defer cancel()
	var found []flow.Problem
	for _, each := range code {
		if each.Language != javascript {
			continue
		}
		if fault := s.read(ctx, each.Text); fault != nil {
			found = append(found, each.Mistake(fault.Line, fault.Column, fmt.Sprintf("%s (line %d, column %d of the script)", fault.Message, fault.Line, fault.Column)))
		}
	}
	return found
}

// read answers what is wrong with a script, nil when nothing is or when nobody could say.
func (s *Script) read(ctx context.Context, source string) *sandboxFault {
	key := sha256.Sum256([]byte(source))
	if fault, known := s.verdicts.get(key); known {
		return fault
	}
	end, err := s.boxes.run(ctx, readersTeam, sandboxOrder{Source: source, OnlyRead: true, Input: json.RawMessage("null"),
		Memory: s.options.Memory, CPU: readingCPU, MaxOutput: s.options.MaxOutput}, func(string, string) {})
	if err != nil {
		return nil
	}
	if end.Fault != nil && end.Fault.Line == 0 { // a bound of the process, no place in the script
		end.Fault = nil
	}
	s.verdicts.put(key, end.Fault)
	return end.Fault
}

// verdicts remembers what was said of scripts: a definition is checked at every pause in the typing, and most of
// its scripts are as they were.
type verdicts struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]*sandboxFault
}

func (v *verdicts) get(key [sha256.Size]byte) (fault *sandboxFault, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fault, known = v.kept[key]
	return fault, known
}

func (v *verdicts) put(key [sha256.Size]byte, fault *sandboxFault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept == nil || len(v.kept) >= readingsKept {
		v.kept = make(map[[sha256.Size]byte]*sandboxFault, readingsKept)
	}
	v.kept[key] = fault
}
