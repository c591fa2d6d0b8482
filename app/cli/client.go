package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/app/api"
	"weftline/app/strictjson"
)

// client speaks the HTTP API of a server.
type client struct {
	base, token string
	http        http.Client
}

// clientOf finds the server in WEFTLINE_URL and WEFTLINE_TOKEN.
func clientOf(t Terminal) (*client, error) {
	base := t.env("WEFTLINE_URL")
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	token := t.env("WEFTLINE_TOKEN")
	if token == "" {
		return nil, errors.New("set WEFTLINE_TOKEN to an API token; `weftline token create --name me --scopes read,run` makes one")
	}
	return &client{base: strings.TrimRight(base, "/"), token: token}, nil
}

// refused is a problem document as an error.
type refused struct{ api.Problem }

func (r refused) Error() string {
	text := fmt.Sprintf("%s: %s (%s)", r.Title, r.Detail, r.Code)
	for _, problem := range r.Errors {
		text += "\n  " + problem.Path + ": " + problem.Message
	}
	return text
}

// call sends JSON, or text as it is, and reads the JSON answer exactly. A POST carries an Idempotency-Key.
func (c *client) call(ctx context.Context, method, path string, body any, headers map[string]string) (answer any, head http.Header, err error) {
	content, mediaType, err := encode(body)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.base+"/api/v1"+path, bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", mediaType)
	}
	if method == http.MethodPost {
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot reach the server; is WEFTLINE_URL right, and does it run? %w", err)
	}
	defer response.Body.Close()
	content, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	answer, err = decode(response, content)
	return answer, response.Header, err
}

func encode(body any) (content []byte, mediaType string, err error) {
	switch body := body.(type) {
	case nil:
		return nil, "", nil
	case []byte:
		return body, api.YAML, nil
	}
	content, err = json.Marshal(body)
	return content, "application/json", err
}

func decode(response *http.Response, content []byte) (any, error) {
	if response.StatusCode >= http.StatusBadRequest {
		var problem api.Problem
		if err := json.Unmarshal(content, &problem); err != nil || problem.Code == "" {
			return nil, fmt.Errorf("the server answered %s", response.Status)
		}
		return nil, refused{problem}
	}
	if !strings.Contains(response.Header.Get("Content-Type"), "json") {
		return string(content), nil
	}
	return strictjson.Parse(content)
}

func (c *client) get(ctx context.Context, path string) (any, error) {
	answer, _, err := c.call(ctx, http.MethodGet, path, nil, nil)
	return answer, err
}

func (c *client) post(ctx context.Context, path string, body any) (any, error) {
	answer, _, err := c.call(ctx, http.MethodPost, path, body, nil)
	return answer, err
}

// escape makes a part of a path.
func escape(part string) string { return url.PathEscape(part) }

// field digs into a JSON answer; a missing one is nil.
func field(value any, path ...string) any {
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func fieldText(value any, path ...string) string {
	switch found := field(value, path...).(type) {
	case nil:
		return ""
	case string:
		return found
	default:
		return inJSON(found)
	}
}

func items(value any) []any {
	list, _ := field(value, "items").([]any)
	return list
}

// printJSON writes a value for programs, indented.
func printJSON(w io.Writer, value any) error {
	encoder := plainEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// plainEncoder writes one JSON value a line and leaves <, > and & as they are.
func plainEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}
