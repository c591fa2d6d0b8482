package strictjson

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/expr"
)

// Assign puts a parsed value into *target by its json tags: names are exact, an unknown one is an error, and
// so is a value of another type. Fields of type any take the value as it is. Every error is an *Error.
func Assign(value any, target any) error {
	return assign(value, reflect.ValueOf(target).Elem(), "")
}

func assign(value any, into reflect.Value, pointer string) error {
	if value == nil {
		return nil // null is the same as absent
	}
	switch into.Interface().(type) {
	case time.Time:
		return assignTime(value, into, pointer)
	case uuid.UUID:
		return assignUUID(value, into, pointer)
	}
	switch into.Kind() {
	case reflect.Interface:
		into.Set(reflect.ValueOf(value))
		return nil
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return assign(value, into.Elem(), pointer)
	case reflect.Struct:
		return assignStruct(value, into, pointer)
	case reflect.Slice:
		return assignSlice(value, into, pointer)
	case reflect.Map:
		return assignMap(value, into, pointer)
	}
	return assignScalar(value, into, pointer)
}

func assignScalar(value any, into reflect.Value, pointer string) error {
	switch into.Kind() {
	case reflect.String:
		if text, ok := value.(string); ok {
			into.SetString(text)
			return nil
		}
	case reflect.Bool:
		if truth, ok := value.(bool); ok {
			into.SetBool(truth)
			return nil
		}
	case reflect.Int, reflect.Int64:
		if whole, ok := value.(int64); ok {
			into.SetInt(whole)
			return nil
		}
	case reflect.Float64:
		switch number := value.(type) {
		case float64:
			into.SetFloat(number)
			return nil
		case int64:
			into.SetFloat(float64(number))
			return nil
		}
	}
	return mismatch(pointer, into.Type(), value)
}

func assignStruct(value any, into reflect.Value, pointer string) error {
	object, ok := value.(map[string]any)
	if !ok {
		return mismatch(pointer, into.Type(), value)
	}
	fields := fieldsOf(into.Type())
	for _, key := range sortedKeys(object) {
		index, known := fields[key]
		inside := pointer + "/" + Escape(key)
		if !known {
			return &Error{Pointer: inside, Message: unknownField(key, sortedKeys(fields))}
		}
		if err := assign(object[key], into.Field(index), inside); err != nil {
			return err
		}
		if err := checkLeast(object[key], into.Type().Field(index).Tag.Get("least"), inside); err != nil {
			return err
		}
	}
	return nil
}

// checkLeast refuses a whole number below what its field's tag says: least:"1" where 0 stands for "not given".
func checkLeast(value any, tag, pointer string) error {
	number, given := value.(int64)
	least, err := strconv.ParseInt(tag, 10, 64)
	if !given || err != nil || number >= least {
		return nil
	}
	return &Error{Pointer: pointer, Message: fmt.Sprintf("a whole number of at least %d is expected, got %d", least, number)}
}

func unknownField(key string, known []string) string {
	meant := ""
	if near := expr.Nearest(key, known); near != "" {
		meant = fmt.Sprintf("did you mean %q? ", near)
	}
	return fmt.Sprintf("the field %q is not known; %sknown are %s", key, meant, strings.Join(known, ", "))
}

func assignSlice(value any, into reflect.Value, pointer string) error {
	array, ok := value.([]any)
	if !ok {
		return mismatch(pointer, into.Type(), value)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(array), len(array)))
	for i, element := range array {
		if err := assign(element, into.Index(i), pointer+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func assignMap(value any, into reflect.Value, pointer string) error {
	object, ok := value.(map[string]any)
	if !ok {
		return mismatch(pointer, into.Type(), value)
	}
	into.Set(reflect.MakeMapWithSize(into.Type(), len(object)))
	for _, key := range sortedKeys(object) {
		element := reflect.New(into.Type().Elem()).Elem()
		if err := assign(object[key], element, pointer+"/"+Escape(key)); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(key), element)
	}
	return nil
}

func assignTime(value any, into reflect.Value, pointer string) error {
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return &Error{Pointer: pointer, Message: "a time such as 2026-03-29T00:30:00.000Z is expected"}
	}
	into.Set(reflect.ValueOf(at.UTC()))
	return nil
}

func assignUUID(value any, into reflect.Value, pointer string) error {
	text, _ := value.(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return &Error{Pointer: pointer, Message: "an id (a UUID) is expected"}
	}
	into.Set(reflect.ValueOf(id))
	return nil
}

func mismatch(pointer string, want reflect.Type, value any) error {
	return &Error{Pointer: pointer, Message: "expected " + wordOf(want.Kind()) + ", got " + wordOf(reflect.ValueOf(value).Kind())}
}

func wordOf(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// fieldsOf maps the json names of a struct to field indexes.
func fieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = i
		}
	}
	return fields
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
