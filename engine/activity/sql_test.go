package activity_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"weftline/engine/activity"
	"weftline/engine/enginetest"
)

// warehouse is a database of the test's own, reached over TCP: activities know no other way.
func warehouse(t *testing.T) activity.Connection {
	t.Helper()
	config := enginetest.OverTCP(t, enginetest.EmptyDatabase(t))
	return activity.Connection{Name: "warehouse", Kind: "sql", Secrets: map[string]string{"password": config.Password},
		Settings: map[string]any{"host": config.Host, "port": int64(config.Port), "database": config.Database, "user": config.User, "sslmode": "disable"}}
}

func newSQL(t *testing.T) *activity.SQL {
	t.Helper()
	egress, err := activity.ParseEgress("127.0.0.0/8, ::1")
	if err != nil {
		t.Fatal(err)
	}
	return activity.NewSQL(activity.SQLOptions{Egress: egress})
}

// statement runs one on the warehouse.
func statement(t *testing.T, db activity.Connection, input map[string]any) activity.Outcome {
	t.Helper()
	input["connection"] = "warehouse"
	return over(t, "sql", newSQL(t), input, db)
}

func TestTypesComeAsExactJSON(t *testing.T) {
	got := result(t, statement(t, warehouse(t), map[string]any{"query": `select 9007199254740993::bigint as big, 0.10::numeric as price,
		1.5::float8 as ratio, 'NaN'::float8 as nan, true as yes, null::int as none, 'żółć'::text as word, '{"a":[1,null]}'::jsonb as doc,
		'\x00ff'::bytea as raw, '2026-03-29 02:30:00.123456+02'::timestamptz as at, '2026-03-29 02:30:00'::timestamp as local,
		'2026-03-29'::date as day, array[1,null,3]::int[] as list, array['a,b','"c"']::text[] as words,
		'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::uuid as id, interval '1 day 2 hours' as span`}))
	want := map[string]any{
		"big": int64(9007199254740993), "price": "0.10", "ratio": 1.5, "nan": "NaN", "yes": true, "none": nil, "word": "żółć",
		"doc": map[string]any{"a": []any{int64(1), nil}}, "raw": "AP8=", "at": "2026-03-29T00:30:00.123456Z", "local": "2026-03-29T02:30:00",
		"day": "2026-03-29", "list": []any{int64(1), nil, int64(3)}, "words": []any{"a,b", `"c"`},
		"id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "span": "P1DT2H",
	}
	row := got["rows"].([]any)[0].(map[string]any)
	for name, value := range want {
		if !reflect.DeepEqual(row[name], value) {
			t.Errorf("%s = %#v, want %#v", name, row[name], value)
		}
	}
	if column := got["columns"].([]any)[1]; !reflect.DeepEqual(column, map[string]any{"name": "price", "type": "numeric"}) || got["rowsAffected"] != int64(1) {
		t.Errorf("column %v, affected %v", column, got["rowsAffected"])
	}
}

