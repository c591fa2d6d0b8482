package web

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that does not finish its request is cut off, whichever part it holds back, and keeps nobody else from
// being answered.
func TestAClientThatHoldsARequestBackIsCutOff(t *testing.T) {
	server, _ := newTestServer(t, func(o *Options) { o.Arrival = 200 * time.Millisecond })
	base := listen(t, server)
	for name, part := range map[string]string{
		"nothing":         "",
		"half a line":     "GET /healthz HT",
		"half a header":   "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"half a body":     "POST /api/v1/workflows/w/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer may-admin\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"half of a chunk": "POST /api/v1/workflows/w/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer may-admin\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n{",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if response, err := http.Get(base + "/healthz"); err != nil || response.StatusCode != 200 {
			t.Errorf("%s: others are not answered: %v", name, err)
		} else {
			response.Body.Close()
		}
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // of the test, not of the server
		reader := bufio.NewReader(conn)
		for {
			line, err := reader.ReadString('\n')
			if strings.HasPrefix(line, "HTTP/1.1 2") {
				t.Errorf("%s: it is taken for a request: %s", name, line)
			}
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Errorf("%s: the connection stays open", name)
			}
			if err != nil {
				break
			}
		}
	}
}
