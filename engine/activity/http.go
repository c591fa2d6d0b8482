package activity

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"strconv"
	"time"
)

const (
	maxRedirects     = 10
	defaultMaxOutput = 16 << 20 // bytes of an answer, after decompression
)

// Dial opens a connection within this process, for a host that is not on any network.
type Dial func(ctx context.Context) (net.Conn, error)

// HTTPOptions set up the http kind.
type HTTPOptions struct {
	Egress    Egress
	Inside    map[string]Dial // by host name
	MaxOutput int64           // bytes of an answer; 0 = 16 MiB
	Now       func() time.Time
	Resolver  *net.Resolver // nil = the system's
}

// HTTP runs activities of type http: one request, its redirects followed, the answer parsed by its type.
type HTTP struct {
	client    *http.Client
	maxOutput int64
	now       func() time.Time
	grants    grants
	options   HTTPOptions
}

// NewHTTP makes the http kind.
func NewHTTP(options HTTPOptions) *HTTP {
	h := &HTTP{maxOutput: options.MaxOutput, now: options.Now, options: options}
	if h.maxOutput == 0 {
		h.maxOutput = defaultMaxOutput
	}
	if h.now == nil {
		h.now = time.Now
	}
	h.client = &http.Client{Transport: newTransport(options), CheckRedirect: checkRedirect}
	return h
}

// newTransport makes a transport that uses no proxy of the environment and a connection for every request:
// on a connection that is used again, net/http may send a request a second time by itself, and then an
// attempt would no longer be one request.
func newTransport(options HTTPOptions) *http.Transport {
	dialer := &net.Dialer{ControlContext: options.Egress.control, Resolver: options.Resolver}
	return &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err == nil && options.Inside[host] != nil {
				return options.Inside[host](ctx)
			}
			return dialer.DialContext(ctx, network, address)
		},
	}
}

// errTooManyRedirects ends a chain of redirects.
var errTooManyRedirects = errors.New("more than " + strconv.Itoa(maxRedirects) + " redirects")

// checkRedirect follows up to maxRedirects. What the author wrote into the headers goes only to the origin
// it was written for.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errTooManyRedirects
	}
	if origin(next) != origin(via[0]) {
		agent := next.Header.Get("User-Agent")
		next.Header = http.Header{"User-Agent": {agent}}
		if kind := via[0].Header.Get("Content-Type"); kind != "" && next.Body != nil {
			next.Header.Set("Content-Type", kind)
		}
	}
	return nil
}

func origin(r *http.Request) string { return r.URL.Scheme + "://" + r.URL.Host }

// Run makes one request. Its result is {status, headers, body, file}.
func (h *HTTP) Run(ctx context.Context, call Call) Outcome {
	given, failed := call.overConnection(ctx)
	if failed != nil {
		return *failed
	}
	inputs, err := readHTTPInputs(given)
	if err != nil {
		return invalid(err)
	}
	request, err := inputs.request(ctx, call.IdempotencyKey)
	if err != nil {
		return invalid(err)
	}
	trace(request.Header, call)
	if failed := h.authorise(request, inputs); failed != nil {
		return *failed
	}
	return h.exchange(ctx, request, inputs, call)
}

func invalid(err error) Outcome { return fail("input.invalid", classActivity, nil, "%s", err) }

// exchange sends the request and reads the answer.
func (h *HTTP) exchange(ctx context.Context, request *http.Request, inputs httpInputs, call Call) Outcome {
	started := h.now()
	answer, err := h.clientFor(inputs.route).Do(request)
	if err != nil {
		return h.unanswered(ctx, request, err, started)
	}
	defer answer.Body.Close()
	most := h.maxOutput
	if inputs.toFile && call.files != nil {
		most = call.files.Most()
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return h.unanswered(ctx, request, err, started)
	}
	if int64(len(content)) > most {
		return fail("output.too_large", classExternal, nil, "the answer of %s is larger than the limit of %d bytes%s",
			describe(request), most, announced(answer.ContentLength))
	}
	if inputs.toFile && inputs.expect.accepts(answer.StatusCode) {
		return saveAnswer(ctx, call, request, answer, content)
	}
	return inputs.judge(request, answer, content, h.now())
}

// saveAnswer keeps the body as a file, as it came.
func saveAnswer(ctx context.Context, call Call, request *http.Request, answer *http.Response, content []byte) Outcome {
	file, failed := call.save(ctx, answerName(request, answer), answer.Header.Get("Content-Type"), content)
	if failed != nil {
		return *failed
	}
	return Outcome{Value: map[string]any{
		"status": int64(answer.StatusCode), "headers": flattenHeaders(answer.Header), "body": nil, "file": file}}
}

// answerName is the name that the server gives its file, else the end of the path.
func answerName(request *http.Request, answer *http.Response) string {
	if _, said, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition")); err == nil && said["filename"] != "" {
		return path.Base(said["filename"])
	}
	if name := path.Base(request.URL.Path); name != "/" && name != "." {
		return name
	}
	return "answer"
}

func announced(length int64) string {
	if length < 0 {
		return ""
	}
	return fmt.Sprintf(" (it has %d)", length)
}

// describe names a request without its query and user, which may hold secrets.
func describe(r *http.Request) string {
	return r.Method + " " + origin(r) + r.URL.EscapedPath()
}

// unanswered says why there is no answer: the time ran out, somebody cancelled, or the transport failed.
func (h *HTTP) unanswered(ctx context.Context, request *http.Request, err error, started time.Time) Outcome {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail("timeout.attempt", classExternal, nil, "%s did not answer within %s",
			describe(request), h.now().Sub(started).Round(time.Millisecond))
	case ctx.Err() != nil:
		return fail("cancelled", classActivity, nil, "%s was cancelled", describe(request))
	}
	kind, cause := transportError(err)
	return fail(kind, classExternal, nil, "%s: %s", describe(request), cause)
}
