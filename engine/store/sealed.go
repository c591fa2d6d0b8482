package store

import (
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"weftline/engine/execution"
)

// What holds sensitive values is sealed after it is packed, bound to where it is stored; messages and kept
// events always are, where there is a key.

// messagePlace is one for all: who stores a result does not always know the execution.
const messagePlace = "inbox"

func historyPlace(id uuid.UUID, firstSeq int64) string {
	return "history/" + id.String() + "/" + strconv.FormatInt(firstSeq, 10)
}
func statePlace(id uuid.UUID) string  { return "checkpoint/" + id.String() }
func keptPlace(team uuid.UUID) string { return "kept/" + team.String() }

// FilePlace is where a part of a file is.
func FilePlace(id uuid.UUID, part int64) string { return fmt.Sprintf("file/%s/%d", id, part) }

// pack makes the events of a flush ready for storage, once: tried again, it must write the same bytes.
func (s *Store) pack(f *Flush) (err error) {
	if f.packed == nil {
		f.packed, err = s.packSealed(historyPlace(f.Execution, f.FirstSeq), f.Events, f.Sealed)
	}
	return err
}

func (s *Store) packSealed(place string, plain []byte, sealed bool) ([]byte, error) {
	packed := pack(plain)
	if packed == nil || !sealed {
		return packed, nil
	}
	return s.keys.Box(place, packed)
}

func (s *Store) unpack(place string, stored []byte) ([]byte, error) {
	packed, err := s.keys.Unbox(place, stored)
	if err != nil {
		return nil, err
	}
	return unpack(packed)
}

func (s *Store) readEvents(id uuid.UUID, firstSeq int64, stored []byte) ([]execution.Event, error) {
	plain, err := s.unpack(historyPlace(id, firstSeq), stored)
	if err != nil {
		return nil, err
	}
	return execution.DecodeEvents(plain)
}

// Seal and Unseal are for what is stored beside executions.
func (s *Store) Seal(place string, plain []byte) ([]byte, error) { return s.keys.Box(place, plain) }

// Unseal is the inverse of Seal; what is not sealed is answered as it is.
func (s *Store) Unseal(place string, stored []byte) ([]byte, error) {
	return s.keys.Unbox(place, stored)
}
