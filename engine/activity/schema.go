package activity

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compileSchema reads a JSON Schema 2020-12 that refers to nothing outside itself.
func compileSchema(source map[string]any) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("weftline:expect", source); err != nil {
		return nil, err
	}
	return compiler.Compile("weftline:expect")
}
