package store

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/queries"
)

// DeliverIn stores a message for an execution within a transaction and wakes it. The answer is the message's
// id. It is durable, and may be acknowledged, once the transaction is committed.
func (s *Store) DeliverIn(ctx context.Context, q *queries.Queries, to uuid.UUID, message execution.Message) (int64, error) {
	encoded, err := s.encodeMessage(message)
	if err != nil {
		return 0, err
	}
	return q.Deliver(ctx, to, encoded)
}

// Deliver stores a message for an execution in a transaction of its own.
func (s *Store) Deliver(ctx context.Context, to uuid.UUID, message execution.Message) (int64, error) {
	return s.DeliverIn(ctx, s.q, to, message)
}

// HasUnread reports whether messages of an execution wait to be applied.
func (s *Store) HasUnread(ctx context.Context, id uuid.UUID) (bool, error) {
	return s.q.HasUnread(ctx, id)
}

// encodeMessage seals every message where there is a key: what is sent to an execution is not known to it yet.
func (s *Store) encodeMessage(message execution.Message) ([]byte, error) {
	encoded, err := json.Marshal(message)
	if err != nil || s.keys.Empty() {
		return encoded, err
	}
	return s.keys.Box(messagePlace, encoded)
}

func (s *Store) decodeMessage(stored []byte) (execution.Message, error) {
	encoded, err := s.keys.Unbox(messagePlace, stored)
	if err != nil {
		return execution.Message{}, err
	}
	return decodeMessage(encoded)
}

// decodeMessage reads a message; whole numbers in its payloads that fit are int64, as everywhere.
func decodeMessage(encoded []byte) (execution.Message, error) {
	var m execution.Message
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil {
		return m, err
	}
	if m.Signal != nil {
		m.Signal.Payload, m.Signal.Shown = plain(m.Signal.Payload), plain(m.Signal.Shown)
	}
	if m.Vote != nil {
		m.Vote.Form, m.Vote.Shown = plain(m.Vote.Form), plain(m.Vote.Shown)
	}
	if m.ChildEnded != nil {
		m.ChildEnded.Output, m.ChildEnded.Shown = plain(m.ChildEnded.Output), plain(m.ChildEnded.Shown)
		plainError(m.ChildEnded.Error)
	}
	if m.Retry != nil {
		plain(m.Retry.Input)
	}
	if m.Result != nil {
		m.Result.Value, m.Result.Shown = plain(m.Result.Value), plain(m.Result.Shown)
		plainError(m.Result.Error)
	}
	return m, nil
}

func plainError(e *execution.Error) {
	if e != nil {
		e.Detail = plain(e.Detail)
		plain(e.Position)
	}
}

// plain turns the numbers of a decoded value into int64 where they are whole and fit, else float64.
func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			if n, err := v.Int64(); err == nil {
				return n
			}
		}
		f, err := v.Float64()
		if err != nil { // no number that JSON could say again
			return nil
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return value
}
