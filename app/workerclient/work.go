package workerclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// item is a leased attempt as the server sends it.
type item struct {
	LeaseID        string          `json:"leaseId"`
	Execution      string          `json:"execution"`
	Workflow       string          `json:"workflow"`
	Activity       string          `json:"activity"`
	Task           string          `json:"task"`
	Item           string          `json:"item"`
	Attempt        int             `json:"attempt"`
	Input          json.RawMessage `json:"input"`
	IdempotencyKey string          `json:"idempotencyKey"`
	CorrelationID  string          `json:"correlationId"`
}

func (i item) task() Task {
	return Task{Execution: i.Execution, Workflow: i.Workflow, Activity: i.Activity, Item: i.Item, Name: i.Task, Attempt: i.Attempt,
		Input: i.Input, IdempotencyKey: i.IdempotencyKey, CorrelationID: i.CorrelationID}
}

const (
	pollSeconds = 20
	mostAtOnce  = 50 // attempts leased by one poll
	answerBound = 30 * time.Second
)

// work polls as long as ctx lasts and starts a goroutine for each attempt.
func (c *Client) work(ctx, working context.Context, handlers *sync.WaitGroup) error {
	slots := make(chan struct{}, c.options.Concurrency)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		free := 1
		for more := true; more && free < mostAtOnce; {
			select {
			case slots <- struct{}{}:
				free++
			default:
				more = false
			}
		}
		items, err := c.poll(ctx, free)
		for range free - len(items) {
			<-slots
		}
		if err != nil {
			return err
		}
		for _, i := range items {
			handlers.Go(func() {
				defer func() { <-slots }()
				c.follow(working, i)
			})
		}
	}
}

// poll waits for work. A worker that the server does not know any more registers again.
func (c *Client) poll(ctx context.Context, most int) ([]item, error) {
	var answer struct {
		Items []item `json:"items"`
	}
	pause := firstPause
	for {
		err := c.call(ctx, (pollSeconds+15)*time.Second, "/workers/"+c.worker()+"/poll", map[string]any{"max": most, "waitSeconds": pollSeconds}, &answer)
		var refusal *Refusal
		switch {
		case err == nil || ctx.Err() != nil:
			return answer.Items, nil
		case errors.As(err, &refusal) && refusal.Status == 409:
			c.options.Log.Warn("the server does not know this worker any more, it registers again", "reason", refusal.Detail)
			if _, err := c.register(ctx); err != nil {
				return nil, err
			}
		case errors.As(err, &refusal) && !refusal.temporary():
			return nil, fmt.Errorf("ask for work: %w", err)
		default:
			c.options.Log.Warn("the server cannot be asked for work, it is tried again", "error", err)
			if pause = sleep(ctx, pause); ctx.Err() != nil {
				return nil, nil
			}
		}
	}
}

// follow makes an attempt and what the server answers to go on with.
func (c *Client) follow(ctx context.Context, first item) {
	for next := &first; next != nil; {
		next = c.attempt(ctx, *next)
	}
}

// attempt makes one attempt and sends what it came to.
func (c *Client) attempt(ctx context.Context, i item) (next *item) {
	handling, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.held[i.LeaseID] = cancel
	c.mu.Unlock()
	output, log, err := c.handleLogging(handling, i)
	if handling.Err() != nil {
		c.letGo(i.LeaseID)
		return nil // lost, or cut off: the lease ends and somebody else makes it
	}
	path, body := "/work/"+i.LeaseID+"/complete", map[string]any{"activity": i.Activity, "item": i.Item, "attempt": i.Attempt, "output": output}
	if err != nil {
		path, body = "/work/"+i.LeaseID+"/fail", failureBody(i, err)
	}
	body["log"] = log
	var answer struct {
		Next *item `json:"next"`
	}
	if err := c.insist(handling, path, body, &answer); err != nil {
		c.options.Log.Warn("a result was not taken", "execution", i.Execution, "activity", i.Activity, "error", err)
		c.letGo(i.LeaseID)
		return nil
	}
	c.mu.Lock()
	c.last = i.Activity
	delete(c.held, i.LeaseID)
	c.mu.Unlock()
	return answer.Next
}

// handleLogging calls the handler and sends what it says meanwhile; log is what is left to send.
func (c *Client) handleLogging(ctx context.Context, i item) (output any, log []string, err error) {
	task := i.task()
	task.log = &attemptLog{}
	sending, stop := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() { c.sendLog(sending, i.LeaseID, task.log) })
	output, err = c.handle(ctx, task)
	stop()
	sender.Wait()
	return output, task.log.take(), err
}

// handle calls the handler; a panic of it is a failure of this attempt alone.
func (c *Client) handle(ctx context.Context, task Task) (output any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the handler panicked: %v", fault)
		}
	}()
	handler := c.handlers[task.Name]
	if handler == nil {
		return nil, fmt.Errorf("there is no handler for the task %q", task.Name)
	}
	return handler(ctx, task)
}

func failureBody(i item, err error) map[string]any {
	failure := &Failure{Message: err.Error()}
	errors.As(err, &failure)
	return map[string]any{"activity": i.Activity, "item": i.Item, "attempt": i.Attempt, "retryAfterSeconds": failure.RetryAfter.Seconds(),
		"error": map[string]any{"type": failure.Type, "message": failure.Message, "detail": failure.Detail}}
}
