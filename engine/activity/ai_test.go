package activity_test

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"weftline/engine/activity"
)

// assistant is a chat endpoint that gives one answer and keeps the question.
func assistant(t *testing.T, message map[string]any, asked *map[string]any) activity.Connection {
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer hunter2-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data": []}`)
			return
		}
		if asked != nil {
			json.NewDecoder(r.Body).Decode(asked)
			(*asked)["path"] = r.URL.Path
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
			"usage": map[string]any{"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}})
	})
	return activity.Connection{Name: "assistant", Kind: "ai", Settings: map[string]any{"baseUrl": address + "/v1/", "model": "small"},
		Secrets: map[string]string{"apiKey": "hunter2-key"}}
}

var countSchema = map[string]any{"type": "object", "required": []any{"count"}, "additionalProperties": false,
	"properties": map[string]any{"count": map[string]any{"type": "integer"}}}

func TestAIAsksAndAnswers(t *testing.T) {
	asked := map[string]any{}
	service := assistant(t, map[string]any{"content": "Hello"}, &asked)
	got := result(t, over(t, "ai", activity.NewAI(loopback(t)), map[string]any{
		"connection": "assistant", "prompt": "Say hello", "maxTokens": int64(100), "temperature": 0.5}, service))
	want := map[string]any{"text": "Hello", "json": nil,
		"usage": map[string]any{"promptTokens": int64(12), "completionTokens": int64(5), "totalTokens": int64(17)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("result %v", got)
	}
	wantAsked := map[string]any{"path": "/v1/chat/completions", "model": "small", "max_tokens": 100.0, "temperature": 0.5,
		"messages": []any{map[string]any{"role": "user", "content": "Say hello"}}}
	if !reflect.DeepEqual(asked, wantAsked) {
		t.Errorf("asked %v", asked)
	}
}

func TestAnswersOfAIAreCheckedAgainstTheSchema(t *testing.T) {
	for content, want := range map[string]any{
		`{"count": 3}`:                   map[string]any{"count": int64(3)},
		"```json\n{\"count\": 3}\n```\n": map[string]any{"count": int64(3)},
		`{"count": "three"}`:             nil,
		`{"count": 3, "more": 1}`:        nil,
		`about three`:                    nil,
	} {
		service := assistant(t, map[string]any{"content": content}, nil)
		outcome := over(t, "ai", activity.NewAI(loopback(t)), map[string]any{"connection": "assistant", "prompt": "?", "responseSchema": countSchema}, service)
		if want == nil {
			wantError(t, outcome, "output.invalid")
			continue
		}
		if got := result(t, outcome)["json"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %v", content, got)
		}
	}
}

func TestErrorTypesOfAI(t *testing.T) {
	input := map[string]any{"connection": "assistant", "prompt": "?"}
	ask := func(service activity.Connection, input map[string]any) activity.Outcome {
		return over(t, "ai", activity.NewAI(loopback(t)), input, service)
	}
	wantError(t, ask(assistant(t, map[string]any{"refusal": "I cannot"}, nil), input), "ai.refused", "I cannot")
	wantError(t, ask(assistant(t, map[string]any{}, nil), input), "output.invalid", "stop")
	keyless := assistant(t, map[string]any{"content": "x"}, nil)
	keyless.Secrets = nil
	wantError(t, ask(keyless, input), "http.401")
	if err := activity.NewAI(loopback(t)).Test(t.Context(), keyless); err == nil {
		t.Error("a connection without its key passes the test")
	}
	if err := activity.NewAI(loopback(t)).Test(t.Context(), assistant(t, nil, nil)); err != nil {
		t.Error(err)
	}
	nameless := assistant(t, map[string]any{"content": "x"}, nil)
	delete(nameless.Settings, "model")
	wantError(t, ask(nameless, input), "input.invalid", "model")
	wantError(t, ask(nameless, map[string]any{"connection": "assistant"}), "input.invalid", "prompt")
}
