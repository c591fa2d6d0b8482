package activity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// AI runs activities of type ai: one question to a chat endpoint that speaks the OpenAI protocol, over the
// guarded client of the http kind.
type AI struct{ http *HTTP }

// NewAI makes the ai kind.
func NewAI(http *HTTP) *AI { return &AI{http} }

// aiInputs are the inputs of a question, checked.
type aiInputs struct {
	connection, model string
	messages          []any
	schema            map[string]any // nil = the answer is text
	maxTokens         any
	temperature       any
}

func readAIInputs(given any) (in aiInputs, err error) {
	inputs, _ := given.(map[string]any)
	if in.connection, _ = inputs["connection"].(string); in.connection == "" {
		return in, fmt.Errorf("ai needs a connection")
	}
	if in.model, err = textInput("model", inputs["model"]); err != nil {
		return in, err
	}
	prompt, err := textInput("prompt", inputs["prompt"])
	if err != nil {
		return in, err
	}
	messages, isList := inputs["messages"].([]any)
	switch {
	case prompt != "" && messages != nil:
		return in, fmt.Errorf("give prompt or messages, not both")
	case prompt != "":
		messages = []any{map[string]any{"role": "user", "content": prompt}}
	case !isList || len(messages) == 0:
		return in, fmt.Errorf("ai needs a prompt, or messages: a list of {role, content}")
	}
	in.messages, in.maxTokens, in.temperature = messages, inputs["maxTokens"], inputs["temperature"]
	in.schema, _ = inputs["responseSchema"].(map[string]any)
	return in, nil
}

// Run asks once. Its result is {text, json, usage}: json is null without responseSchema.
func (a *AI) Run(ctx context.Context, call Call) Outcome {
	in, err := readAIInputs(call.Input)
	if err != nil {
		return invalid(err)
	}
	connection, failed := call.connection(ctx, in.connection, "ai")
	if failed != nil {
		return *failed
	}
	if in.model == "" {
		in.model = connection.text("model")
	}
	if in.model == "" {
		return invalid(fmt.Errorf("ai needs a model, here or in the settings of the connection %s", in.connection))
	}
	outcome := a.ask(ctx, connection, "/chat/completions", in.body(), call.IdempotencyKey)
	if outcome.Err != nil {
		return outcome
	}
	return in.answer(outcome.Value)
}

// Test lists the models, which proves address and key and costs nothing.
func (a *AI) Test(ctx context.Context, connection Connection) error {
	if outcome := a.ask(ctx, connection, "/models", nil, ""); outcome.Err != nil {
		return fmt.Errorf("%s", outcome.Err.Message)
	}
	return nil
}

// ask makes one request; without a body it is a GET.
func (a *AI) ask(ctx context.Context, connection Connection, path string, body any, idempotencyKey string) Outcome {
	base, err := connection.baseURL()
	if err != nil {
		return invalid(fmt.Errorf("the connection %s: %w", connection.Name, err))
	}
	input := map[string]any{"method": http.MethodGet, "url": base + path}
	if body != nil {
		input["method"], input["body"] = http.MethodPost, body
	}
	if key := connection.Secrets["apiKey"]; key != "" {
		input["auth"] = map[string]any{"type": "bearer", "token": key}
	}
	return a.http.Run(ctx, Call{Input: input, IdempotencyKey: idempotencyKey})
}

func (in *aiInputs) body() map[string]any {
	body := map[string]any{"model": in.model, "messages": in.messages}
	if in.maxTokens != nil {
		body["max_tokens"] = in.maxTokens
	}
	if in.temperature != nil {
		body["temperature"] = in.temperature
	}
	if in.schema != nil {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": in.schema}}
	}
	return body
}

// completion is what is read of an answer.
type completion struct {
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
			Refusal *string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	} `json:"usage"`
}

func (in *aiInputs) answer(value any) Outcome {
	result, _ := value.(map[string]any)
	var answer completion
	content, err := json.Marshal(result["body"])
	if err == nil {
		err = json.Unmarshal(content, &answer)
	}
	if err != nil || len(answer.Choices) == 0 {
		return fail("output.invalid", classExternal, nil, "%s did not answer as a chat endpoint does", in.connection)
	}
	choice := answer.Choices[0]
	usage := map[string]any{"promptTokens": answer.Usage.Prompt, "completionTokens": answer.Usage.Completion, "totalTokens": answer.Usage.Total}
	detail := map[string]any{"finishReason": choice.FinishReason, "usage": usage}
	switch {
	case choice.Message.Refusal != nil && *choice.Message.Refusal != "":
		return fail("ai.refused", classExternal, detail, "the model refuses: %s", clipText(*choice.Message.Refusal, maxFaultText))
	case choice.Message.Content == nil:
		return fail("output.invalid", classExternal, detail, "%s gave no text (%s)", in.connection, choice.FinishReason)
	}
	text := *choice.Message.Content
	made := map[string]any{"text": text, "json": nil, "usage": usage}
	if in.schema == nil {
		return Outcome{Value: made}
	}
	detail["text"] = clipText(text, maxErrorDetail)
	if made["json"], err = in.structured(text); err != nil {
		return fail("output.invalid", classExternal, detail, "the answer %s", err)
	}
	return Outcome{Value: made}
}

// structured reads JSON, which some models wrap in a fence of Markdown, and checks it.
func (in *aiInputs) structured(text string) (any, error) {
	schema, err := flow.NewSchema(in.schema)
	if err != nil {
		return nil, fmt.Errorf("cannot be checked: responseSchema: %w", err)
	}
	plain := strings.TrimSpace(text)
	if fenced, ok := strings.CutPrefix(plain, "```json"); ok {
		plain = strings.TrimSuffix(strings.TrimSpace(fenced), "```")
	}
	value, err := expr.DecodeJSON(bytes.TrimSpace([]byte(plain)))
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	checked, problems := schema.Check(value)
	if len(problems) > 0 {
		return nil, fmt.Errorf("does not fit responseSchema: at %q: %s", problems[0].Path, problems[0].Message)
	}
	return checked, nil
}
