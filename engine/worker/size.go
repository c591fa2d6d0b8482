package worker

import (
	"fmt"

	"weftline/engine/execution"
)

// tooLarge is the failure of an output that is larger than the limit in bytes; nil if it fits.
func tooLarge(value any, limit int) *execution.Error {
	size := sizeOf(value)
	if size <= limit {
		return nil
	}
	return &execution.Error{Type: "output.too_large", Class: "activity",
		Message: fmt.Sprintf("the output has about %d bytes, the limit is %d", size, limit),
		Detail:  map[string]any{"size": int64(size), "limit": int64(limit)}}
}

// sizeOf is the size of a plain value as JSON, give or take escapes and numbers.
func sizeOf(value any) int {
	const number = 8
	switch v := value.(type) {
	case string:
		return len(v) + 2
	case []any:
		size := 2
		for _, element := range v {
			size += sizeOf(element) + 1
		}
		return size
	case map[string]any:
		size := 2
		for key, element := range v {
			size += len(key) + 4 + sizeOf(element)
		}
		return size
	}
	return number
}
