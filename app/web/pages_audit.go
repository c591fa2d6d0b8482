package web

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	settingsview "weftline/views/settings"
	"weftline/views/versions"
)

// audit lists who did what.
func (p *Pages) audit(c *fiber.Ctx) error {
	asked := settingsview.AuditFilter{Actor: c.Query("actor"), Action: c.Query("action"), Target: c.Query("target"), ForWhom: c.Query("forWhom"),
		Address: c.Query("address"), Request: c.Query("requestId"), Since: c.Query("since"), Until: c.Query("until")}
	view := settingsview.Audit{Now: now(), Filter: asked}
	filter := engine.AuditFilter{Actor: asked.Actor, Action: asked.Action, Target: asked.Target, ForWhom: asked.ForWhom, Address: asked.Address, Request: asked.Request,
		PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}}
	export := url.Values{}
	for name, at := range map[string]**time.Time{"since": &filter.Since, "until": &filter.Until} {
		day, err := time.Parse(time.DateOnly, c.Query(name))
		if c.Query(name) == "" {
			continue
		}
		if err != nil {
			return engine.Refuse("bad_request", name+" is a day such as 2026-03-29")
		}
		*at = &day
		export.Set(name, day.Format(time.RFC3339))
	}
	for _, name := range []string{"actor", "action", "target", "forWhom", "address", "requestId"} {
		if value := c.Query(name); value != "" {
			export.Set(name, value)
		}
	}
	page, err := p.Audit.Audit(c.UserContext(), ViewOf(c).Who, filter)
	if err != nil {
		return err
	}
	view.CSV, view.NDJSON = "/api/v1/audit.csv?"+export.Encode(), "/api/v1/audit.ndjson?"+export.Encode()
	view.Next = nextPage(c, page.NextCursor)
	for _, entry := range page.Items {
		view.Rows = append(view.Rows, auditRow(entry))
	}
	frame := p.frame(c, "Audit", "settings", settingsCrumb())
	frame.Actions = settingsview.AuditExport(view)
	return Render(c, settingsview.AuditPage(frame, view))
}

func auditRow(entry engine.AuditEntry) settingsview.AuditRow {
	row := settingsview.AuditRow{At: entry.At, Actor: entry.Actor, Via: entry.Via, Action: entry.Action, Target: entry.Target, ForWhom: entry.ForWhom,
		Changes: changes(entry.Before, entry.After), Detail: detailText(entry.Detail), Address: entry.Address, Request: entry.Request}
	if entry.TargetName != "" {
		row.Target, row.TargetID = entry.TargetName, entry.Target
	}
	return row
}

const (
	longestDetail = 300 // characters of an entry's detail that the page shows; the files have all of it
	mostChanges   = 20  // fields of an entry
	nothing       = "–" // stands for a value that is not there
)

// saidAlready are fields of every kept thing that repeat who and when of the entry.
var saidAlready = map[string]bool{"updatedAt": true, "updatedBy": true}

// changes are the fields that differ, those of objects one by one.
func changes(before, after json.RawMessage) []settingsview.AuditChange {
	was, is := map[string]string{}, map[string]string{}
	flatten("", before, was)
	flatten("", after, is)
	fields := slices.Collect(maps.Keys(was))
	fields = slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(fields, maps.Keys(is)))))
	var changed []settingsview.AuditChange
	for _, field := range fields {
		if was[field] != is[field] && !saidAlready[field] && len(changed) < mostChanges {
			changed = append(changed, settingsview.AuditChange{Field: field, Before: orNothing(was[field]), After: orNothing(is[field])})
		}
	}
	return changed
}

func orNothing(text string) string {
	if text == "" {
		return nothing
	}
	return shortened(text, longestDetail)
}

// flatten writes the parts of a JSON value into a map, by their path; a value that is no object has the path "value".
func flatten(path string, value json.RawMessage, into map[string]string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil && object != nil {
		for name, field := range object {
			flatten(strings.TrimPrefix(path+"."+name, "."), field, into)
		}
		return
	}
	var plain any
	if json.Unmarshal(value, &plain) != nil {
		return // there is none
	}
	if path == "" {
		path = "value"
	}
	into[path] = valueWords(plain)
}

// detailText is the detail in words, "scopes: read, run · version: 2", without what is empty.
func detailText(detail json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(detail, &fields) != nil {
		return shortened(string(detail), longestDetail)
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value := valueWords(fields[key])
		if key == "contentHash" {
			value = versions.ShortHash(value)
		}
		if value != "" {
			words = append(words, key+": "+value)
		}
	}
	return shortened(strings.Join(words, " · "), longestDetail)
}

func valueWords(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case []any:
		words := make([]string, len(value))
		for i, element := range value {
			words[i] = valueWords(element)
		}
		return strings.Join(words, ", ")
	default:
		text, _ := json.Marshal(value) // it was decoded from JSON
		return string(text)
	}
}

func shortened(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}
