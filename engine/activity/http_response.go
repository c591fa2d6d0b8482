package activity

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"weftline/engine/expr"
)

const (
	maxErrorDetail = 64 << 10         // bytes of a refused answer kept in error.detail
	maxRetryAfter  = 15 * time.Minute // what a Retry-After header may ask for
)

// judge turns an answer into the outcome: an expected status gives the result, another one the failure
// http.<code> with the body as its detail.
func (in *httpInputs) judge(request *http.Request, answer *http.Response, content []byte, now time.Time) Outcome {
	if !in.expect.accepts(answer.StatusCode) {
		return refusedAnswer(request, answer, content, now)
	}
	body, err := parseBody(answer.Header.Get("Content-Type"), content)
	if err != nil {
		return fail("output.invalid", classExternal, clip(content), "the answer of %s %s", describe(request), err)
	}
	if err := in.expect.checkBody(body); err != nil {
		return fail("output.invalid", classExternal, body, "the answer of %s does not fit expect.schema: %s", describe(request), err)
	}
	return Outcome{Value: map[string]any{
		"status":  int64(answer.StatusCode),
		"headers": flattenHeaders(answer.Header),
		"body":    body,
		"file":    nil,
	}}
}

func refusedAnswer(request *http.Request, answer *http.Response, content []byte, now time.Time) Outcome {
	var detail any = clip(content)
	if body, err := parseBody(answer.Header.Get("Content-Type"), content); err == nil && len(content) <= maxErrorDetail {
		detail = body
	}
	outcome := fail("http."+strconv.Itoa(answer.StatusCode), classExternal, detail, "%s answered %s", describe(request), statusText(answer.StatusCode))
	outcome.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), now)
	return outcome
}

func statusText(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// clip keeps the beginning of content as text that JSON can hold.
func clip(content []byte) string {
	if len(content) > maxErrorDetail {
		content = content[:maxErrorDetail]
	}
	return strings.ToValidUTF8(string(content), "\uFFFD")
}

// retryAfter reads seconds or a date, at most 15 minutes from now; 0 = nothing usable was said.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return min(time.Duration(min(seconds, 3600))*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return min(at.Sub(now), maxRetryAfter)
	}
	return 0
}

// flattenHeaders gives lower-case names, several values joined by ", ".
func flattenHeaders(header http.Header) map[string]any {
	flat := make(map[string]any, len(header))
	for name, values := range header {
		flat[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	return flat
}

var byteOrderMark = []byte("\xef\xbb\xbf") // some servers put it before JSON, where it must not be

// parseBody reads a body by its content type: JSON as values, text as UTF-8, nothing as null, anything
// else as base64.
func parseBody(contentType string, content []byte) (any, error) {
	if len(content) == 0 {
		return nil, nil
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = ""
	}
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		value, err := expr.DecodeJSON(bytes.TrimPrefix(content, byteOrderMark))
		if err != nil {
			return nil, fmt.Errorf("says %s but is not JSON: %w", kind, err)
		}
		return value, nil
	case isText(kind) && parameters["charset"] != "":
		return decodeText(parameters["charset"], content)
	case (isText(kind) || kind == "") && utf8.Valid(content):
		return string(content), nil
	}
	return base64.StdEncoding.EncodeToString(content), nil
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || kind == "application/xml" ||
		kind == "application/javascript" || kind == "application/x-www-form-urlencoded" || kind == "application/yaml"
}

func decodeText(charset string, content []byte) (any, error) {
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		return nil, fmt.Errorf("is in the unknown charset %q", charset)
	}
	text, err := encoding.NewDecoder().Bytes(content)
	if err != nil {
		return nil, fmt.Errorf("is not valid %s text", charset)
	}
	return string(text), nil
}
