package flow

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineWidth is up to where flow style may reach.
const lineWidth = 100

// printer writes a tree as YAML.
type printer struct {
	out   bytes.Buffer
	blank bool // a blank line is due before the next line
}

func (p *printer) bytes() []byte { return p.out.Bytes() }

func (p *printer) document(t *tree) {
	if t.head != "" {
		p.comment(0, t.head)
		p.blank = true
	}
	switch {
	case t.kind == mapNode && len(t.keys) > 0:
		p.entries(t, 0)
	case t.kind == listNode && len(t.values) > 0:
		p.items(t, 0)
	default:
		p.line(0, p.flow(t, false))
	}
	if t.foot != "" {
		p.blank = true
		p.comment(0, t.foot)
	}
}

// line writes one line, after a blank one if that is due.
func (p *printer) line(indent int, text string) {
	if p.blank && p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.blank = false
	p.out.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

func (p *printer) comment(indent int, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			p.blank = true
			continue
		}
		p.line(indent, line)
	}
}

func (p *printer) entries(t *tree, indent int) {
	for i, key := range t.keys {
		p.entry(key, t.values[i], indent, "", "")
	}
}

// entry writes key and value. first stands before the key on its line: the dash of a list item; head is a
// comment that stands above it.
func (p *printer) entry(key, value *tree, indent int, first, head string) {
	own := joinComments(joinComments(key.head, ""), value.head)
	if value.kind >= listNode && len(value.values) > 0 && !p.fits(value, indent+len(first)+width(key)+2) && value.alias == "" {
		own = key.head // the value's own comment stands above its first line
	}
	if comment := joinComments(head, own); comment != "" {
		p.comment(indent, comment)
	}
	comment := joinLine(key.line, value.line)
	p.value(first+p.key(key)+":", value, indent, indent+len(first), comment)
	if foot := joinComments(key.foot, value.foot); foot != "" {
		p.comment(indent+len(first), foot)
		p.blank = true
	}
}

// value writes a value after lead, which begins at column indent; what is below it is indented from inner.
func (p *printer) value(lead string, v *tree, indent, inner int, comment string) {
	if v.anchor != "" {
		lead += " &" + v.anchor
	}
	block := strings.Contains(v.text, "\n") && v.kind == textNode && asBlock(v.text)
	switch {
	case block:
		p.literal(lead, v.text, indent, inner+2, comment)
	case v.alias != "" || v.kind < listNode || len(v.values) == 0 || p.fits(v, indent+len(lead)+1):
		text := p.flow(v, false)
		if text != "" {
			lead += " " + text
		}
		p.line(indent, lead+comment)
	case v.kind == mapNode:
		p.line(indent, lead+comment)
		if v.head != "" {
			p.comment(inner+2, v.head)
		}
		p.entries(v, inner+2)
	default:
		p.line(indent, lead+comment)
		if v.head != "" {
			p.comment(inner+2, v.head)
		}
		p.items(v, inner+2)
	}
}

func (p *printer) items(t *tree, indent int) {
	for i, item := range t.values {
		if t.spaced && i > 0 {
			p.blank = true
		}
		if item.kind == mapNode && len(item.keys) > 0 && item.alias == "" && item.anchor == "" && !p.fits(item, indent+2) {
			p.mapItem(item, indent)
			continue
		}
		if item.head != "" && !(item.kind >= listNode && len(item.values) > 0) {
			p.comment(indent, item.head)
		}
		p.value("-", item, indent, indent, joinLine(item.line, ""))
		if item.foot != "" {
			p.comment(indent, item.foot)
			p.blank = true
		}
	}
}

// mapItem writes a map whose first entry stands beside the dash.
func (p *printer) mapItem(item *tree, indent int) {
	for i, key := range item.keys {
		if i == 0 {
			p.entry(key, item.values[0], indent, "- ", joinComments(item.head, strings.TrimPrefix(joinLine(item.line, ""), " ")))
			continue
		}
		p.entry(key, item.values[i], indent+2, "", "")
	}
	if item.foot != "" {
		p.comment(indent, item.foot)
		p.blank = true
	}
}

