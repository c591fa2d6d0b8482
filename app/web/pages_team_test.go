package web

import "testing"

func TestTheAuditSaysItsDetailInWords(t *testing.T) {
	for given, want := range map[string]string{
		`{"contentHash": "d7e5b99c83ed110072f8306c19927acc4dbc143c"}`: "contentHash: d7e5b99c83",
		`{}`:                              "",
		`{"kind": "sql", "usableBy": []}`: "kind: sql",
		`{"name": "ci", "scopes": ["read", "run"], "expires": null}`:     "name: ci · scopes: read, run",
		`{"version": 12, "serviceAccount": {"name": "ann"}, "on": true}`: `on: true · serviceAccount: {"name":"ann"} · version: 12`,
		`"a remark"`: `"a remark"`,
	} {
		if got := detailText([]byte(given)); got != want {
			t.Errorf("%s reads %q, want %q", given, got, want)
		}
	}
}
