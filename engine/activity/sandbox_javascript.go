package activity

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

const (
	maxCallDepth   = 2000
	maxConsoleLine = 16 << 10 // bytes; what is longer is cut
	maxFaultText   = 8 << 10  // bytes of a message that a script throws
)

// The source becomes the body of a function, so that return works. It stands on lines of its own, so that
// columns are the author's; lines are one too high.
const (
	scriptBegin = "(function () {\n"
	scriptEnd   = "\n})()"
)

// runJavaScript runs one script in an interpreter of its own, whose only global beside the language's is
// input, and console.
func runJavaScript(order sandboxOrder, say func(stream, line string)) sandboxReport {
	if order.OnlyRead {
		_, fault := compileScript(order.Source)
		return sandboxReport{Fault: fault}
	}
	vm := goja.New()
	vm.SetMaxCallStackSize(maxCallDepth)
	vm.SetParserOptions(parser.WithDisableSourceMaps) // a source map would be read from a file
	stringify, err := furnish(vm, order.Input, say)
	if err != nil {
		return faulty("input.invalid", "the input cannot be read: %s", err)
	}
	program, fault := compileScript(order.Source)
	if fault != nil {
		return sandboxReport{Fault: fault}
	}
	value, err := vm.RunProgram(program)
	if err == nil {
		value, err = settle(vm, value)
	}
	if err != nil {
		return sandboxReport{Fault: thrown(err)}
	}
	return outputOf(stringify, value, order.MaxOutput)
}

// furnish sets the globals. stringify is the language's own, whatever a script does to JSON.
func furnish(vm *goja.Runtime, input json.RawMessage, say func(stream, line string)) (stringify goja.Callable, err error) {
	object := vm.Get("JSON").ToObject(vm)
	parse, _ := goja.AssertFunction(object.Get("parse"))
	stringify, _ = goja.AssertFunction(object.Get("stringify"))
	value, err := parse(goja.Undefined(), vm.ToValue(string(input)))
	if err != nil {
		return nil, err
	}
	console := vm.NewObject()
	for name, stream := range map[string]string{"log": "stdout", "info": "stdout", "debug": "stdout", "warn": "stderr", "error": "stderr"} {
		err = errors.Join(err, console.Set(name, func(call goja.FunctionCall) goja.Value {
			for line := range strings.SplitSeq(consoleText(stringify, call.Arguments), "\n") {
				say(stream, clipText(line, maxConsoleLine))
			}
			return goja.Undefined()
		}))
	}
	return stringify, errors.Join(err, vm.Set("input", value), vm.Set("console", console))
}

// consoleText prints texts as they are and everything else as JSON, as far as it has any.
func consoleText(stringify goja.Callable, values []goja.Value) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = value.String()
		if _, isObject := value.(*goja.Object); !isObject {
			continue
		}
		if text, err := stringify(goja.Undefined(), value); err == nil && !goja.IsUndefined(text) {
			words[i] = text.String()
		}
	}
	return strings.Join(words, " ")
}

func compileScript(source string) (*goja.Program, *sandboxFault) {
	tree, err := parser.ParseFile(nil, "script", scriptBegin+source+scriptEnd, 0, parser.WithDisableSourceMaps)
	if err == nil {
		var program *goja.Program
		if program, err = goja.CompileAST(tree, false); err == nil {
			return program, nil
		}
	}
	fault := &sandboxFault{Type: "script.exit", Message: "SyntaxError: " + clipText(err.Error(), maxFaultText)}
	var list parser.ErrorList
	var compiler *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		fault.Message = "SyntaxError: " + list[0].Message
		fault.Line, fault.Column = list[0].Position.Line-1, list[0].Position.Column
	case errors.As(err, &compiler):
		fault.Message = "SyntaxError: " + compiler.Message
		if compiler.File != nil {
			position := compiler.File.Position(compiler.Offset)
			fault.Line, fault.Column = position.Line-1, position.Column
		}
	}
	if fault.Line > 1+strings.Count(source, "\n") { // it stands in what is put around the source
		fault.Message = "SyntaxError: the script ends too early: a bracket, a block or a text is not closed"
	}
	return nil, fault
}

// settle waits for a promise. Everything that could fulfil one has run: there are no timers and no input.
func settle(vm *goja.Runtime, value goja.Value) (goja.Value, error) {
	promise, ok := value.Export().(*goja.Promise)
	if !ok {
		return value, nil
	}
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		return promise.Result(), nil
	case goja.PromiseStateRejected:
		return nil, fmt.Errorf("%s", promise.Result())
	}
	return nil, errors.New("the promise that was returned is never fulfilled: nothing can happen after the script has ended")
}

func thrown(err error) *sandboxFault {
	fault := &sandboxFault{Type: "script.exit", Message: clipText(err.Error(), maxFaultText)}
	var exception *goja.Exception
	var overflow *goja.StackOverflowError
	switch {
	case errors.As(err, &overflow):
		exception = &overflow.Exception
		fault.Message = fmt.Sprintf("RangeError: calls are nested deeper than %d", maxCallDepth)
	case errors.As(err, &exception):
		fault.Message = clipText(exception.Value().String(), maxFaultText)
	default:
		return fault
	}
	for _, frame := range exception.Stack() {
		if position := frame.Position(); frame.SrcName() == "script" && position.Line > 1 {
			fault.Line, fault.Column = position.Line-1, position.Column
			break
		}
	}
	return fault
}

// outputOf gives the returned value as JSON; undefined is none.
func outputOf(stringify goja.Callable, value goja.Value, most int64) sandboxReport {
	text, err := stringify(goja.Undefined(), value)
	if err != nil {
		fault := thrown(err)
		fault.Type, fault.Message = "output.invalid", "the value that return gives has no JSON form: "+fault.Message
		return sandboxReport{Fault: fault}
	}
	if goja.IsUndefined(text) {
		return sandboxReport{}
	}
	content := text.String()
	if int64(len(content)) > most {
		return faulty("output.too_large", "the value that return gives has %d bytes as JSON, the limit is %d", len(content), most)
	}
	return sandboxReport{Output: json.RawMessage(content)}
}

func faulty(kind, format string, args ...any) sandboxReport {
	return sandboxReport{Fault: &sandboxFault{Type: kind, Message: fmt.Sprintf(format, args...)}}
}

func faultMemory(limit int64) *sandboxFault {
	return &sandboxFault{Type: "limit.memory", Message: fmt.Sprintf("the script took more than %d MiB of memory", limit>>20)}
}

func faultCPU(limit int64) *sandboxFault {
	return &sandboxFault{Type: "limit.cpu", Message: fmt.Sprintf("the script took more than %d ms of processor time", limit)}
}

// clipText cuts a text, never within a character.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
