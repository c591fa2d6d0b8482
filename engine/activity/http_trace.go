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
		setDefault(header, "Traceparent", "00-"+hex.EncodeToString(execution[:])+"-"+attemptSpan(call)+"-01")
	}
}

// attemptSpan is the same for an attempt wherever it is computed.
func attemptSpan(call Call) string {
	sum := sha256.Sum256([]byte(call.Execution + "\x1f" + call.Activity + "\x1f" + call.Item + "\x1f" + strconv.Itoa(call.Attempt)))
	return hex.EncodeToString(sum[:8])
}
