package workerclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// Refusal is an answer of the server that says no: its status and its problem document.
type Refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Detail) }

// temporary: the same request may be taken later.
func (r *Refusal) temporary() bool { return r.Status == http.StatusTooManyRequests || r.Status >= 500 }

func isRefusal(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal)
}

const (
	firstPause  = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// sleep waits for about the pause and answers the next one.
func sleep(ctx context.Context, pause time.Duration) time.Duration {
	select {
	case <-time.After(pause/2 + rand.N(pause)):
	case <-ctx.Done():
	}
	return min(2*pause, longestWait)
}

// insist calls until the server answers: while it cannot be reached or is not ready it is asked again.
func (c *Client) insist(ctx context.Context, path string, body, answer any) error {
	pause := firstPause
	for {
		err := c.call(ctx, answerBound, path, body, answer)
		var refusal *Refusal
		if err == nil || ctx.Err() != nil || errors.As(err, &refusal) && !refusal.temporary() {
			return err
		}
		c.options.Log.Warn("the server does not answer, it is asked again", "path", path, "error", err)
		pause = sleep(ctx, pause)
	}
}

// call posts a body and reads the answer; a refusal is a *Refusal.
func (c *Client) call(ctx context.Context, bound time.Duration, path string, body, answer any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return &Refusal{Status: 422, Code: "invalid_input", Detail: "it cannot be written as JSON: " + err.Error()}
	}
	if body == nil {
		encoded = nil
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	token, err := c.credential(ctx)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.options.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		refusal := &Refusal{}
		_ = json.Unmarshal(text, refusal) // a proxy may answer something else
		refusal.Status = response.StatusCode
		return refusal
	}
	if answer == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// credential is what the calls carry; "" when a certificate says who it is.
func (c *Client) credential(ctx context.Context) (string, error) {
	if c.options.Token == nil {
		return c.token, nil
	}
	token, err := c.options.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("get a token: %w", err)
	}
	return token, nil
}
