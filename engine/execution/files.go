package execution

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/google/uuid"
)

var (
	fileMark  = []byte(`"$file":`)
	fileValue = regexp.MustCompile(`"\$file":"([0-9a-f-]{36})"`)
)

// FilesIn lists the files that encoded events name, each once: as long as the history is kept, so are they.
func FilesIn(encoded []byte) []uuid.UUID {
	if !bytes.Contains(encoded, fileMark) {
		return nil
	}
	var ids []uuid.UUID
	for _, found := range fileValue.FindAllSubmatch(encoded, -1) {
		if id, err := uuid.ParseBytes(found[1]); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
