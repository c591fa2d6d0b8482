package activity_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"weftline/engine/activity"
)

// mailbox is a small SMTP server (RFC 5321) on loopback, with STARTTLS and AUTH PLAIN. It keeps what it takes.
type mailbox struct {
	address  *net.TCPAddr
	tls      *tls.Config
	roots    *x509.CertPool
	implicit bool              // TLS from the first byte
	answers  map[string]string // by command, instead of the usual one

	mu     sync.Mutex
	taken  []taken
	logins []string
}

// taken is one mail with its envelope.
type taken struct {
	from    string
	to      []string
	content string
	secured bool
}

func newMailbox(t *testing.T, change ...func(*mailbox)) *mailbox {
	t.Helper()
	m := &mailbox{}
	m.tls, m.roots = certificate(t)
	for _, f := range change {
		f(m)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if m.address = listener.Addr().(*net.TCPAddr); m.implicit {
		listener = tls.NewListener(listener, m.tls)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m
}

func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}

func (m *mailbox) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	lines := bufio.NewReader(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	mail, secured := taken{}, m.implicit
	say("220 mailbox")
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		if own := m.answers[strings.ToUpper(verb)]; own != "" {
			say(own)
			continue
		}
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-mailbox\r\n250-AUTH PLAIN\r\n250 STARTTLS")
		case "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, m.tls)
			lines, secured = bufio.NewReader(conn), true
		case "AUTH":
			decoded, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			m.mu.Lock()
			m.logins = append(m.logins, strings.ReplaceAll(string(decoded), "\x00", "|"))
			m.mu.Unlock()
			say("235 welcome")
		case "MAIL":
			mail = taken{from: rest, secured: secured}
			say("250 ok")
		case "RCPT":
			mail.to = append(mail.to, rest)
			say("250 ok")
		case "DATA":
			say("354 go on")
			for {
				text, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if text == ".\r\n" {
					break
				}
				mail.content += text
			}
			m.mu.Lock()
			m.taken = append(m.taken, mail)
			m.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (m *mailbox) connection(settings map[string]any) activity.Connection {
	all := map[string]any{"host": "127.0.0.1", "port": int64(m.address.Port), "from": "Shop <shop@weftline.example>"}
	for key, value := range settings {
		all[key] = value
	}
	return activity.Connection{Name: "default", Kind: "smtp", Settings: all, Secrets: map[string]string{"password": "hunter2-mail"}}
}

func (m *mailbox) kind(t *testing.T) *activity.Email {
	t.Helper()
	egress, err := activity.ParseEgress("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	return activity.NewEmail(activity.EmailOptions{Egress: egress, Roots: m.roots})
}

// one is the only mail that was taken.
func (m *mailbox) one(t *testing.T) taken {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.taken) != 1 {
		t.Fatalf("%d mails were taken", len(m.taken))
	}
	return m.taken[0]
}

func TestAMailIsHandedOver(t *testing.T) {
	box := newMailbox(t)
	got := result(t, over(t, "email", box.kind(t), map[string]any{
		"to": []any{"Ann <ann@example.com>", "bob@example.com"}, "cc": "carl@example.com", "bcc": "dora@example.com",
		"replyTo": "help@weftline.example", "subject": "Bestellung über 5 €", "text": "zażółć", "html": "<b>zażółć</b>",
		"attachments": []any{map[string]any{"name": "order.csv", "type": "text/csv", "content": "a;b"}, map[string]any{"name": "raw.bin", "base64": "AP8="}},
	}, box.connection(map[string]any{"username": "shop"})))
	sent := box.one(t)
	if !sent.secured || !strings.HasPrefix(sent.from, "FROM:<shop@weftline.example>") || len(sent.to) != 4 || sent.to[3] != "TO:<dora@example.com>" {
		t.Errorf("envelope %+v", sent)
	}
	if len(box.logins) != 1 || box.logins[0] != "|shop|hunter2-mail" {
		t.Errorf("signed in as %v", box.logins)
	}
	message, err := mail.ReadMessage(strings.NewReader(sent.content))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	if err != nil || subject != "Bestellung über 5 €" {
		t.Errorf("subject %q, %v", subject, err)
	}
	if id := message.Header.Get("Message-ID"); id != got["messageId"] || !strings.HasSuffix(id, "@weftline.example>") {
		t.Errorf("message id %q, result %v", id, got)
	}
	if strings.Contains(sent.content, "dora@") || message.Header.Get("Reply-To") != "<help@weftline.example>" {
		t.Errorf("headers %v", message.Header)
	}
	if found := strings.Join(parts(t, message.Header.Get("Content-Type"), message.Body), " "); found != "text/plain text/html text/csv application/octet-stream" {
		t.Errorf("parts %s", found)
	}
}

// parts lists the content types of what a message holds.
func parts(t *testing.T, kind string, body io.Reader) []string {
	t.Helper()
	media, parameters, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(media, "multipart/") {
		return []string{media}
	}
	var all []string
	reader := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parts(t, part.Header.Get("Content-Type"), part)...)
	}
}

