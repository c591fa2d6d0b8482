// Package openapi owns the making of an OpenAPI 3.1 document from a list of operations and the Go types
// that they read and write, so that the document cannot drift from the code. It must not know handlers.
package openapi

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Operation is one endpoint.
type Operation struct {
	Method, Path string   // Path with :name parameters
	ID           string   // unique; the handler's name
	Says         string   // what it does, one sentence
	Right        string   // what the credential must allow, "" = no credential
	Query        []string // names of query parameters
	Takes        any      // an example of the body's type, Text for a definition, nil = none
	Answers      any      // an example of the answer's type, Text for a definition, nil = none
	Status       int      // of a good answer
}

// Text stands for a body that is the text of a definition.
type Text struct{}

type object = map[string]any

// Document makes the document. problem is an example of the type of all refusals.
func Document(operations []Operation, problem any) map[string]any {
	schemas := newSchemas()
	refusal := object{"description": "a refusal or a fault", "content": object{"application/problem+json": object{"schema": schemas.of(reflect.TypeOf(problem))}}}
	paths := object{}
	for _, operation := range operations {
		path := templateOf(operation.Path)
		item, _ := paths[path].(object)
		if item == nil {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(operation.Method)] = schemas.operation(operation)
	}
	return object{
		"openapi":           "3.1.0",
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"info": object{"title": "Weftline", "version": "1", "description": "Workflows, executions and human tasks. " +
			"Every refusal is a problem document (RFC 9457) with a stable code."},
		"servers": []any{object{"url": "/"}},
		"paths":   paths,
		"components": object{
			"schemas":   schemas.components,
			"responses": object{"Problem": refusal},
			"securitySchemes": object{
				"token":   object{"type": "http", "scheme": "bearer"},
				"session": object{"type": "apiKey", "in": "cookie", "name": "weftline_session"},
			},
		},
	}
}

func (s *schemas) operation(o Operation) object {
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	answer := object{"description": http.StatusText(status)}
	if o.Answers != nil {
		answer["content"] = s.content(o.Answers)
	}
	made := object{
		"operationId": o.ID, "summary": o.Says,
		"responses": object{strconv.Itoa(status): answer, "default": object{"$ref": "#/components/responses/Problem"}},
	}
	if parameters := parametersOf(o); len(parameters) > 0 {
		made["parameters"] = parameters
	}
	if o.Takes != nil {
		made["requestBody"] = object{"content": s.content(o.Takes)}
	}
	if o.Right != "" {
		made["security"] = []any{object{"token": []any{}}, object{"session": []any{}}}
		made["description"] = "Needs the right " + o.Right + "."
	}
	return made
}

func (s *schemas) content(example any) object {
	if _, isText := example.(Text); isText {
		return object{"application/yaml": object{"schema": object{"type": "string"}}, "application/json": object{"schema": object{"type": "object"}}}
	}
	return object{"application/json": object{"schema": s.of(reflect.TypeOf(example))}}
}

var parameter = regexp.MustCompile(`:(\w+)`)

// templateOf writes :name as {name}, and the rest of a path as {path}.
func templateOf(path string) string {
	return strings.Replace(parameter.ReplaceAllString(path, "{$1}"), "*", "{path}", 1)
}

func parametersOf(o Operation) []any {
	var all []any
	for _, match := range parameter.FindAllStringSubmatch(o.Path, -1) {
		all = append(all, object{"name": match[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	if strings.HasSuffix(o.Path, "*") {
		all = append(all, object{"name": "path", "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range o.Query {
		all = append(all, object{"name": name, "in": "query", "schema": object{"type": "string"}})
	}
	return all
}
