package activity

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// decodeJSON reads one JSON value; whole numbers that fit are int64, so that large ids survive.
func decodeJSON(content []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return exactNumbers(value)
}

func exactNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return number(v.String())
	case []any:
		for i := range v {
			if v[i], err = exactNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = exactNumbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func number(text string) (any, error) {
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole, nil
	}
	float, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errors.New("the number " + text + " is too large")
	}
	return float, nil
}
