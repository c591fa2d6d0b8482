package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// mostShown is how much of a value is shown, in bytes of JSON.
const mostShown = 64 << 10

// Evaluate shows what an expression gives. What is wrong with the expression is part of the answer; an error is
// what is wrong with the question.
func (c *catalog) Evaluate(ctx context.Context, who Who, name string, request EvaluateRequest) (Evaluated, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseWithin)
	defer cancel()
	if request.Expression == "" {
		return Evaluated{}, &Error{Code: "invalid_input", Message: "an expression is needed",
			Problems: []flow.Problem{{Path: "/expression", Code: "invalid_input", Severity: "error", Message: "is empty"}}}
	}
	workflow, state, err := c.basis(ctx, who, name, request)
	if err != nil {
		return Evaluated{}, err
	}
	program, err := compile(request)
	if err != nil {
		return Evaluated{Error: expressionError(err)}, nil
	}
	value, err := execution.Preview(workflow, state, request.Activity, request.Item, program)
	if err != nil {
		return Evaluated{Error: expressionError(err)}, nil
	}
	return shown(value)
}

// basis is the state that an expression is evaluated on: of an execution of this workflow, else of a plan.
func (c *catalog) basis(ctx context.Context, who Who, name string, request EvaluateRequest) (*flow.Workflow, *execution.State, error) {
	if request.Execution != nil {
		workflow, state, err := c.state(ctx, who, *request.Execution)
		if err == nil && workflow.Name != name {
			err = Refuse("not_found", fmt.Sprintf("the workflow %s has no execution %s", name, request.Execution))
		}
		return workflow, state, err
	}
	workflow, err := c.workflowToTry(ctx, who, name, request.Definition)
	if err != nil {
		return nil, nil, err
	}
	input, err := c.inputToTry(workflow, request.Input)
	if err != nil {
		return nil, nil, err
	}
	return workflow, rehearse.State(c.planOf(ctx, who, workflow, input, PlanRequest{Mocks: request.Mocks, StartedAt: c.now()})), nil
}

func compile(request EvaluateRequest) (*expr.Value, error) {
	if request.Template {
		return expr.CompileTemplate(request.Expression)
	}
	bare, _, err := expr.Unwrap(request.Expression)
	if err != nil {
		return nil, err
	}
	if bare != request.Expression {
		return expr.CompileTemplate(request.Expression) // the same, with places in the text that was sent
	}
	program, err := expr.Compile(bare)
	if err != nil {
		return nil, err
	}
	return expr.Expression(program), nil
}

func expressionError(err error) *ExpressionError {
	var e *expr.Error
	if !errors.As(err, &e) {
		var failed *execution.Error
		if errors.As(err, &failed) {
			return &ExpressionError{Message: failed.Message}
		}
		return &ExpressionError{Message: err.Error()}
	}
	return &ExpressionError{Code: e.Code, Message: e.Message, Hint: e.Hint, Line: e.Line, Column: e.Column, EndLine: e.EndLine, EndColumn: e.EndColumn}
}

// shown is a value as it is answered: of a large one the beginning.
func shown(value any) (Evaluated, error) {
	answer := Evaluated{Value: value, Kind: kindWord(value)}
	content, err := json.Marshal(value)
	if err != nil {
		return Evaluated{}, fmt.Errorf("show the value of an expression: %w", err)
	}
	if len(content) > mostShown {
		for content = content[:mostShown]; !utf8.Valid(content); {
			content = content[:len(content)-1]
		}
		answer.Value, answer.Truncated = string(content), true
	}
	return answer, nil
}

func kindWord(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, float64:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	}
	return "object"
}
