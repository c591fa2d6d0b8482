package activity

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/google/uuid"
)

// trace tells the service which execution asks, unless the author set the headers: the correlation id, and a
// traceparent whose trace is the execution and whose parent is this attempt.
func trace(header http.Header, call Call) {
	if call.CorrelationID != "" {
		setDefault(header, "X-Correlation-Id", call.CorrelationID)
	}
	if execution, err := uuid.Parse(call.Execution); err == nil {
		setDefault(header, "Traceparent", "00-"+hex.EncodeToString(execution[:])+"-"+SpanOf(call.Execution, call.Activity, call.Item, call.Attempt)+"-01")
	}
}

// SpanOf is the span of an attempt, the same wherever it is computed.
func SpanOf(execution, activity, item string, attempt int) string {
	sum := sha256.Sum256([]byte(execution + "\x1f" + activity + "\x1f" + item + "\x1f" + strconv.Itoa(attempt)))
	return hex.EncodeToString(sum[:8])
}
