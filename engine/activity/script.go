package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"weftline/engine/expr"
)

const (
	javascript = "javascript"

	scriptTail    = 64 << 10 // bytes of stdout and of stderr that a result keeps
	sandboxMemory = 128 << 20
	sandboxCPU    = 60_000 // milliseconds
)

// ScriptOptions set up the script kind.
type ScriptOptions struct {
	Sandbox   []string // command and arguments of a process that calls ServeSandbox
	Languages []string // further ones that may run as processes: bash, python, node
	MaxOutput int64    // bytes of the output as JSON; 0 = 16 MiB
	Memory    int64    // bytes that a sandboxed script may take; 0 = 128 MiB
	CPU       int64    // milliseconds of processor time of a sandboxed script; 0 = 60,000
}

// Script runs activities of type script: JavaScript in a sandbox process, other languages as processes of
// their own where the operator allows them.
type Script struct {
	boxes        *sandboxes
	interpreters map[string]string // language → program
	options      ScriptOptions
	verdicts     verdicts
}

// NewScript makes the script kind and starts a first sandbox beside. An error says which language has no
// interpreter on this machine.
func NewScript(options ScriptOptions) (*Script, error) {
	options.MaxOutput = cmpOr(options.MaxOutput, defaultMaxOutput)
	options.Memory = cmpOr(options.Memory, sandboxMemory)
	options.CPU = cmpOr(options.CPU, sandboxCPU)
	s := &Script{boxes: &sandboxes{command: options.Sandbox}, interpreters: map[string]string{}, options: options}
	for _, language := range options.Languages {
		program, known := interpreterNames[language]
		if !known {
			return nil, fmt.Errorf("scripts in %q cannot be enabled; there are bash, python and node", language)
		}
		path, err := exec.LookPath(program)
		if err != nil {
			return nil, fmt.Errorf("scripts in %s are enabled, but %s is not on this machine: %w", language, program, err)
		}
		s.interpreters[language] = path
	}
	go s.boxes.warm()
	return s, nil
}

func cmpOr(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// Close ends the sandboxes that wait.
func (s *Script) Close() { s.boxes.close() }

// Languages are those that scripts may be written in here.
func (s *Script) Languages() []string {
	return append(slices.Sorted(maps.Keys(s.interpreters)), javascript)
}

// Unable refuses languages that are not enabled here, so that publishing can.
func (s *Script) Unable(inputs *expr.Value) string {
	language, _ := literalInput(inputs, "language").(string)
	if language == "" || language == javascript || s.interpreters[language] != "" {
		return ""
	}
	return fmt.Sprintf("scripts in %s are not enabled; write it in javascript, or start a worker with --enable-script %s", language, language)
}

// Run runs one script. Its result is {exitCode, stdout, stderr, output, files}.
func (s *Script) Run(ctx context.Context, call Call) Outcome {
	inputs, err := readScriptInputs(call.Input)
	if err != nil {
		return invalid(err)
	}
	if err := inputs.fetch(ctx, call); err != nil {
		return invalid(err)
	}
	printed := newPrinted(call)
	if inputs.language == javascript {
		return s.runSandboxed(ctx, call, inputs, printed)
	}
	program := s.interpreters[inputs.language]
	if program == "" {
		return fail("engine.unsupported_type", classActivity, nil, "scripts in %s are not enabled on this worker (--enable-script)", inputs.language)
	}
	return s.runProcess(ctx, program, atMost(scriptMemory, call.MaxMemory), call, inputs, printed)
}

func (s *Script) runSandboxed(ctx context.Context, call Call, inputs scriptInputs, printed *printed) Outcome {
	input, err := json.Marshal(inputs.input)
	if err != nil {
		return invalid(fmt.Errorf("input cannot be written as JSON: %w", err))
	}
	end, err := s.boxes.run(ctx, call.Team, sandboxOrder{Source: inputs.source, Input: input,
		Memory: atMost(s.options.Memory, call.MaxMemory), CPU: s.options.CPU, MaxOutput: s.options.MaxOutput}, printed.line)
	switch {
	case ctx.Err() != nil:
		return unfinished(ctx, printed)
	case err != nil:
		return fail("engine.sandbox", classInfrastructure, nil, "%s", err)
	case end.Fault != nil:
		return faultOutcome(end.Fault, printed)
	}
	output, err := decodeOutput(end.Output)
	if err != nil {
		return fail("output.invalid", classActivity, printed.detail(0), "the value that return gives: %s", err)
	}
	return printed.result(output)
}

// atMost is the limit of the operator, or that of the workflow where it is lower; 0 = it has none.
func atMost(operators, workflows int64) int64 {
	if workflows == 0 {
		return operators
	}
	return min(operators, workflows)
}

func faultOutcome(fault *sandboxFault, printed *printed) Outcome {
	detail := printed.detail(1)
	message := fault.Message
	if fault.Line > 0 {
		detail["line"], detail["column"] = int64(fault.Line), int64(fault.Column)
		message += fmt.Sprintf(" (line %d, column %d)", fault.Line, fault.Column)
	}
	return fail(fault.Type, classActivity, detail, "%s", message)
}

// unfinished is the outcome of a script that was ended from outside.
func unfinished(ctx context.Context, printed *printed) Outcome {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fail("timeout.attempt", classActivity, printed.detail(nil), "the script did not end in time and was stopped")
	}
	return fail("cancelled", classActivity, nil, "the script was cancelled")
}

// decodeOutput reads JSON exactly; nothing is null.
func decodeOutput(content []byte) (any, error) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return nil, nil
	}
	return expr.DecodeJSON(content)
}

// literalInput is an input that is written out in the definition; nil when it is an expression or absent.
func literalInput(inputs *expr.Value, key string) any {
	if whole, ok := inputs.Literal(); ok {
		named, _ := whole.(map[string]any)
		return named[key]
	}
	value, _ := inputs.Fields()[key].Literal()
	return value
}

// interpreterNames are the languages that an operator may enable, with their programs.
var interpreterNames = map[string]string{"bash": "bash", "python": "python3", "node": "node"}
