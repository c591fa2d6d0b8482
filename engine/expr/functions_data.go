package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
)

var dataFunctions = map[string]function{
	"type":      {[]Kind{Any}, 1, false, Text, func(_ *frame, args []any) (any, error) { return jsonWord(args[0]), nil }},
	"keys":      {[]Kind{Object}, 1, false, List, keys},
	"values":    {[]Kind{Object}, 1, false, List, values},
	"toPairs":   {[]Kind{Object}, 1, false, List, toPairs},
	"fromPairs": {[]Kind{List}, 1, false, Object, fromPairs},
	"merge":     {[]Kind{Object}, 1, true, Object, mergeObjects},
	"toJSON":    {[]Kind{Any}, 1, false, Text, toJSON},
	"fromJSON":  {[]Kind{Text}, 1, false, Any, fromJSON},
}

// jsonWord is the type of a value in the words of JSON Schema.
func jsonWord(v any) string {
	switch word := typeWord(v); word {
	case "text":
		return "string"
	case "list":
		return "array"
	default:
		return word
	}
}

func keys(f *frame, args []any) (any, error) {
	object := args[0].(map[string]any)
	list := make([]any, 0, len(object))
	for _, key := range sortedKeys(object) {
		list = append(list, key)
	}
	return list, f.spend(32 * len(object))
}

// values come in the order of their keys.
func values(f *frame, args []any) (any, error) {
	object := args[0].(map[string]any)
	list := make([]any, 0, len(object))
	for _, key := range sortedKeys(object) {
		list = append(list, object[key])
	}
	return list, f.spend(32 * len(object))
}

func toPairs(f *frame, args []any) (any, error) {
	object := args[0].(map[string]any)
	list := make([]any, 0, len(object))
	for _, key := range sortedKeys(object) {
		list = append(list, []any{key, object[key]})
	}
	return list, f.spend(64 * len(object))
}

func fromPairs(f *frame, args []any) (any, error) {
	list := args[0].([]any)
	object := make(map[string]any, len(list))
	for i, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 || KindOf(pair[0]) != Text {
			return nil, &Error{Code: CodeType, Message: fmt.Sprintf("item %d of fromPairs is not a pair of a text and a value", i)}
		}
		object[pair[0].(string)] = pair[1]
	}
	return object, f.spend(32 * len(list))
}

// mergeObjects puts the keys of later objects over those of earlier ones, on the first level.
func mergeObjects(f *frame, args []any) (any, error) {
	size := 0
	for _, arg := range args {
		size += len(arg.(map[string]any))
	}
	if err := f.spend(32 * size); err != nil {
		return nil, err
	}
	all := make(map[string]any, size)
	for _, arg := range args {
		maps.Copy(all, arg.(map[string]any))
	}
	return all, nil
}

func toJSON(f *frame, args []any) (any, error) {
	if err := f.measure(args[0], 0); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // sorts keys
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(args[0]); err != nil {
		return nil, &Error{Code: CodeType, Message: "toJSON: " + err.Error()}
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}

func fromJSON(f *frame, args []any) (any, error) {
	text := args[0].(string)
	if err := f.spend(16 * len(text)); err != nil {
		return nil, err
	}
	value, err := DecodeJSON([]byte(text))
	if err != nil {
		return nil, &Error{Code: CodeType, Message: "fromJSON: " + err.Error()}
	}
	return value, nil
}

// DecodeJSON reads exactly one JSON value. Whole numbers that fit become int64, others float64; a number
// beyond float64 is an error.
func DecodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the text is empty")
		}
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("there is more than one value")
	}
	return Normalize(value)
}

// Normalize turns the numbers of a decoded JSON value into int64 and float64, in place.
func Normalize(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		return number(string(v))
	case int:
		return int64(v), nil
	case []any:
		for i := range v {
			item, err := Normalize(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = item
		}
	case map[string]any:
		for key := range v {
			item, err := Normalize(v[key])
			if err != nil {
				return nil, err
			}
			v[key] = item
		}
	}
	return value, nil
}

func number(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fmt.Errorf("the number %s is too large", clip(text, 40))
	}
	return f, nil
}
