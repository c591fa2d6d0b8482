package activity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	netmail "net/mail"
	"path"
	"strings"

	"github.com/wneessen/go-mail"

	"weftline/engine/flow"
)

// emailInputs are the inputs of a mail, checked.
type emailInputs struct {
	connection, subject, text, html string
	from, replyTo                   string
	to, cc, bcc                     []*netmail.Address
	attachments                     []attachment
}

type attachment struct {
	name, kind string
	content    []byte
	file       string // id of the file that it is, or ""
}

// defaultConnection is the one of mails that name none.
const defaultConnection = "default"

func readEmailInputs(given any) (in emailInputs, err error) {
	inputs, _ := given.(map[string]any)
	for key, target := range map[string]*string{"connection": &in.connection, "subject": &in.subject, "text": &in.text,
		"html": &in.html, "from": &in.from, "replyTo": &in.replyTo} {
		if *target, err = textInput(key, inputs[key]); err != nil {
			return in, err
		}
	}
	if in.connection == "" {
		in.connection = defaultConnection
	}
	for key, target := range map[string]*[]*netmail.Address{"to": &in.to, "cc": &in.cc, "bcc": &in.bcc} {
		if *target, err = addresses(key, inputs[key]); err != nil {
			return in, err
		}
	}
	switch {
	case len(in.to)+len(in.cc)+len(in.bcc) == 0:
		return in, fmt.Errorf("the mail has no recipient")
	case strings.ContainsAny(in.subject, "\r\n"):
		return in, fmt.Errorf("subject must be one line")
	case in.text == "" && in.html == "" && inputs["text"] == nil && inputs["html"] == nil:
		return in, fmt.Errorf("the mail needs text or html")
	}
	return in, in.readAttachments(inputs["attachments"])
}

// addresses takes a text with one address or several, or a list of such texts.
func addresses(what string, given any) (all []*netmail.Address, err error) {
	list, isList := given.([]any)
	if !isList && given != nil {
		list = []any{given}
	}
	for _, one := range list {
		text, isText := one.(string)
		found, err := netmail.ParseAddressList(text)
		if !isText || err != nil {
			return nil, fmt.Errorf("%s: %v is no address of a mailbox", what, one)
		}
		all = append(all, found...)
	}
	return all, nil
}

// readAttachments takes a list of files, or of {name, content | base64, type}; content is a text.
func (in *emailInputs) readAttachments(given any) error {
	list, isList := given.([]any)
	if given != nil && !isList {
		return fmt.Errorf("attachments must be a list of files, or of {name, content, type}")
	}
	for i, one := range list {
		fields, _ := one.(map[string]any)
		name, _ := fields["name"].(string)
		kind, _ := fields["type"].(string)
		if id, ok := flow.FileID(fields); ok && name == "" { // it has its own
			in.attachments = append(in.attachments, attachment{file: id})
			continue
		}
		if name == "" || path.Base(name) != name || strings.ContainsAny(name, "\r\n\x00") {
			return fmt.Errorf("attachments[%d] needs a name, without a folder", i)
		}
		if id, ok := flow.FileID(fields); ok {
			in.attachments = append(in.attachments, attachment{name: name, kind: kind, file: id})
			continue
		}
		content, err := attachedBytes(fields)
		if err != nil {
			return fmt.Errorf("attachments[%d] %w", i, err)
		}
		in.attachments = append(in.attachments, attachment{name: name, kind: kind, content: content})
	}
	return nil
}

// fetch reads the attached files.
func (in *emailInputs) fetch(ctx context.Context, call Call) error {
	for i := range in.attachments {
		a := &in.attachments[i]
		if a.file == "" {
			continue
		}
		name, kind, content, err := call.load(ctx, a.file)
		if err != nil {
			return fmt.Errorf("attachments[%d]: %w", i, err)
		}
		a.content = content
		a.name, a.kind = cmp.Or(a.name, name), cmp.Or(a.kind, kind)
	}
	return nil
}

func attachedBytes(fields map[string]any) ([]byte, error) {
	if encoded, ok := fields["base64"].(string); ok {
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("has base64 that cannot be decoded")
		}
		return content, nil
	}
	text, ok := fields["content"].(string)
	if !ok {
		return nil, fmt.Errorf("needs content, a text, or base64")
	}
	return []byte(text), nil
}

// message composes the mail. Bcc is part of the envelope only.
func (in *emailInputs) message(connection Connection, idempotencyKey string) (*mail.Msg, error) {
	message := mail.NewMsg()
	from := in.from
	if from == "" {
		from = connection.textOr("from", connection.text("username"))
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("from: %q is no address of a mailbox; give from here or in the connection's settings", from)
	}
	message.FromMailAddress(sender)
	message.ToMailAddress(in.to...)
	message.CcMailAddress(in.cc...)
	message.BccMailAddress(in.bcc...)
	if in.replyTo != "" {
		if err := message.ReplyTo(in.replyTo); err != nil {
			return nil, fmt.Errorf("replyTo: %q is no address of a mailbox", in.replyTo)
		}
	}
	message.Subject(in.subject)
	message.SetUserAgent("Weftline")
	message.SetMessageIDWithValue(messageID(idempotencyKey, sender.Address))
	in.setBody(message)
	for _, file := range in.attachments {
		var options []mail.FileOption
		if file.kind != "" {
			options = append(options, mail.WithFileContentType(mail.ContentType(file.kind)))
		}
		if err := message.AttachReader(file.name, strings.NewReader(string(file.content)), options...); err != nil {
			return nil, fmt.Errorf("attach %s: %w", file.name, err)
		}
	}
	return message, nil
}

func (in *emailInputs) setBody(message *mail.Msg) {
	if in.html == "" {
		message.SetBodyString(mail.TypeTextPlain, in.text)
		return
	}
	if in.text == "" {
		message.SetBodyString(mail.TypeTextHTML, in.html)
		return
	}
	message.SetBodyString(mail.TypeTextPlain, in.text)
	message.AddAlternativeString(mail.TypeTextHTML, in.html)
}

// messageID is the same for the same key and does not reveal it.
func messageID(idempotencyKey, sender string) string {
	sum := sha256.Sum256([]byte(idempotencyKey))
	return hex.EncodeToString(sum[:16]) + sender[strings.LastIndexByte(sender, '@'):]
}
