package activity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// authKeys are the settings of each way to authenticate; those of "must" are required.
var authKeys = map[string]struct{ must, may []string }{
	"basic":   {must: []string{"username", "password"}},
	"bearer":  {must: []string{"token"}},
	"api_key": {must: []string{"name", "value"}, may: []string{"in"}},
	"hmac":    {must: []string{"secret"}, may: []string{"header"}},
	"oauth2":  {must: []string{"tokenUrl", "clientId", "clientSecret"}, may: []string{"scope"}},
}

// readAuth reads {type, …settings}, all of them text.
func (in *httpInputs) readAuth(given map[string]any) error {
	if given["auth"] == nil {
		return nil
	}
	auth, ok := given["auth"].(map[string]any)
	if !ok {
		return fmt.Errorf("auth must be a map with a type")
	}
	kind, _ := auth["type"].(string)
	keys, known := authKeys[kind]
	if !known {
		return fmt.Errorf("auth.type must be basic, bearer, api_key, hmac or oauth2, not %v", auth["type"])
	}
	for key, value := range auth {
		if key != "type" && !slices.Contains(keys.must, key) && !slices.Contains(keys.may, key) {
			return fmt.Errorf("auth of type %s has no %q", kind, key)
		}
		if _, ok := value.(string); !ok {
			return fmt.Errorf("auth.%s must be a text", key)
		}
	}
	for _, key := range keys.must {
		if auth[key] == nil {
			return fmt.Errorf("auth of type %s needs %q", kind, key)
		}
	}
	in.auth = auth
	return nil
}

func (in *httpInputs) authText(key string) string {
	text, _ := in.auth[key].(string)
	return text
}

// authorise puts the credential on the request; a failure ends the attempt.
func (h *HTTP) authorise(request *http.Request, in httpInputs) *Outcome {
	switch in.auth["type"] {
	case "basic":
		request.SetBasicAuth(in.authText("username"), in.authText("password"))
	case "bearer":
		request.Header.Set("Authorization", "Bearer "+in.authText("token"))
	case "api_key":
		addKey(request, in)
	case "hmac":
		h.sign(request, in)
	case "oauth2":
		return h.authoriseByGrant(request, in)
	}
	return nil
}

func addKey(request *http.Request, in httpInputs) {
	if in.authText("in") == "query" {
		query := request.URL.Query()
		query.Set(in.authText("name"), in.authText("value"))
		request.URL.RawQuery = query.Encode()
		return
	}
	request.Header.Set(in.authText("name"), in.authText("value"))
}

// sign adds t=<unix seconds>,v1=<hex HMAC-SHA256(secret, t + "." + body)>, as webhook triggers expect it.
func (h *HTTP) sign(request *http.Request, in httpInputs) {
	at := strconv.FormatInt(h.now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(in.authText("secret")))
	mac.Write([]byte(at + "."))
	mac.Write(in.body)
	header := in.authText("header")
	if header == "" {
		header = "X-Weftline-Signature"
	}
	request.Header.Set(header, "t="+at+",v1="+hex.EncodeToString(mac.Sum(nil)))
}
