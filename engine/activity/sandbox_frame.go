package activity

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// sandboxOrder is one script on its way into a sandbox process.
type sandboxOrder struct {
	Source    string          `json:"source"`
	OnlyRead  bool            `json:"onlyRead,omitempty"` // compile it, run nothing
	Input     json.RawMessage `json:"input"`
	Memory    int64           `json:"memory"`    // bytes of live values
	CPU       int64           `json:"cpu"`       // milliseconds of processor time
	MaxOutput int64           `json:"maxOutput"` // bytes of the output as JSON
}

// sandboxReport is what comes back: any number of lines, then one end.
type sandboxReport struct {
	Stream string          `json:"stream,omitempty"` // stdout or stderr: this is a line
	Line   string          `json:"line,omitempty"`
	Output json.RawMessage `json:"output,omitempty"` // absent when there is none
	Fault  *sandboxFault   `json:"fault,omitempty"`
}

// sandboxFault says why a script did not succeed; Line and Column count from 1, 0 = unknown.
type sandboxFault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

func (r sandboxReport) isEnd() bool { return r.Stream == "" }

// A frame is its length in 4 bytes, big-endian, and that many bytes of JSON. The length is checked before
// anything is allocated: a sandbox is not trusted to be moderate.
const frameHead = 4

func writeFrame(w io.Writer, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, frameHead+len(content)), uint32(len(content)))
	_, err = w.Write(append(frame, content...))
	return err
}

func readFrame(r *bufio.Reader, most int64, value any) error {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > most {
		return fmt.Errorf("a message of %d bytes, the limit is %d", size, most)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}
