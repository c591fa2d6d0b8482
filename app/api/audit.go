package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/engine/instants"
)

// Audit lists who did what, newest first.
func (a *API) Audit(c *fiber.Ctx) error {
	filter, err := AuditFilter(c)
	if err != nil {
		return err
	}
	page, err := a.identity.Audit(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// AuditFilter reads the filter of an audit from the query.
func AuditFilter(c *fiber.Ctx) (engine.AuditFilter, error) {
	q := queryOf(c)
	filter := engine.AuditFilter{PageRequest: q.page(), Actor: q.text("actor"), Action: q.text("action"), Target: q.text("target"),
		ForWhom: q.text("forWhom"), Address: q.text("address"), Request: q.text("requestId"), Since: q.time("since"), Until: q.time("until")}
	return filter, q.err
}

// AuditCSV exports the audit as CSV.
func (a *API) AuditCSV(c *fiber.Ctx) error {
	return a.exportAudit(c, "text/csv; charset=utf-8", "csv", newCSV)
}

// AuditNDJSON exports the audit as one JSON object a line.
func (a *API) AuditNDJSON(c *fiber.Ctx) error {
	return a.exportAudit(c, "application/x-ndjson", "ndjson", newNDJSON)
}

// lines writes entries in the form of one kind of file.
type lines func(entries []engine.AuditEntry) error

// exportAudit streams the whole audit that fits the filter, page by page, so that its length does not matter.
// The first page is read before the answer begins: what is wrong with it is still a problem document.
func (a *API) exportAudit(c *fiber.Ctx, mediaType, ending string, begin func(io.Writer) lines) error {
	filter, err := AuditFilter(c)
	if err != nil {
		return err
	}
	filter.Limit = 500
	asker, identity := who(c), a.identity
	first, err := identity.Audit(c.UserContext(), asker, filter)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, mediaType)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="audit.`+ending+`"`)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		write := begin(w)
		for page := first; ; {
			if write(page.Items) != nil || page.NextCursor == nil || w.Flush() != nil {
				return
			}
			filter.Cursor = *page.NextCursor
			if page, err = identity.Audit(context.Background(), asker, filter); err != nil {
				_, _ = w.WriteString("the export broke off here: ask for it again\n")
				return
			}
		}
	})
	return nil
}

func newNDJSON(w io.Writer) lines {
	return func(entries []engine.AuditEntry) error {
		for _, entry := range entries {
			line, err := instants.JSON(entry)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	}
}

func newCSV(w io.Writer) lines {
	file := csv.NewWriter(w)
	_ = file.Write([]string{"id", "at", "actor", "via", "action", "target", "targetName", "forWhom", "before", "after", "detail", "address", "requestId"}) // errors come with Flush
	return func(entries []engine.AuditEntry) error {
		for _, e := range entries {
			_ = file.Write([]string{strconv.FormatInt(e.ID, 10), instants.Text(e.At), harmless(e.Actor), harmless(e.Via), e.Action,
				harmless(e.Target), harmless(e.TargetName), harmless(e.ForWhom), compact(e.Before), compact(e.After), compact(e.Detail), e.Address, e.Request})
		}
		file.Flush()
		return file.Error()
	}
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

func compact(detail json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, detail) != nil {
		return string(detail)
	}
	return out.String()
}
