package engine

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

const (
	defaultPage = 50
	largestPage = 500
)

// size is the number of items that a page may have.
func (p PageRequest) size() int32 {
	if p.Limit <= 0 {
		return defaultPage
	}
	return int32(min(p.Limit, largestPage))
}

// paginate makes a page of rows that were read one beyond its size: the extra one says that there is more.
// cursor names the last row, from where the next page goes on.
func paginate[R, T any](rows []R, request PageRequest, item func(R) T, cursor func(last R) any) (Page[T], error) {
	size := int(request.size())
	page := Page[T]{Items: []T{}}
	if len(rows) > size {
		rows = rows[:size]
		next, err := encodeCursor(cursor(rows[size-1]))
		if err != nil {
			return Page[T]{}, err
		}
		page.NextCursor = &next
	}
	for _, row := range rows {
		page.Items = append(page.Items, item(row))
	}
	return page, nil
}

func encodeCursor(position any) (string, error) {
	content, err := json.Marshal(position)
	return base64.RawURLEncoding.EncodeToString(content), err
}

// decodeCursor reads what encodeCursor wrote; "" is the zero position, the beginning of the list.
func decodeCursor[C any](cursor string) (position C, err error) {
	if cursor == "" {
		return position, nil
	}
	content, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(content, &position)
	}
	if err != nil {
		return position, Refuse("bad_request", "the cursor is not one that this server gave")
	}
	return position, nil
}

// pattern makes a search text a LIKE pattern that matches it anywhere; nil for no search.
func pattern(search string) *string {
	search = strings.TrimSpace(search)
	if search == "" {
		return nil
	}
	escaped := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(cleanText(search)) + "%"
	return &escaped
}
