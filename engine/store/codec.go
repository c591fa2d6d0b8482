package store

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// Histories and checkpoints are stored as JSON compressed with a dictionary of what every history says
// anyway: a flush of some hundred bytes shrinks to a third, and with it the log that PostgreSQL writes.
//
// What is short, as the flush of one step, is packed by s2, which takes a sixth of the time of zstd for a quarter more
// bytes; of what is long, zstd makes half as much. Stored bytes begin with shortMark or with a zstd frame, or are the
// JSON itself, which begins with [ or {.

// dictionaryID changes with the dictionary; old ones must be kept for reading.
const dictionaryID = 1

// dictionary holds the frequent parts, the most frequent last. It must never change: what was stored with
// it could not be read any more.
const dictionary = `{"seq":1,"type":"WorkflowCreated","at":"2026-11-29T16:44:03.064Z","data":{"id":"","workflow":"","version":1,"contentHash":"","mode":"local_sync","correlationId":"","priority":"normal","startedBy":"","team":"","input":{},"trigger":{"type":"api"}}},
{"seq":2,"type":"WorkflowValidated","at":"2026-11-29T16:44:03.064Z"},
{"seq":3,"type":"VariablesSet","at":"2026-11-29T16:44:03.064Z","data":{"variables":{}}},
{"seq":4,"type":"WorkflowStarted","at":"2026-11-29T16:44:03.064Z"},
{"seq":5,"type":"WorkflowCompleted","at":"2026-11-29T16:44:03.064Z","data":{"output":{},"compensation":"none"}}]
{"type":"ActivityWaiting","activity":"","attempt":1,"data":{"kind":"timer","until":"2026-11-29T16:44:03.064Z","reason":"waits for a person"}},
{"type":"ActivityFailed","data":{"error":{"type":"http.503","class":"external","message":"","activity":"","attempt":1,"detail":{"status":503,"headers":{"content-type":"application/json"},"body":{}}}}},
{"type":"ActivityRetryScheduled","data":{"until":"","error":{"type":"transport.connect","class":"infrastructure"}}},
{"type":"ActivitySkipped","data":{"reason":"branch"}},{"type":"ItemCompleted","item":"0"},
,"data":{"input":{"method":"GET","url":"http://","headers":{},"query":{},"body":{}}}},
,"data":{"output":{"status":200,"headers":{"content-type":"application/json","content-length":"","date":""},"body":{"ok":true}}}},
[{"seq":6,"type":"ActivityStarted","at":"2026-11-29T16:44:03.125Z","activity":"","attempt":1,"worker":"01"},
{"seq":7,"type":"ActivityCompleted","at":"2026-11-29T16:44:03.125Z","activity":"","attempt":1,"data":{"output":{}}},
{"seq":8,"type":"ActivityReady","at":"2026-11-29T16:44:03.125Z","activity":"","attempt":1},
{"seq":9,"type":"ActivityDispatched","at":"2026-11-29T16:44:03.125Z","activity":"","attempt":1}]
`

// templatesAtEnd is how many bytes at the end of the dictionary are the events of a common step; s2 tries those first.
const templatesAtEnd = 600

// largestPlain bounds what a stored value may unpack to.
const largestPlain = 1 << 30

const (
	// longFrom is the length in bytes from which the bytes that zstd saves are worth its time.
	longFrom  = 4 << 10
	shortMark = 0x01
)

var (
	shortPacker = s2.MakeDictManual([]byte(dictionary), uint16(len(dictionary)-templatesAtEnd))
	packer      = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithEncoderCRC(false), zstd.WithEncoderDictRaw(dictionaryID, []byte(dictionary))))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(largestPlain),
		zstd.WithDecoderDictRaw(dictionaryID, []byte(dictionary))))
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// must is for what depends on constants only.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// pack makes JSON ready for storage; nil stays nil.
func pack(plain []byte) []byte {
	if plain == nil {
		return nil
	}
	if len(plain) < longFrom {
		stored := make([]byte, 1+s2.MaxEncodedLen(len(plain)))
		stored[0] = shortMark
		return stored[:1+len(shortPacker.Encode(stored[1:], plain))]
	}
	return packer.EncodeAll(plain, make([]byte, 0, len(plain)/2))
}

// unpack is the inverse of pack.
func unpack(stored []byte) ([]byte, error) {
	var plain []byte
	var err error
	switch {
	case bytes.HasPrefix(stored, []byte{shortMark}):
		plain, err = unpackShort(stored[1:])
	case bytes.HasPrefix(stored, zstdMagic):
		plain, err = unpacker.DecodeAll(stored, nil)
	default:
		return stored, nil
	}
	if err != nil {
		return nil, fmt.Errorf("unpack a stored value: %w", err)
	}
	return plain, nil
}

// unpackShort refuses a length that pack does not make before there is memory for it.
func unpackShort(packed []byte) ([]byte, error) {
	if size, err := s2.DecodedLen(packed); err != nil || size >= longFrom {
		return nil, fmt.Errorf("a short value says that it is %d bytes long: %w", size, cmp.Or(err, s2.ErrTooLarge))
	}
	return shortPacker.Decode(nil, packed)
}
