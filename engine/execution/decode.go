package execution

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
)

// head is the part of a stored event that all types share.
type head struct {
	Seq          int64           `json:"seq"`
	Type         EventType       `json:"type"`
	At           time.Time       `json:"at"`
	Activity     string          `json:"activity"`
	Item         string          `json:"item"`
	Hook         string          `json:"hook"`
	Compensating bool            `json:"compensating"`
	Attempt      int             `json:"attempt"`
	Worker       string          `json:"worker"`
	Aside        bool            `json:"aside"`
	Data         json.RawMessage `json:"data"`
}

// DecodeEvents reads what EncodeEvents wrote, or the events of an exported history.
func DecodeEvents(data []byte) ([]Event, error) {
	var heads []head
	if err := json.Unmarshal(data, &heads); err != nil {
		return nil, fmt.Errorf("the events cannot be read: %w", err)
	}
	events := make([]Event, len(heads))
	for i := range heads {
		ev, err := heads[i].event()
		if err != nil {
			return nil, err
		}
		events[i] = ev
	}
	return events, nil
}

// UnmarshalJSON reads an event in the shape of the API.
func (ev *Event) UnmarshalJSON(data []byte) error {
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return err
	}
	decoded, err := h.event()
	*ev = decoded
	return err
}

func (h *head) event() (Event, error) {
	ev := Event{Seq: h.Seq, Type: h.Type, At: h.At.UTC(), Activity: h.Activity, Item: h.Item, Hook: h.Hook,
		Compensating: h.Compensating, Attempt: h.Attempt, Worker: h.Worker, Aside: h.Aside}
	body := bytes.TrimSpace(h.Data)
	if len(body) == 0 || string(body) == "{}" || string(body) == "null" {
		return ev, nil
	}
	d := newPayload(h.Type)
	if d == nil {
		return ev, h.kept(&ev, body)
	}
	if err := decodeExact(body, d); err != nil {
		return ev, fmt.Errorf("event %d, %s: its data cannot be read: %w", h.Seq, h.Type, err)
	}
	ev.Data = d
	return ev, nil
}

// kept has an event that this release does not know say what it said.
func (h *head) kept(ev *Event, body []byte) error {
	var said map[string]any
	if err := decodeExact(body, &said); err != nil {
		return fmt.Errorf("event %d, %s: its data cannot be read: %w", h.Seq, h.Type, err)
	}
	ev.Data = said
	return nil
}

// DecodeState reads a checkpoint.
func DecodeState(data []byte) (*State, error) {
	st := &State{}
	if err := decodeExact(data, st); err != nil {
		return nil, fmt.Errorf("the state cannot be read: %w", err)
	}
	return st, nil
}

// decodeExact decodes JSON into a struct; whole numbers in values of any type become int64, so that large
// ones survive.
func decodeExact(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("there is something after its end")
	}
	exact(reflect.ValueOf(into))
	return nil
}

// exact replaces the numbers of the decoder, wherever a value of any type may hold one.
func exact(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			exact(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				exact(v.Field(i))
			}
		}
	case reflect.Slice:
		if holdsNumbers(v.Type().Elem()) {
			for i := range v.Len() {
				exact(v.Index(i))
			}
		}
	case reflect.Map:
		exactMap(v)
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(reflect.ValueOf(exactValue(v.Interface())))
		}
	}
}

func exactMap(v reflect.Value) {
	switch m := v.Interface().(type) {
	case map[string]any:
		for k, e := range m {
			m[k] = exactValue(e)
		}
	case map[int]any:
		for k, e := range m {
			m[k] = exactValue(e)
		}
	case map[int]*scope, map[int]*Error:
		for _, k := range v.MapKeys() {
			exact(v.MapIndex(k))
		}
	}
}

func holdsNumbers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
		return true
	}
	return false
}

func exactValue(v any) any {
	switch t := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(t), 10, 64); err == nil {
			return n
		}
		f, err := t.Float64()
		if err != nil {
			return string(t) // beyond what a number can hold
		}
		return f
	case []any:
		for i := range t {
			t[i] = exactValue(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = exactValue(t[k])
		}
	}
	return v
}
