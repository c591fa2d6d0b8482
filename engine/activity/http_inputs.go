package activity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// httpInputs are the resolved inputs of an http activity.
type httpInputs struct {
	route   route
	toFile  bool // the answer is kept as a file
	method  string
	url     *url.URL
	headers http.Header
	body    []byte // nil = none
	auth    map[string]any
	expect  expectation
}

var httpKeys = []string{"method", "url", "query", "headers", "body", "form", "auth", "expect", "saveAs", "tls", "proxy"}

func readHTTPInputs(input any) (inputs httpInputs, err error) {
	given, ok := input.(map[string]any)
	if !ok {
		return inputs, fmt.Errorf("the inputs must be a map with a url")
	}
	for key := range given {
		if !slices.Contains(httpKeys, key) {
			return inputs, fmt.Errorf("this server does not know the input %q of http", key)
		}
	}
	switch save := given["saveAs"]; save {
	case nil, "body":
	case "file":
		inputs.toFile = true
	default:
		return inputs, fmt.Errorf("saveAs is body or file, not %v", save)
	}
	steps := []func(map[string]any) error{inputs.readTransport, inputs.readMethod, inputs.readURL, inputs.readHeaders, inputs.readBody, inputs.readAuth, inputs.readExpect}
	for _, read := range steps {
		if err := read(given); err != nil {
			return inputs, err
		}
	}
	return inputs, nil
}

func (in *httpInputs) readMethod(given map[string]any) error {
	in.method = http.MethodGet
	if given["method"] == nil {
		return nil
	}
	method, ok := given["method"].(string)
	if !ok || !isToken(method) {
		return fmt.Errorf("method must be a word such as GET or POST, not %v", given["method"])
	}
	in.method = strings.ToUpper(method)
	return nil
}

func (in *httpInputs) readURL(given map[string]any) error {
	text, _ := given["url"].(string)
	parsed, err := url.Parse(strings.TrimSpace(text))
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return fmt.Errorf("url must be an absolute http or https address")
	}
	query, err := parameters("query", given["query"])
	if err != nil {
		return err
	}
	if len(query) > 0 {
		parsed.RawQuery = strings.TrimPrefix(parsed.RawQuery+"&"+query.Encode(), "&")
	}
	in.url = parsed
	return nil
}

// parameters reads a map of names to a scalar or a list of scalars; null is left out.
func parameters(what string, given any) (url.Values, error) {
	values := url.Values{}
	if given == nil {
		return values, nil
	}
	named, ok := given.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s must be a map of names to values", what)
	}
	for name, value := range named {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, one := range list {
			if one == nil {
				continue
			}
			text, ok := scalar(one)
			if !ok {
				return nil, fmt.Errorf("%s.%s must be a text, number, boolean or a list of them", what, name)
			}
			values.Add(name, text)
		}
	}
	return values, nil
}

// scalar prints a value as expressions do: whole numbers without ".0".
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func (in *httpInputs) readHeaders(given map[string]any) error {
	in.headers = http.Header{}
	named, err := parameters("headers", given["headers"])
	if err != nil {
		return err
	}
	for name, values := range named {
		for _, value := range values {
			if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
				return fmt.Errorf("the header %q is no valid header", name)
			}
			in.headers.Add(textproto.TrimString(name), value)
		}
	}
	return nil
}

// isToken reports whether text may stand as a method or header name (RFC 9110 §5.6.2).
func isToken(text string) bool {
	for _, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return text != ""
}

func (in *httpInputs) readBody(given map[string]any) error {
	body, form := given["body"], given["form"]
	switch {
	case body != nil && form != nil:
		return fmt.Errorf("give body or form, not both")
	case form != nil:
		values, err := parameters("form", form)
		if err != nil {
			return err
		}
		in.setBody([]byte(values.Encode()), "application/x-www-form-urlencoded")
	case body != nil:
		return in.encodeBody(body)
	}
	return nil
}

func (in *httpInputs) encodeBody(body any) error {
	if text, ok := body.(string); ok {
		in.setBody([]byte(text), "text/plain; charset=utf-8")
		return nil
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return fmt.Errorf("the body cannot be written as JSON: %w", err)
	}
	in.setBody(bytes.TrimRight(buffer.Bytes(), "\n"), "application/json")
	return nil
}

// setBody keeps a content type that the author gave.
func (in *httpInputs) setBody(body []byte, contentType string) {
	in.body = body
	if in.headers.Get("Content-Type") == "" {
		in.headers.Set("Content-Type", contentType)
	}
}

// request makes the HTTP request; the idempotency key goes with POST and PATCH unless the author set one.
func (in *httpInputs) request(ctx context.Context, idempotencyKey string) (*http.Request, error) {
	var body io.Reader
	if in.body != nil {
		body = bytes.NewReader(in.body)
	}
	request, err := http.NewRequestWithContext(ctx, in.method, in.url.String(), body)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be made: %w", err)
	}
	request.Header = in.headers.Clone()
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	setDefault(request.Header, "User-Agent", "Weftline")
	if in.method == http.MethodPost || in.method == http.MethodPatch {
		setDefault(request.Header, "Idempotency-Key", idempotencyKey)
	}
	return request, nil
}

func setDefault(header http.Header, name, value string) {
	if header.Get(name) == "" && value != "" {
		header.Set(name, value)
	}
}
