package activity

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"weftline/engine/expr"
)

// read takes all rows as {column: value}, and the columns as [{name, type}]. More rows than most is a failure,
// since a part of an answer looks like the whole of one.
func (s *SQL) read(reader *pgconn.ResultReader, most int64) (rows, columns []any, err error) {
	fields := reader.FieldDescriptions()
	if columns, err = s.columns(fields); err != nil {
		return nil, nil, err
	}
	rows = []any{}
	size := int64(0)
	for reader.NextRow() {
		if int64(len(rows)) == most {
			return nil, nil, refuseSQL("output.too_large", "the query gives more than %d rows; narrow it, or raise maxRows", most)
		}
		row := make(map[string]any, len(fields))
		for i, content := range reader.Values() {
			if size += int64(len(content)); size > s.maxOutput {
				return nil, nil, refuseSQL("output.too_large", "the rows are larger than the limit of %d bytes", s.maxOutput)
			}
			row[fields[i].Name] = s.value(fields[i].DataTypeOID, content)
		}
		rows = append(rows, row)
	}
	return rows, columns, nil // reader.Close answers the fault that ended it
}

func (s *SQL) columns(fields []pgconn.FieldDescription) ([]any, error) {
	columns := make([]any, len(fields))
	seen := map[string]bool{}
	for i, field := range fields {
		if seen[field.Name] {
			return nil, refuseSQL("sql.syntax", "two columns are named %q; give one another name with as", field.Name)
		}
		seen[field.Name] = true
		kind := "unknown"
		if known, ok := s.types.TypeForOID(field.DataTypeOID); ok {
			kind = known.Name
		}
		columns[i] = map[string]any{"name": field.Name, "type": kind}
	}
	return columns, nil
}

// value turns the text of a column into JSON without losing anything: what JSON has no exact form for, such as
// numeric, stays the text that PostgreSQL prints.
func (s *SQL) value(oid uint32, content []byte) any {
	if content == nil {
		return nil
	}
	text := string(content)
	switch oid {
	case pgtype.BoolOID:
		return text == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			return whole
		}
	case pgtype.Float4OID, pgtype.Float8OID:
		if number, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
			return number
		}
	case pgtype.JSONOID, pgtype.JSONBOID:
		if value, err := expr.DecodeJSON(content); err == nil {
			return value
		}
	case pgtype.ByteaOID:
		if raw, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			return base64.StdEncoding.EncodeToString(raw)
		}
	case pgtype.TimestamptzOID:
		if plain, utc := strings.CutSuffix(text, "+00"); utc {
			return strings.Replace(plain, " ", "T", 1) + "Z"
		}
	case pgtype.TimestampOID:
		return strings.Replace(text, " ", "T", 1)
	default:
		return s.list(oid, content)
	}
	return text
}

// list turns an array of one dimension into a list; everything else stays text.
func (s *SQL) list(oid uint32, content []byte) any {
	known, ok := s.types.TypeForOID(oid)
	if !ok {
		return string(content)
	}
	array, ok := known.Codec.(*pgtype.ArrayCodec)
	var parts pgtype.Array[*string]
	if !ok || s.types.Scan(oid, pgtype.TextFormatCode, content, &parts) != nil || len(parts.Dims) > 1 {
		return string(content)
	}
	list := make([]any, len(parts.Elements))
	for i, part := range parts.Elements {
		if part != nil {
			list[i] = s.value(array.ElementType.OID, []byte(*part))
		}
	}
	return list
}
