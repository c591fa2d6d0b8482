package activity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

// EmailOptions set up the email kind.
type EmailOptions struct {
	Egress Egress
	Roots  *x509.CertPool // authorities that vouch for mail servers; nil = those of this machine
}

// Email runs activities of type email: one message, handed to the SMTP server of a named connection.
type Email struct{ options EmailOptions }

// NewEmail makes the email kind.
func NewEmail(options EmailOptions) *Email { return &Email{options} }

// Run sends one mail. Its result is {messageId}; all attempts have the same one, so that receivers see a
// repeated mail as the same.
func (e *Email) Run(ctx context.Context, call Call) Outcome {
	inputs, err := readEmailInputs(call.Input)
	if err != nil {
		return invalid(err)
	}
	if err := inputs.fetch(ctx, call); err != nil {
		return invalid(err)
	}
	connection, failed := call.connection(ctx, inputs.connection, "smtp")
	if failed != nil {
		return *failed
	}
	message, err := inputs.message(connection, call.IdempotencyKey)
	if err != nil {
		return invalid(err)
	}
	server, err := connection.mailServer()
	if err != nil {
		return invalid(fmt.Errorf("the connection %s: %w", inputs.connection, err))
	}
	client, err := e.client(ctx, server)
	if err != nil {
		return invalid(fmt.Errorf("the connection %s: %w", inputs.connection, err))
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		return mailFailure(ctx, server.host, err)
	}
	return Outcome{Value: map[string]any{"messageId": message.GetMessageID()}}
}

// Test connects and signs in, and sends nothing.
func (e *Email) Test(ctx context.Context, connection Connection) error {
	server, err := connection.mailServer()
	if err != nil {
		return err
	}
	client, err := e.client(ctx, server)
	if err != nil {
		return err
	}
	if err := client.DialWithContext(ctx); err != nil {
		return err
	}
	return client.Close()
}

// mailServer is where and how mail is handed over.
type mailServer struct {
	host, security, username, password string
	port                               int
}

// mailPorts are the usual ports of each way to encrypt.
var mailPorts = map[string]string{"starttls": "587", "tls": "465", "none": "25"}

func (c Connection) mailServer() (server mailServer, err error) {
	server = mailServer{host: c.text("host"), security: c.textOr("security", "starttls"), username: c.text("username"), password: c.Secrets["password"]}
	usual, known := mailPorts[server.security]
	if !known {
		return server, fmt.Errorf("settings.security must be starttls, tls or none")
	}
	server.port, err = strconv.Atoi(c.textOr("port", usual))
	if err != nil || server.port < 1 || server.port > 65535 {
		return server, fmt.Errorf("settings.port must be a number from 1 to 65535")
	}
	return server, nil
}

// mailPatience bounds a conversation that has no time-out of its own.
const mailPatience = time.Minute

// client makes one for a single conversation, which ends with ctx.
func (e *Email) client(ctx context.Context, server mailServer) (*mail.Client, error) {
	dialer := &net.Dialer{ControlContext: e.options.Egress.control}
	options := []mail.Option{
		mail.WithPort(server.port), mail.WithTimeout(mailPatience), mail.WithoutNoop(),
		mail.WithTLSConfig(&tls.Config{ServerName: server.host, MinVersion: tls.VersionTLS12, RootCAs: e.options.Roots}),
	}
	switch server.security {
	case "starttls":
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if server.username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(server.username), mail.WithPassword(server.password))
	}
	// A dial function of one's own has to do the encryption of security tls too.
	options = append(options, mail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(dialing, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		if server.security != "tls" {
			return conn, nil
		}
		secured := tls.Client(conn, &tls.Config{ServerName: server.host, MinVersion: tls.VersionTLS12, RootCAs: e.options.Roots})
		return secured, secured.HandshakeContext(dialing)
	}))
	if server.security == "tls" {
		options = append(options, mail.WithSSL())
	}
	return mail.NewClient(server.host, options...)
}

// mailFailure sorts an error into an error type: what a server refuses for now may be tried again.
func mailFailure(ctx context.Context, host string, err error) Outcome {
	var sending *mail.SendError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail("timeout.attempt", classExternal, nil, "%s did not take the mail in time", host)
	case ctx.Err() != nil:
		return fail("cancelled", classActivity, nil, "sending the mail was cancelled")
	case errors.As(err, &sending) && sending.ErrorCode() != 0:
		detail := map[string]any{"code": int64(sending.ErrorCode())}
		if sending.IsTemp() {
			return fail("transport.deferred", classExternal, detail, "%s does not take the mail now: %s", host, err)
		}
		return fail("email.refused", classExternal, detail, "%s refuses the mail: %s", host, err)
	}
	kind, cause := transportError(err)
	if kind == "http.address_refused" {
		kind = "email.address_refused"
	}
	return fail(kind, classExternal, nil, "%s: %s", host, cause)
}
