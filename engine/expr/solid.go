package expr

import "unicode/utf8"

// Solid makes a value one that reads back from JSON as it is: an empty list or object is not nil, and every text is
// UTF-8. What needs no change is answered as it came; a value that does is copied on the way, never changed in place.
func Solid(v any) any {
	if !hollow(v) {
		return v
	}
	switch t := v.(type) {
	case string:
		return storable(t)
	case []any:
		list := make([]any, len(t))
		for i := range t {
			list[i] = Solid(t[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(t))
		for k := range t {
			object[storable(k)] = Solid(t[k])
		}
		return object
	}
	return v
}

// SolidObject is Solid for an object or nil.
func SolidObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	object, _ := Solid(m).(map[string]any)
	return object
}

// storable makes a text that reads back as it is: each byte that is not UTF-8 becomes U+FFFD, as in the history.
func storable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// hollow reports whether a value is, or holds, a nil list or object or a text that is not UTF-8.
func hollow(v any) bool {
	switch t := v.(type) {
	case string:
		return !utf8.ValidString(t)
	case []any:
		for i := range t {
			if hollow(t[i]) {
				return true
			}
		}
		return t == nil
	case map[string]any:
		for k := range t {
			if !utf8.ValidString(k) || hollow(t[k]) {
				return true
			}
		}
		return t == nil
	}
	return false
}
