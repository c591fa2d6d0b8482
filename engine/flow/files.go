package flow

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// FileKey is the key of a value that stands for a file: {"$file": id, name, type, size, sha256}.
	FileKey = "$file"
	// fileKeyword marks a schema whose values are files: true, or {accept: [media types], maxSize: size}.
	fileKeyword = "x-file"
)

// FileRule says which files a file field takes.
type FileRule struct {
	Accept  []string // media types, image/* for all of a kind; none = any
	MaxSize int64    // bytes; 0 = the server's limit
}

// Refusal says why a file does not fit, "" when it does. The media type is the one that its sender named.
func (r FileRule) Refusal(mediaType string, size int64) string {
	if r.MaxSize > 0 && size > r.MaxSize {
		return fmt.Sprintf("the file has %d bytes, at most %d are accepted", size, r.MaxSize)
	}
	if len(r.Accept) > 0 && !slices.ContainsFunc(r.Accept, func(accepted string) bool { return mediaFits(accepted, mediaType) }) {
		return fmt.Sprintf("a file of the type %s is not accepted; it has to be %s", mediaType, strings.Join(r.Accept, " or "))
	}
	return ""
}

func mediaFits(accepted, mediaType string) bool {
	if kind, all := strings.CutSuffix(accepted, "*"); all {
		return strings.HasPrefix(strings.ToLower(mediaType), kind)
	}
	return strings.EqualFold(accepted, mediaType)
}

// FileRuleOf reads the mark of a schema that stands for files; ok is false without one.
func FileRuleOf(schema map[string]any) (rule FileRule, ok bool) {
	switch mark := schema[fileKeyword].(type) {
	case bool:
		return FileRule{}, mark
	case map[string]any:
		accept, _ := mark["accept"].([]any)
		for _, one := range accept {
			media, _ := one.(string)
			rule.Accept = append(rule.Accept, media)
		}
		size, _ := mark["maxSize"].(string)
		rule.MaxSize = parseSize(size)
		return rule, true
	}
	return FileRule{}, false
}

// MarksFiles reports whether anything in a schema stands for a file.
func MarksFiles(schema any) bool {
	switch part := schema.(type) {
	case map[string]any:
		if _, ok := FileRuleOf(part); ok {
			return true
		}
		for _, inner := range part {
			if MarksFiles(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(part, MarksFiles)
	}
	return false
}

var mediaForm = regexp.MustCompile(`^[a-z]+/(\*|[a-z0-9][a-z0-9.+_-]*)$`)

// checkFileMarks finds marks that mean nothing, wherever they stand.
func checkFileMarks(schema any, at []string) error {
	switch part := schema.(type) {
	case map[string]any:
		if mark, ok := part[fileKeyword]; ok && !slices.Contains(namesMembers, last(at)) {
			if fault := faultOfFileMark(mark, part["type"]); fault != "" {
				return &schemaError{pointer: append(at, fileKeyword), message: fileKeyword + " " + fault}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part)) {
			if err := checkFileMarks(part[name], append(slices.Clone(at), name)); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range part {
			if err := checkFileMarks(inner, append(slices.Clone(at), fmt.Sprint(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// namesMembers are the keywords whose keys are names of the author's, not keywords.
var namesMembers = []string{"properties", "patternProperties", "$defs", "dependentSchemas", "default", "const", "examples"}

func last(steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	return steps[len(steps)-1]
}

func faultOfFileMark(mark, kind any) string {
	if kind != nil && kind != "object" {
		return "needs type: object, since a file is the value {" + FileKey + ": id, name, type, size, sha256}"
	}
	rule, isRule := mark.(map[string]any)
	if _, isBool := mark.(bool); !isRule && !isBool {
		return "is true, or accept and maxSize"
	}
	for key, value := range rule {
		switch key {
		case "accept":
			if !listsMedia(value) {
				return "accept is a list of media types such as application/pdf or image/*"
			}
		case "maxSize":
			if text, _ := value.(string); parseSize(text) <= 0 {
				return "maxSize is a size such as 5MiB"
			}
		default:
			return "has accept and maxSize, not " + key
		}
	}
	return ""
}

func listsMedia(value any) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool {
		text, _ := one.(string)
		return !mediaForm.MatchString(text)
	})
}

// ReplaceFiles is a value in which each file is what replace makes of it; at is its JSON pointer. The value
// given is not changed.
func (s *Schema) ReplaceFiles(value any, replace func(at string, rule FileRule, file any) any) any {
	if !MarksFiles(s.Source) {
		return value
	}
	return replaceFiles(s.Source, value, fileWalk{root: s.Source, replace: replace}, "", 0)
}

type fileWalk struct {
	root    map[string]any
	replace func(at string, rule FileRule, file any) any
}

// replaceFiles walks as applyDefaults does: properties, items, allOf and local references.
func replaceFiles(schema, value any, walk fileWalk, at string, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || value == nil || depth > maxNesting {
		return value
	}
	if rule, ok := FileRuleOf(s); ok {
		return walk.replace(at, rule, value)
	}
	if ref, ok := s["$ref"].(string); ok {
		value = replaceFiles(resolveRef(walk.root, ref), value, walk, at, depth+1)
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, part := range all {
			value = replaceFiles(part, value, walk, at, depth+1)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		out := maps.Clone(v)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if member, given := out[name]; given {
				out[name] = replaceFiles(properties[name], member, walk, at+jsonPointer([]string{name}), depth+1)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = replaceFiles(s["items"], out[i], walk, fmt.Sprintf("%s/%d", at, i), depth+1)
		}
		return out
	}
	return value
}

// FileID is the id in a value that stands for a file; ok is false when it stands for none.
func FileID(value any) (id string, ok bool) {
	object, _ := value.(map[string]any)
	id, ok = object[FileKey].(string)
	return id, ok
}