// joinLine makes the comment at the end of a line.
func joinLine(a, b string) string {
	if joined := strings.ReplaceAll(joinComments(a, b), "\n", " "); joined != "" {
		return " " + joined
	}
	return ""
}

func (p *printer) key(k *tree) string { return scalar(k, false) }

func width(k *tree) int { return utf8.RuneCountInString(scalar(k, false)) }

// fits reports whether a value may and can stand on one line that begins at column.
func (p *printer) fits(t *tree, column int) bool {
	return t.kind >= listNode && t.inline && plainTree(t, true) && column+utf8.RuneCountInString(p.flow(t, false)) <= lineWidth
}

// plainTree reports whether nothing in a tree needs lines of its own.
func plainTree(t *tree, top bool) bool {
	if !top && (t.head != "" || t.line != "" || t.foot != "") || strings.Contains(t.text, "\n") {
		return false
	}
	for i := range t.keys {
		if !plainTree(t.keys[i], false) {
			return false
		}
	}
	for _, v := range t.values {
		if !plainTree(v, false) {
			return false
		}
	}
	return true
}

// flow writes a value on one line; nested says that it stands inside brackets.
func (p *printer) flow(t *tree, nested bool) string {
	switch {
	case t.alias != "":
		return "*" + t.alias
	case t.kind < listNode:
		return scalar(t, nested)
	}
	parts := make([]string, len(t.values))
	for i, v := range t.values {
		if v.anchor != "" {
			parts[i] = "&" + v.anchor + " "
		}
		parts[i] += p.flow(v, true)
		if t.kind == mapNode {
			parts[i] = scalar(t.keys[i], true) + ": " + parts[i]
		}
	}
	if t.kind == mapNode {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// literal writes a text of several lines as a block.
func (p *printer) literal(lead, text string, indent, inner int, comment string) {
	mark := " |"
	if !strings.HasSuffix(text, "\n") {
		mark = " |-"
	}
	p.line(indent, lead+mark+comment)
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" {
			p.out.WriteByte('\n')
			continue
		}
		p.out.WriteString(strings.Repeat(" ", inner) + line + "\n")
	}
}

// asBlock reports whether a text can be written as a literal block and read back the same.
func asBlock(text string) bool {
	if strings.HasSuffix(text, "\n\n") || strings.Trim(text, "\n") == "" || strings.HasPrefix(text, "\n") {
		return false
	}
	if first := text[0]; first == ' ' || first == '\t' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !printable(r) })
}

func printable(r rune) bool {
	return r != '\ufeff' && r != '\u2028' && r != '\u2029' && r != '\u0085' && (unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) && r >= 0x80)
}

// scalar writes a text, number, boolean or null.
func scalar(t *tree, nested bool) string {
	if t.kind != textNode {
		return t.text
	}
	switch {
	case plainSafe(t.text, nested):
		return t.text
	case strings.ContainsAny(t.text, `"\`) && !strings.Contains(t.text, "'") && !strings.ContainsFunc(t.text, func(r rune) bool { return !printable(r) }):
		return "'" + t.text + "'"
	}
	return doubleQuoted(t.text)
}

// plainSafe reports whether a text can stand without quotes and be read by every YAML tool as this text.
func plainSafe(text string, nested bool) bool {
	if kind, _ := resolve(text); kind != textNode || text != strings.TrimSpace(text) || readsDifferently(text) {
		return false
	}
	if strings.ContainsAny(text[:1], "-?:") && (len(text) == 1 || text[1] == ' ' || nested) || strings.ContainsAny(text[:1], ",[]{}#&*!|>'\"%@`=") {
		return false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		return false
	}
	if nested && strings.ContainsAny(text, ",[]{}") {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return !printable(r) })
}

// readsDifferently finds texts that YAML 1.1 tools read as booleans, dates or numbers.
func readsDifferently(text string) bool {
	for _, word := range booleanWords {
		if strings.EqualFold(word, text) {
			return true
		}
	}
	return text == "<<" || oldNumber.MatchString(text) || oldDate.MatchString(text)
}

var (
	oldNumber = regexp.MustCompile(`^[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?)$`)
	oldDate   = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$`)
)

func doubleQuoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case printable(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