func TestParametersAreBound(t *testing.T) {
	db := warehouse(t)
	hostile := `'; drop table x; -- "\`
	for _, c := range []struct {
		query  string
		params any
		want   any
	}{
		{"select :word::text as got", map[string]any{"word": hostile}, hostile},
		{"select $1::text as got", []any{hostile}, hostile},
		{"select :n::int + :n as got", map[string]any{"n": int64(2)}, int64(4)},
		{"select :none::int as got", map[string]any{"none": nil}, nil},
		{"select :doc::jsonb as got", map[string]any{"doc": "just text"}, "just text"},
		{"select :doc::jsonb as got", map[string]any{"doc": map[string]any{"a": []any{true}}}, map[string]any{"a": []any{true}}},
		{"select 2 = any(:list::int[]) as got", map[string]any{"list": []any{int64(1), int64(2), nil}}, true},
		{"select :list::text[] as got", map[string]any{"list": []any{hostile, "NULL", ""}}, []any{hostile, "NULL", ""}},
		{"select ':no' || E'\\':no' || \":col\" /* :no */ as got -- :no\n from (select :yes::text as \":col\") q", map[string]any{"yes": "!"}, ":no':no!"},
	} {
		rows := result(t, statement(t, db, map[string]any{"query": c.query, "params": c.params}))["rows"].([]any)
		if got := rows[0].(map[string]any)["got"]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s with %v = %#v, want %#v", c.query, c.params, got, c.want)
		}
	}
}

func TestModesOfSQL(t *testing.T) {
	db := warehouse(t)
	exec := func(query string, params any) map[string]any {
		t.Helper()
		return result(t, statement(t, db, map[string]any{"mode": "exec", "query": query, "params": params}))
	}
	exec("create table orders (id int primary key, total numeric)", nil)
	batch := map[string]any{"mode": "batch", "query": "insert into orders values (:id, :total)", "params": []any{
		map[string]any{"id": int64(1), "total": "10.50"}, map[string]any{"id": int64(2), "total": 7.25}}}
	if got := result(t, statement(t, db, batch))["rowsAffected"]; !reflect.DeepEqual(got, []any{int64(1), int64(1)}) {
		t.Errorf("batch affected %v", got)
	}
	batch["params"] = []any{map[string]any{"id": int64(3), "total": nil}, map[string]any{"id": int64(1), "total": nil}}
	wantError(t, statement(t, db, batch), "sql.constraint", "duplicate")
	if got := exec("update orders set total = total * $1", []any{int64(2)})["rowsAffected"]; got != int64(2) {
		t.Errorf("%v rows, so the failed batch has left something", got)
	}
	inserting := map[string]any{"query": "insert into orders select generate_series(10, 13) returning id", "maxRows": int64(3)}
	wantError(t, statement(t, db, inserting), "output.too_large", "more than 3 rows")
	rows := result(t, statement(t, db, map[string]any{"query": "select id, total from orders order by id"}))["rows"]
	if got, _ := json.Marshal(rows); string(got) != `[{"id":1,"total":"21.00"},{"id":2,"total":"14.50"}]` {
		t.Errorf("rows %s", got)
	}
	exec("create index concurrently on orders (total)", nil) // which a transaction would refuse
}

func TestErrorTypesOfSQL(t *testing.T) {
	db := warehouse(t)
	for _, c := range []struct {
		input map[string]any
		kind  string
		words []string
	}{
		{map[string]any{"query": "selct 1"}, "sql.syntax", []string{"warehouse", "42601"}},
		{map[string]any{"query": "select 1 from nowhere"}, "sql.syntax", []string{"nowhere"}},
		{map[string]any{"query": "select 1; select 2"}, "sql.syntax", nil},
		{map[string]any{"query": "select 'x'::int"}, "sql.failed", []string{"22P02"}},
		{map[string]any{"query": "do $$ begin raise exception using errcode = '40001', message = 'try again'; end $$", "mode": "exec"}, "sql.transient", []string{"try again"}},
		{map[string]any{"query": "select 1 as a, 2 as a"}, "sql.syntax", []string{`"a"`}},
		{map[string]any{"query": "select :a::int, :b::int", "params": map[string]any{"a": int64(1)}}, "input.invalid", []string{":b"}},
		{map[string]any{"query": "select :a::int", "params": map[string]any{"a": int64(1), "x": nil}}, "input.invalid", []string{":x"}},
		{map[string]any{"query": "select $1::int", "params": []any{}}, "input.invalid", []string{"1 parameters"}},
		{map[string]any{"query": ""}, "input.invalid", nil},
	} {
		wantError(t, statement(t, db, c.input), c.kind, c.words...)
	}
	db.Settings["port"] = int64(1)
	wantError(t, statement(t, db, map[string]any{"query": "select 1"}), "sql.transient")
	outcome := over(t, "sql", activity.NewSQL(activity.SQLOptions{}), map[string]any{"connection": "warehouse", "query": "select 1"}, db)
	wantError(t, outcome, "sql.address_refused", "not public")
}

func TestTimeoutEndsAStatement(t *testing.T) {
	db := warehouse(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	registry := activity.NewRegistry()
	registry.Register("sql", newSQL(t))
	registry.Connect(func(context.Context, string, string, string) (activity.Connection, error) { return db, nil })
	outcome := registry.Run(ctx, activity.Call{Type: "sql", Input: map[string]any{"connection": "warehouse", "query": "select pg_sleep(1000)"}})
	wantError(t, outcome, "timeout.attempt", "warehouse")
}

func TestAConnectionIsTested(t *testing.T) {
	db := warehouse(t)
	if err := newSQL(t).Test(t.Context(), db); err != nil {
		t.Error(err)
	}
	db.Settings["database"] = "nowhere"
	if err := newSQL(t).Test(t.Context(), db); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
}
