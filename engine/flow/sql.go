package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sqlParts matches what a query consists of as far as :name is concerned: texts, quoted names, comments and
// casts, in which it has no meaning, then the parameter itself.
var sqlParts = regexp.MustCompile(`(?s)(?i:\be)'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$\$.*?\$\$|::|:=|:([A-Za-z_][A-Za-z0-9_]*)`)

// NumberParameters replaces :name in a query by $1, $2, … and answers the names in that order, each once.
func NumberParameters(query string) (names []string, text string) {
	var b strings.Builder
	last := 0
	for _, at := range sqlParts.FindAllStringSubmatchIndex(query, -1) {
		if at[2] < 0 {
			continue
		}
		name := query[at[2]:at[3]]
		number := slices.Index(names, name) + 1
		if number == 0 {
			names = append(names, name)
			number = len(names)
		}
		b.WriteString(query[last:at[0]] + "$" + strconv.Itoa(number))
		last = at[1]
	}
	return names, b.String() + query[last:]
}

// queryParameters reports queries whose named parameters and params do not fit, as far as both are written out. It
// is no part of loading: what was published before goes on to run, and such activities to fail.
func (b *builder) queryParameters() {
	for a, n := range b.where {
		query := n.at("inputs", "query")
		if a.Type != TypeSQL || query.text() == "" || b.defaults.at(TypeSQL, "params") != nil || b.defaults.at(TypeSQL, "mode") != nil {
			continue
		}
		names, _ := NumberParameters(query.raw)
		params := n.at("inputs", "params")
		if n.at("inputs", "mode").text() != "batch" {
			b.parameterSet(query, names, params)
			continue
		}
		for _, set := range items(params) {
			b.parameterSet(query, names, set)
		}
	}
}

// parameterSet: a map has exactly the names of the query, a list is for $1, and an expression may give either.
func (b *builder) parameterSet(query *node, names []string, params *node) {
	switch {
	case !params.given(), params.kind == listNode:
		if len(names) > 0 {
			b.parameterMissing(query, names[0])
		}
	case params.kind == mapNode:
		for _, name := range names {
			if params.get(name) == nil {
				b.parameterMissing(query, name)
			}
		}
		for _, e := range params.entries {
			if !slices.Contains(names, e.key.raw) {
				b.ps.add("E317", e.key, "write :"+e.key.raw+" where the value belongs, or remove it", "the query has no parameter :%s", e.key.raw).suggest(e.key, names)
			}
		}
	}
}

// parameterMissing marks where the query asks for it.
func (b *builder) parameterMissing(query *node, name string) {
	p := Problem{Path: query.path, Pos: query.pos, Code: "E317", Severity: "error",
		Message: fmt.Sprintf("the query asks for :%s, and params has no such value", name), Hint: fmt.Sprintf("add params: {%s: …}", name)}
	for _, at := range sqlParts.FindAllStringSubmatchIndex(query.raw, -1) {
		if at[2] < 0 || query.raw[at[2]:at[3]] != name || query.aliased {
			continue
		}
		places := b.ps.source.trace(query)
		start, end := places[utf8.RuneCountInString(query.raw[:at[0]])], places[utf8.RuneCountInString(query.raw[:at[1]])]
		p.Pos = Pos{start.line, start.column, end.line, end.column}
		break
	}
	b.ps.put(p)
}
