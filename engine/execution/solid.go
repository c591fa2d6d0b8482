package execution

// solid makes a value one that reads back from JSON as it is: an empty list or object is not nil. What needs
// no change is answered as it came; a value that does is copied on the way, never changed in place.
func solid(v any) any {
	if !hollow(v) {
		return v
	}
	switch t := v.(type) {
	case []any:
		list := make([]any, len(t))
		for i := range t {
			list[i] = solid(t[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(t))
		for k := range t {
			object[k] = solid(t[k])
		}
		return object
	}
	return v
}

// hollow reports whether a value is, or holds, a nil list or object.
func hollow(v any) bool {
	switch t := v.(type) {
	case []any:
		for i := range t {
			if hollow(t[i]) {
				return true
			}
		}
		return t == nil
	case map[string]any:
		for k := range t {
			if hollow(t[k]) {
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
