// Package instants writes moments in the one form of the API, in texts and anywhere inside JSON: RFC 3339 in UTC with
// exactly three digits of a second, so that texts compare as moments do.
package instants

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Layout is for moments that are in UTC.
const Layout = "2006-01-02T15:04:05.000Z"

// Text writes a moment; what is finer than a millisecond falls away.
func Text(at time.Time) string { return at.UTC().Format(Layout) }

// options are those of encoding/json but for two things: moments, and <, > and & stay as they are, because what is
// written is never part of a page.
var options = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsontext.EscapeForHTML(false),
	json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, at time.Time) error {
		return enc.WriteToken(jsontext.String(Text(at)))
	})),
)

// JSON is encoding/json's Marshal with every time.Time in the value as Text.
func JSON(value any) ([]byte, error) { return json.Marshal(value, options) }