func TestWaysToEncryptMail(t *testing.T) {
	plain := map[string]any{"to": "ann@example.com", "subject": "x", "text": "x"}
	for security, secured := range map[string]bool{"none": false, "starttls": true, "tls": true} {
		box := newMailbox(t, func(m *mailbox) { m.implicit = security == "tls" })
		result(t, over(t, "email", box.kind(t), plain, box.connection(map[string]any{"security": security})))
		if box.one(t).secured != secured {
			t.Errorf("%s: secured is %v", security, !secured)
		}
	}
	box := newMailbox(t, func(m *mailbox) { m.answers = map[string]string{"EHLO": "250 mailbox"} })
	if outcome := over(t, "email", box.kind(t), plain, box.connection(nil)); outcome.Err == nil || len(box.taken) > 0 {
		t.Error("a server without STARTTLS got the mail in the clear")
	}
	box = newMailbox(t)
	box.roots = x509.NewCertPool()
	wantError(t, over(t, "email", box.kind(t), plain, box.connection(nil)), "transport.tls")
}

func TestAttemptsOfAMailHaveOneMessageID(t *testing.T) {
	box := newMailbox(t)
	input := map[string]any{"to": "ann@example.com", "subject": "x", "text": "x"}
	first := result(t, over(t, "email", box.kind(t), input, box.connection(nil)))
	second := result(t, over(t, "email", box.kind(t), input, box.connection(nil)))
	if first["messageId"] != second["messageId"] {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestErrorTypesOfMail(t *testing.T) {
	plain := map[string]any{"to": "ann@example.com", "subject": "x", "text": "x"}
	for _, c := range []struct {
		answers  map[string]string
		settings map[string]any
		kind     string
	}{
		{map[string]string{"RCPT": "451 try again later"}, nil, "transport.deferred"},
		{map[string]string{"RCPT": "550 nobody of that name"}, nil, "email.refused"},
		{nil, map[string]any{"port": int64(1)}, "transport.connect"},
		{nil, map[string]any{"host": "169.254.169.254"}, "email.address_refused"},
	} {
		box := newMailbox(t, func(m *mailbox) { m.answers = c.answers })
		wantError(t, over(t, "email", box.kind(t), plain, box.connection(c.settings)), c.kind)
	}
	box := newMailbox(t, func(m *mailbox) { m.answers = map[string]string{"AUTH": "535 wrong password hunter2-mail"} })
	outcome := over(t, "email", box.kind(t), plain, box.connection(map[string]any{"username": "shop"}))
	if outcome.Err == nil || strings.Contains(outcome.Err.Message, "hunter2") {
		t.Errorf("%+v", outcome.Err)
	}
}

func TestMailsThatAreRefused(t *testing.T) {
	box := newMailbox(t)
	for word, change := range map[string]map[string]any{
		"recipient": {"to": nil}, "mailbox": {"to": "nobody"}, "one line": {"subject": "x\r\nBcc: eve@example.com"}, "text or html": {"text": nil},
		"attachments[0]": {"attachments": []any{map[string]any{"name": "../x", "content": ""}}}, "base64": {"attachments": []any{map[string]any{"name": "x", "base64": "%"}}},
		"from": {"from": "nobody"}, "replyTo": {"replyTo": "nobody"},
	} {
		input := map[string]any{"to": "ann@example.com", "subject": "x", "text": "x"}
		for key, value := range change {
			input[key] = value
		}
		wantError(t, over(t, "email", box.kind(t), input, box.connection(nil)), "input.invalid", word)
	}
}

func TestAMailServerIsTested(t *testing.T) {
	box := newMailbox(t)
	if err := box.kind(t).Test(t.Context(), box.connection(map[string]any{"username": "shop"})); err != nil || len(box.taken) > 0 {
		t.Errorf("%v, %d mails", err, len(box.taken))
	}
}
