package execution

import "unicode/utf8"

// solid makes a value one that reads back from JSON as it is: an empty list or object is not nil. What needs
// no change is answered as it came; a value that does is copied on the way, never changed in place.
func solid(v any) any {
	if !hollow(v) {
		return v
	}
	switch t := v.(type) {
	case string:
		return storable(t)
	case []any:
		list := make([]any, len(t))
		for i := range t {
			list[i] = solid(t[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(t))
		for k := range t {
			object[storable(k)] = solid(t[k])
		}
		return object
	}
	return v
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

func solidObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	object, _ := solid(m).(map[string]any)
	return object
}
