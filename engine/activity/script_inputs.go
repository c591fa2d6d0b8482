package activity

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weftline/engine/flow"
)

// scriptInputs are the inputs of a script, checked.
type scriptInputs struct {
	language, source string
	input            any // javascript only; all others are for processes
	args             []string
	env              []string // NAME=value
	stdin            string
	files            map[string]string // by path within the working folder
	stored           map[string]string // ids of files, by path
}

// onlyFor says which inputs a sandbox has, and which a process has.
var onlyFor = map[bool][]string{true: {"args", "env", "stdin", "files"}, false: {"input"}}

func readScriptInputs(given any) (in scriptInputs, err error) {
	inputs, ok := given.(map[string]any)
	if !ok {
		return in, fmt.Errorf("a script needs a language and a source")
	}
	in.language, _ = inputs["language"].(string)
	in.source, ok = inputs["source"].(string)
	if in.language == "" || !ok {
		return in, fmt.Errorf("a script needs a language and a source, both texts")
	}
	for _, key := range onlyFor[in.language == javascript] {
		if inputs[key] != nil {
			return in, fmt.Errorf("a script in %s has no %s; hand data in by %s", in.language, key, strings.Join(onlyFor[in.language != javascript], ", "))
		}
	}
	in.input = inputs["input"]
	if in.stdin, err = textInput("stdin", inputs["stdin"]); err != nil {
		return in, err
	}
	if err := in.readArgs(inputs["args"]); err != nil {
		return in, err
	}
	if err := in.readEnv(inputs["env"]); err != nil {
		return in, err
	}
	return in, in.readFiles(inputs["files"])
}

// textInput takes a scalar as expressions print it; null is "".
func textInput(what string, given any) (string, error) {
	if given == nil {
		return "", nil
	}
	text, ok := scalar(given)
	if !ok {
		return "", fmt.Errorf("%s must be a text; write toJSON(…) to hand in a list or an object", what)
	}
	return text, nil
}

func (in *scriptInputs) readArgs(given any) error {
	list, isList := given.([]any)
	if given != nil && !isList {
		return fmt.Errorf("args must be a list of texts")
	}
	for i, one := range list {
		text, err := textInput(fmt.Sprintf("args[%d]", i), one)
		if err != nil {
			return err
		}
		if strings.Contains(text, "\x00") {
			return fmt.Errorf("args[%d] holds a NUL character, which no argument can", i)
		}
		in.args = append(in.args, text)
	}
	return nil
}

func (in *scriptInputs) readEnv(given any) error {
	named, err := textMap("env", given)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(named[name], "\x00") {
			return fmt.Errorf("env: %q is no variable that a process can have", name)
		}
		in.env = append(in.env, name+"="+named[name])
	}
	return nil
}

// readFiles takes texts and files by their path.
func (in *scriptInputs) readFiles(given any) error {
	named, isMap := given.(map[string]any)
	if given != nil && !isMap {
		return fmt.Errorf("files must be a map of names to texts or files")
	}
	in.files, in.stored = map[string]string{}, map[string]string{}
	for name, value := range named {
		if !filepath.IsLocal(name) || filepath.Clean(name) == "." || strings.Contains(name, "\x00") {
			return fmt.Errorf("files: %q is no name within the script's folder", name)
		}
		if id, ok := flow.FileID(value); ok {
			in.stored[name] = id
			continue
		}
		text, err := textInput("files."+name, value)
		if err != nil {
			return err
		}
		in.files[name] = text
	}
	return nil
}

// fetch reads the files that are kept apart.
func (in *scriptInputs) fetch(ctx context.Context, call Call) error {
	for _, name := range slices.Sorted(maps.Keys(in.stored)) {
		_, _, content, err := call.load(ctx, in.stored[name])
		if err != nil {
			return fmt.Errorf("files.%s: %w", name, err)
		}
		in.files[name] = string(content)
	}
	return nil
}

func textMap(what string, given any) (map[string]string, error) {
	named, isMap := given.(map[string]any)
	if given != nil && !isMap {
		return nil, fmt.Errorf("%s must be a map of names to texts", what)
	}
	texts := make(map[string]string, len(named))
	for name, value := range named {
		text, err := textInput(what+"."+name, value)
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	return texts, nil
}
