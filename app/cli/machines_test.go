package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weftline/app/login/logintest"
	"weftline/app/workerclient"
)

// authority signs certificates for one test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, next: 1}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// sign makes a certificate that is good until an instant.
func (a *authority) sign(subject pkix.Name, use x509.ExtKeyUsage, until time.Time) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.next++
	template := &x509.Certificate{SerialNumber: big.NewInt(a.next), Subject: subject, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{use}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) client(subject pkix.Name) tls.Certificate {
	return a.sign(subject, x509.ExtKeyUsageClientAuth, time.Now().Add(time.Hour))
}

// write stores PEM files and answers their names.
func write(t *testing.T, folder, name string, certificate []byte, key any) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600); err != nil {
		t.Fatal(err)
	}
	if key == nil {
		return certFile, ""
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// machineWorld is a server that speaks TLS, knows an authority and an issuer, and has a rule for each.
type machineWorld struct {
	t      *testing.T
	ca     *authority
	issuer *logintest.Provider
	url    string
}

const machineToken = "an-admin-token-for-tests"

func newMachineWorld(t *testing.T, rules string) *machineWorld {
	w := &machineWorld{t: t, ca: newAuthority(t), issuer: logintest.New(t)}
	folder := t.TempDir()
	own := w.ca.sign(pkix.Name{CommonName: "server"}, x509.ExtKeyUsageServerAuth, time.Now().Add(time.Hour))
	cert, key := write(t, folder, "server", own.Certificate[0], own.PrivateKey)
	roots, _ := write(t, folder, "ca", w.ca.cert.Raw, nil)
	env := map[string]string{"WEFTLINE_BOOTSTRAP_TOKEN": machineToken, "WEFTLINE_TLS_CERT": cert, "WEFTLINE_TLS_KEY": key, "WEFTLINE_TLS_CLIENT_CA": roots}
	if rules != "" {
		env["WEFTLINE_WORKER_ISSUER"], env["WEFTLINE_WORKER_AUDIENCE"], env["WEFTLINE_WORKER_RULES"] = w.issuer.URL, "weftline-workers", rules
	}
	w.url = startServer(t, env).url
	return w
}

// http is a client that trusts the authority and shows a certificate, or none.
func (w *machineWorld) http(certificates ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(w.ca.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// asks posts a body, or gets without one, and answers status and document.
func (w *machineWorld) asks(client *http.Client, token, path, body string, headers ...string) (int, map[string]any) {
	w.t.Helper()
	method := "POST"
	if body == "" {
		method = "GET"
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, map[string]any{"error": err.Error()}
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	answer := map[string]any{}
	_ = json.Unmarshal(text, &answer) // what is no document has no keys
	return response.StatusCode, answer
}

const registration = `{"hostname":"h","activities":["render"]}`

// Who has a certificate of the authority or a token of the issuer, and a rule, may work for the team of the rule,
// and nothing else; everybody else is refused before any lease.
func TestMachinesComeByCertificateAndByToken(t *testing.T) {
	w := newMachineWorld(t, "cert.cn=render-1:worker,cert.o=Globex:worker@globex,azp=renderer:worker,roles=workers:worker@globex")
	stranger := newAuthority(t)
	stranger.cert.Subject = w.ca.cert.Subject
	token := func(by map[string]any) string { return w.issuer.ClientToken("renderer", "weftline-workers", by) }
	for name, c := range map[string]struct {
		client *http.Client
		token  string
		status int
	}{
		"a certificate with a rule":               {w.http(w.ca.client(pkix.Name{CommonName: "render-1"})), "", 201},
		"a certificate of another team":           {w.http(w.ca.client(pkix.Name{CommonName: "x", Organization: []string{"Globex"}})), "", 201},
		"a certificate without a rule":            {w.http(w.ca.client(pkix.Name{CommonName: "render-2"})), "", 403},
		"a certificate of somebody else":          {w.http(stranger.client(pkix.Name{CommonName: "render-1"})), "", 0},
		"a certificate that has ended":            {w.http(w.ca.sign(pkix.Name{CommonName: "render-1"}, x509.ExtKeyUsageClientAuth, time.Now().Add(-time.Minute))), "", 0},
		"a certificate of a server":               {w.http(w.ca.sign(pkix.Name{CommonName: "render-1"}, x509.ExtKeyUsageServerAuth, time.Now().Add(time.Hour))), "", 0},
		"nothing":                                 {w.http(), "", 401},
		"a token with a rule":                     {w.http(), token(nil), 201},
		"a token with a list of roles":            {w.http(), token(map[string]any{"azp": "other", "roles": []string{"a", "workers"}}), 201},
		"a token without a rule":                  {w.http(), token(map[string]any{"azp": "other"}), 403},
		"a token for another program":             {w.http(), w.issuer.ClientToken("renderer", "billing", nil), 401},
		"a token that has ended":                  {w.http(), token(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), 401},
		"a token without an end":                  {w.http(), token(map[string]any{"exp": nil}), 401},
		"a token of another issuer":               {w.http(), token(map[string]any{"iss": "https://example.com"}), 401},
		"a token that nobody signed":              {w.http(), logintest.UnsignedToken(token(nil)), 401},
		"a token that claims to be a certificate": {w.http(), token(map[string]any{"azp": "other", "cert": map[string]any{"cn": "render-1"}, "cert.cn": "render-1"}), 403},
		"a wrong token beside a good certificate": {w.http(w.ca.client(pkix.Name{CommonName: "render-1"})), "nonsense", 401},
		"a token of this server":                  {w.http(), machineToken, 201},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := w.asks(c.client, c.token, "/workers", registration)
			if status != c.status {
				t.Errorf("registering is answered %d, expected %d: %v", status, c.status, answer)
			}
			if id, _ := answer["workerId"].(string); status == 201 && c.token != machineToken {
				if status, answer := w.asks(c.client, c.token, "/workers/"+id+"/poll", `{"waitSeconds":0}`); status != 200 {
					t.Errorf("polling is answered %d: %v", status, answer)
				}
				if status, _ := w.asks(c.client, c.token, "/workflows", ""); status != 403 {
					t.Errorf("a worker may list workflows: %d", status)
				}
			}
		})
	}
	if status, _ := w.asks(w.http(w.ca.client(pkix.Name{CommonName: "render-1"})), "", "/workers", registration, "Sec-Fetch-Site", "cross-site"); status != 403 {
		t.Errorf("a page in a browser may use its certificate: %d", status)
	}
	w.issuer.Set(func(p *logintest.Provider) { p.Down = true })
	if status, _ := w.asks(w.http(), token(nil), "/workers", registration); status != 201 {
		t.Errorf("with its keys known, an issuer that is down is missed: %d", status)
	}
}

// Without rules about certificates the authority alone decides.
func TestACertificateOfTheAuthorityIsEnough(t *testing.T) {
	w := newMachineWorld(t, "")
	client := w.http(w.ca.client(pkix.Name{CommonName: "render-7"}))
	if status, answer := w.asks(client, "", "/workers", registration); status != 201 {
		t.Fatalf("%d %v", status, answer)
	}
	_, listed := w.asks(w.http(), machineToken, "/workers", "")
	found := false
	for _, item := range listed["items"].([]any) {
		found = found || item.(map[string]any)["registeredBy"] == "certificate:render-7"
	}
	if !found {
		t.Errorf("the worker is not known by its certificate: %v", listed)
	}
}

// The Go client works by a certificate, by a token that it gets anew for each call, and only for its own team.
func TestTheGoClientComesByEither(t *testing.T) {
	w := newMachineWorld(t, "cert.cn=mine:worker,cert.cn=theirs:worker@globex,azp=renderer:worker")
	const definition = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: video}
spec:
  activities:
    - {id: render, type: worker, inputs: {task: render, input: {frames: 24}}}
  output: {by: activities.render.output.output.by}
`
	admin := w.http()
	request, _ := http.NewRequest("PUT", w.url+"/api/v1/workflows/video/draft", bytes.NewReader([]byte(definition)))
	request.Header.Set("Authorization", "Bearer "+machineToken)
	request.Header.Set("If-None-Match", "*")
	if response, err := admin.Do(request); err != nil || response.StatusCode != 200 {
		t.Fatalf("%v %v", response, err)
	}
	if status, answer := w.asks(admin, machineToken, "/workflows/video/publish", `{}`); status != 201 {
		t.Fatalf("%d %v", status, answer)
	}
	worker := func(by string, options workerclient.Options) func() {
		options.Log = slog.New(slog.DiscardHandler)
		client := workerclient.New(w.url, "", options)
		client.Handle("render", func(context.Context, workerclient.Task) (any, error) { return map[string]any{"by": by}, nil })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- client.Run(ctx) }()
		return func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the worker %s ends with %v", by, err)
			}
		}
	}
	stopTheirs := worker("theirs", workerclient.Options{HTTP: w.http(w.ca.client(pkix.Name{CommonName: "theirs"}))})
	defer stopTheirs()
	for by, options := range map[string]workerclient.Options{
		"certificate": {HTTP: w.http(w.ca.client(pkix.Name{CommonName: "mine"}))},
		"token": {HTTP: w.http(), Token: func(context.Context) (string, error) {
			return w.issuer.ClientToken("renderer", "weftline-workers", nil), nil
		}},
	} {
		stop := worker(by, options)
		status, started := w.asks(admin, machineToken, "/workflows/video/executions", `{}`)
		if status != 202 {
			t.Fatalf("%d %v", status, started)
		}
		if got := w.ended(started["id"].(string))["output"].(map[string]any)["by"]; got != by {
			t.Errorf("the task was made by %v, expected %s", got, by)
		}
		stop()
	}
}

// ended waits until an execution is over.
func (w *machineWorld) ended(id string) map[string]any {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, detail := w.asks(w.http(), machineToken, "/executions/"+id, ""); detail["status"] == "completed" {
			return detail
		}
	}
	w.t.Fatalf("execution %s does not end", id)
	return nil
}

func TestSettingsOfMachines(t *testing.T) {
	for args, expected := range map[string]string{
		"--tls-cert x":                          "tls-cert and tls-key belong together",
		"--tls-client-ca x":                     "tls-client-ca needs tls-cert and tls-key",
		"--worker-issuer https://a.example.org": "worker-issuer and worker-audience belong together",
		"--worker-issuer https://a.example.org --worker-audience w":                          "worker-rules are missing",
		"--worker-issuer http://a.example.org --worker-audience w --worker-rules a=b:worker": "must be https",
		"--worker-issuer https://a.example.org --worker-audience w --worker-rules a=b:admin": "with one of the scopes worker, run, read",
		"--tls-cert /nowhere/cert.pem --tls-key /nowhere/key.pem --addr 127.0.0.1:0":         "tls-cert",
	} {
		got := call(t, nil, "", append([]string{"serve"}, strings.Fields(args)...)...)
		if got.code != 1 || !strings.Contains(got.err, expected) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
