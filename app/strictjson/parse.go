// Package strictjson owns how JSON from outside is read: exactly, or not at all. encoding/json alone takes
// the last of two equal keys, rounds large whole numbers and replaces broken surrogates; here each of these
// is an error that says where it is. It must not know what the values mean.
//
// Rules: valid UTF-8; one value and nothing after it; at most MaxDepth levels; no key twice in an object;
// whole numbers fit 64 bits and stay int64, others are finite float64; no NUL and no lone surrogate.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the number of levels that objects and arrays may be nested.
const MaxDepth = 100

// Error says what is wrong and where. Line and Column count from 1, columns in bytes.
type Error struct {
	Pointer      string // JSON pointer of the value, "" = the whole document
	Line, Column int    // 0 when the fault is in the shape, not in the text
	Message      string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
	if e.Pointer != "" {
		return e.Pointer + ": " + e.Message
	}
	return e.Message
}

// Parse reads one JSON value into nil, bool, int64, float64, string, []any and map[string]any.
// Every error is an *Error.
func Parse(data []byte) (any, error) {
	if at := firstBadRune(data); at >= 0 {
		return nil, errorAt(data, at, "", "the text is not valid UTF-8")
	}
	if at, message := badEscape(data); message != "" {
		return nil, errorAt(data, at, "", message)
	}
	p := &parser{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	p.decoder.UseNumber()
	value, err := p.value("", 0)
	if err != nil {
		return nil, err
	}
	if _, err := p.decoder.Token(); err != io.EOF {
		return nil, p.fail("", "there is more after the end of the value")
	}
	return value, nil
}

type parser struct {
	data    []byte
	decoder *json.Decoder
}

func (p *parser) fail(pointer, message string) error {
	return errorAt(p.data, int(p.decoder.InputOffset()), pointer, message)
}

func (p *parser) token(pointer string) (json.Token, error) {
	token, err := p.decoder.Token()
	if err == nil {
		return token, nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, errorAt(p.data, int(syntax.Offset)-1, pointer, syntax.Error())
	case len(bytes.TrimSpace(p.data)) == 0:
		return nil, p.fail(pointer, "a JSON value is expected, the text is empty")
	}
	return nil, p.fail(pointer, "the JSON text ends too early")
}

func (p *parser) value(pointer string, depth int) (any, error) {
	token, err := p.token(pointer)
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth >= MaxDepth {
			return nil, p.fail(pointer, fmt.Sprintf("nested deeper than %d levels", MaxDepth))
		}
		if token == '{' {
			return p.object(pointer, depth+1)
		}
		return p.array(pointer, depth+1)
	case json.Number:
		return p.number(pointer, token.String())
	}
	return token, nil // nil, bool or string
}

func (p *parser) object(pointer string, depth int) (any, error) {
	object := map[string]any{}
	for p.decoder.More() {
		token, err := p.token(pointer)
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, p.fail(pointer, "a key must be a string")
		}
		inside := pointer + "/" + Escape(key)
		if _, twice := object[key]; twice {
			return nil, p.fail(inside, fmt.Sprintf("the key %q is there twice", key))
		}
		if object[key], err = p.value(inside, depth); err != nil {
			return nil, err
		}
	}
	_, err := p.token(pointer)
	return object, err
}

func (p *parser) array(pointer string, depth int) (any, error) {
	array := []any{}
	for p.decoder.More() {
		value, err := p.value(pointer+"/"+strconv.Itoa(len(array)), depth)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := p.token(pointer)
	return array, err
}

func (p *parser) number(pointer, text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		whole, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, p.fail(pointer, "the whole number "+text+" does not fit 64 bits; send it as a string")
		}
		return whole, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) {
		return nil, p.fail(pointer, "the number "+text+" is too large")
	}
	return number, nil
}

// Escape writes a key as a part of a JSON pointer.
func Escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func firstBadRune(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// badEscape finds \u0000 and surrogates without their other half. A backslash stands only inside strings.
func badEscape(data []byte) (at int, message string) {
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(data[i:])
		switch {
		case !ok:
			i++ // a short escape such as \\ or \n; a broken one is the decoder's to report
		case unit == 0:
			return i, `the character \u0000 is not allowed`
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return i, "a low surrogate without its high one"
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low, ok := escapedUnit(data[min(i+6, len(data)):]); !ok || low < 0xDC00 || low > 0xDFFF {
				return i, "a high surrogate without its low one"
			}
			i += 11
		default:
			i += 5
		}
	}
	return 0, ""
}

// escapedUnit reads \uXXXX at the start of data.
func escapedUnit(data []byte) (uint64, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return unit, err == nil
}

func errorAt(data []byte, offset int, pointer, message string) error {
	before := data[:max(0, min(offset, len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return &Error{Pointer: pointer, Line: line, Column: column, Message: message}
}
