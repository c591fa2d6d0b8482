package ui

import (
	"fmt"
	"maps"
	"slices"

	"weftline/engine/flow"
)

// File is a link to a file that a value holds.
type File struct {
	URL, Name, Size string
}

// FileOf is the link of a value that stands for a file; ok is false when it stands for none.
func FileOf(value any) (file File, ok bool) {
	id, ok := flow.FileID(value)
	if !ok {
		return File{}, false
	}
	said := value.(map[string]any)
	file = File{URL: "/api/v1/files/" + id, Name: id}
	if name, _ := said["name"].(string); name != "" {
		file.Name = name
	}
	switch size := said["size"].(type) {
	case int64:
		file.Size = Bytes(size)
	case float64:
		file.Size = Bytes(int64(size))
	}
	return file, true
}

// FilesIn are the files that a value holds, wherever in it, each once.
func FilesIn(value any) []File {
	var files []File
	collectFiles(value, &files)
	return files
}

func collectFiles(value any, files *[]File) {
	if file, ok := FileOf(value); ok {
		if !slices.Contains(*files, file) {
			*files = append(*files, file)
		}
		return
	}
	switch part := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(part)) {
			collectFiles(part[name], files)
		}
	case []any:
		for _, inner := range part {
			collectFiles(inner, files)
		}
	}
}

// Bytes is a size for people: 900 B, 12 KiB, 1.5 MiB.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", (n+1<<9)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
