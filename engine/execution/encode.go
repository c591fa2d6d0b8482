package execution

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"weftline/engine/instants"
)

// MarshalJSON writes an event in the shape of the API.
func (ev Event) MarshalJSON() ([]byte, error) {
	return appendEvent(make([]byte, 0, 192), &ev, new(written), true)
}

// EncodeEvents writes events as a JSON array, always the same bytes for the same events.
func EncodeEvents(events []Event) ([]byte, error) { return AppendEvents(nil, events) }

// AppendEvents is EncodeEvents into a buffer.
func AppendEvents(b []byte, events []Event) ([]byte, error) {
	b = slices.Grow(b, 160*len(events)+2)
	b = append(b, '[')
	var last written
	var err error
	for i := range events {
		if i > 0 {
			b = append(b, ',', '\n')
		}
		if b, err = appendEvent(b, &events[i], &last, false); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendEvent(b []byte, ev *Event, last *written, always bool) ([]byte, error) {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, ev.Seq, 10)
	b = append(b, `,"type":"`...)
	b = append(b, ev.Type...)
	b = append(b, `","at":`...)
	b = last.append(b, ev.At)
	b = appendText(b, `,"activity":`, ev.Activity)
	b = appendText(b, `,"item":`, ev.Item)
	b = appendText(b, `,"hook":`, ev.Hook)
	if ev.Compensating {
		b = append(b, `,"compensating":true`...)
	}
	if ev.Attempt > 0 {
		b = append(b, `,"attempt":`...)
		b = strconv.AppendInt(b, int64(ev.Attempt), 10)
	}
	b = appendText(b, `,"worker":`, ev.Worker)
	if ev.Aside {
		b = append(b, `,"aside":true`...)
	}
	if ev.Data == nil {
		if always {
			b = append(b, `,"data":{}`...)
		}
		return append(b, '}'), nil
	}
	b = append(b, `,"data":`...)
	b, err := appendPayload(b, ev.Data)
	return append(b, '}'), err
}

// written is the instant written last, and where it stands in the buffer. Most events of a flush have the same, and
// copying it takes a fraction of writing it.
type written struct {
	at       time.Time
	from, to int
}

func (last *written) append(b []byte, at time.Time) []byte {
	if last.to > 0 && last.at == at {
		return append(b, b[last.from:last.to]...)
	}
	from := len(b)
	b = append(b, '"')
	b = append(appendInstant(b, at), '"')
	*last = written{at: at, from: from, to: len(b)}
	return b
}

// appendInstant writes instants.Layout, which has digits at fixed places for the years that have four.
func appendInstant(b []byte, at time.Time) []byte {
	at = at.UTC()
	year, month, day := at.Date()
	if year < 0 || year > 9999 {
		return at.AppendFormat(b, instants.Layout)
	}
	hour, minute, second := at.Clock()
	b = append(appendTwo(appendTwo(b, year/100), year%100), '-')
	b = append(appendTwo(b, int(month)), '-')
	b = append(appendTwo(b, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	b = append(appendTwo(b, second), '.')
	thousandths := at.Nanosecond() / 1e6
	return append(appendTwo(append(b, byte('0'+thousandths/100)), thousandths%100), 'Z')
}

// appendTwo writes a number below 100 with two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// appendText writes a member that is left out when empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(append(b, name...), text)
}

// appendPayload writes the frequent payloads by hand and all others by reflection.
func appendPayload(b []byte, data any) ([]byte, error) {
	switch d := data.(type) {
	case *Completed:
		return appendCompleted(b, d)
	case *Ready:
		return appendReady(b, d)
	case *Created:
		return appendCreated(b, d)
	case *Ended:
		if d.Shown == nil && d.Error == nil && d.Note == "" && d.By == "" && d.Reason == "" && d.Compensation == "" {
			return appendOutput(b, d.Output)
		}
	}
	return appendReflected(b, data)
}

// appendCreated writes what every execution has; the rest comes from reflection.
func appendCreated(b []byte, d *Created) ([]byte, error) {
	if d.Labels != nil || d.Deadline != nil || d.StartAt != nil || d.Parent != nil || d.Children != nil || d.Depth > 0 || d.NeedsPermit || d.MaxItems > 0 || d.Hidden != nil || d.Sensitive {
		return appendReflected(b, d)
	}
	b = append(b, `{"id":"`...)
	b = appendUUID(b, d.ID)
	b = append(b, `","workflow":`...)
	b = appendString(b, d.Workflow)
	b = append(b, `,"version":`...)
	b = strconv.AppendInt(b, int64(d.Version), 10)
	b = appendText(b, `,"contentHash":`, d.ContentHash)
	b = appendText(b, `,"mode":`, d.Mode)
	b = appendText(b, `,"correlationId":`, d.CorrelationID)
	b = appendText(b, `,"priority":`, d.Priority)
	b = appendText(b, `,"startedBy":`, d.StartedBy)
	b = appendText(b, `,"team":`, d.Team)
	var err error
	for _, m := range []struct {
		name   string
		object map[string]any
	}{{`,"input":`, d.Input}, {`,"trigger":`, d.Trigger}} {
		if len(m.object) > 0 && err == nil {
			b, err = appendObject(append(b, m.name...), m.object)
		}
	}
	return append(b, '}'), err
}

// appendUUID is what id.String says.
func appendUUID(b []byte, id uuid.UUID) []byte {
	for i, part := range [][]byte{id[0:4], id[4:6], id[6:8], id[8:10], id[10:16]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}

func appendCompleted(b []byte, d *Completed) ([]byte, error) {
	if d.Outcome == "" && d.Iteration == 0 && d.Shown == nil && d.Usage == nil {
		return appendOutput(b, d.Output)
	}
	return appendReflected(b, d)
}

func appendOutput(b []byte, output any) ([]byte, error) {
	if output == nil {
		return append(b, '{', '}'), nil
	}
	b = append(b, `{"output":`...)
	b, err := appendValue(b, output)
	return append(b, '}'), err
}

func appendReady(b []byte, d *Ready) ([]byte, error) {
	if d.Iteration > 0 || d.Input == nil {
		return appendReflected(b, d)
	}
	b = append(b, `{"input":`...)
	b, err := appendValue(b, d.Input)
	return append(b, '}'), err
}

func appendReflected(b []byte, v any) ([]byte, error) {
	text, err := instants.JSON(v)
	return append(b, text...), err
}

// appendValue writes a plain JSON value with sorted keys.
func appendValue(b []byte, v any) ([]byte, error) {
	switch t := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, t), nil
	case string:
		return appendString(b, t), nil
	case int64:
		return strconv.AppendInt(b, t, 10), nil
	case int:
		return strconv.AppendInt(b, int64(t), 10), nil
	case float64:
		return appendFloat(b, t), nil
	case []any:
		return appendList(b, t)
	case map[string]any:
		return appendObject(b, t)
	}
	return appendReflected(b, v)
}

func appendList(b []byte, list []any) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, object map[string]any) ([]byte, error) {
	var few [16]string
	keys := few[:0]
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	var err error
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		if b, err = appendValue(b, object[k]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendFloat writes the shortest text that reads back as the same number. What JSON cannot say is null.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string; what is not UTF-8 becomes the replacement character.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + size
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		b = appendEscaped(b, c)
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// EncodeState writes a checkpoint, always the same bytes for the same state, by releases before this one too.
func EncodeState(st *State) ([]byte, error) {
	st.Shape = Shape
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(st); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
