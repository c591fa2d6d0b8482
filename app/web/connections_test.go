package web

import (
	"strings"
	"testing"
)

func TestConnectionsOverTheAPI(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	const settings = `{"baseUrl": "http://127.0.0.1:1/v1", "model": "small"}`
	admin.must(204, "PUT", "/secrets/AI_KEY", `{"value": "hunter2-key"}`)
	kept := admin.must(200, "PUT", "/connections/assistant", `{"kind": "ai", "settings": `+settings+`, "secrets": {"apiKey": "AI_KEY"}}`)
	if kept["name"] != "assistant" || kept["secrets"].(map[string]any)["apiKey"] != "AI_KEY" {
		t.Errorf("kept %v", kept)
	}
	admin.must(422, "PUT", "/connections/assistant", `{"kind": "ai", "settings": {"baseUrl": "nowhere"}}`)
	admin.must(422, "PUT", "/connections/assistant", `{"kind": "ai", "value": "hunter2"}`)
	items := admin.must(200, "GET", "/connections", "")["items"].([]any)
	if len(items) != 1 || items[0].(map[string]any)["settings"].(map[string]any)["model"] != "small" {
		t.Errorf("list %v", items)
	}
	tested := admin.must(200, "POST", "/connections/assistant/test", "")
	if tested["ok"] != false || strings.Contains(tested["message"].(string), "hunter2") {
		t.Errorf("tested %v", tested)
	}
	reader := caller{t, base, admin.must(201, "POST", "/tokens", `{"name": "r", "scopes": ["read", "author"], "serviceAccount": {"name": "reader"}}`)["token"].(string)}
	reader.must(200, "GET", "/connections", "")
	reader.must(403, "PUT", "/connections/assistant", `{"kind": "ai", "settings": `+settings+`}`)
	reader.must(403, "POST", "/connections/assistant/test", "")
	reader.must(403, "DELETE", "/connections/assistant", "")
	admin.must(204, "DELETE", "/connections/assistant", "")
	admin.must(404, "DELETE", "/connections/assistant", "")
	admin.must(404, "POST", "/connections/assistant/test", "")
}
