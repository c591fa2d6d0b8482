package activity

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"weftline/engine/expr"
)

// answerRows puts the rows of a query into the answer, or their file. The file is kept before the transaction
// ends: a statement that changed something does not lose what it gave.
func (s *SQL) answerRows(ctx context.Context, reader *pgconn.ResultReader, inputs sqlInputs, call Call, answer map[string]any) (err error) {
	if !inputs.toFile {
		rows := []any{}
		answer["columns"], err = s.read(reader, inputs.maxRows, s.maxOutput, func(row map[string]any) error {
			rows = append(rows, row)
			return nil
		})
		answer["rows"] = rows
		return err
	}
	most := s.maxOutput
	if call.files != nil {
		most = call.files.Most()
	}
	list := rowList{most: most}
	if answer["columns"], err = s.read(reader, inputs.maxRows, most, list.add); err != nil {
		return err
	}
	file, failed := call.save(ctx, "rows.json", "application/json", list.content())
	if failed != nil {
		return &fileNotKept{*failed}
	}
	answer["rows"], answer["file"] = nil, file
	return nil
}

// fileNotKept carries what became of an attempt to keep a file.
type fileNotKept struct{ outcome Outcome }

func (e *fileNotKept) Error() string { return e.outcome.Err.Message }

// rowList is rows as a JSON list, one a line.
type rowList struct {
	text bytes.Buffer
	most int64 // bytes
}

func (l *rowList) add(row map[string]any) error {
	line, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("write a row as JSON: %w", err)
	}
	separator := ",\n"
	if l.text.Len() == 0 {
		separator = "[\n"
	}
	l.text.WriteString(separator)
	l.text.Write(line)
	if int64(l.text.Len()) > l.most {
		return tooManyBytes(l.most)
	}
	return nil
}

func (l *rowList) content() []byte {
	if l.text.Len() == 0 {
		return []byte("[]\n")
	}
	l.text.WriteString("\n]\n")
	return l.text.Bytes()
}

func tooManyBytes(most int64) error {
	return refuseSQL("output.too_large", "the rows are larger than the limit of %d bytes", most)
}

// read gives all rows as {column: value} to keep, and answers the columns as [{name, type}]. More rows than
// maxRows, or more bytes than maxBytes, is a failure, since a part of an answer looks like the whole of one.
func (s *SQL) read(reader *pgconn.ResultReader, maxRows, maxBytes int64, keep func(row map[string]any) error) (columns []any, err error) {
	fields := reader.FieldDescriptions()
	if columns, err = s.columns(fields); err != nil {
		return nil, err
	}
	count, size := int64(0), int64(0)
	for reader.NextRow() {
		if count++; count > maxRows {
			return nil, refuseSQL("output.too_large", "the query gives more than %d rows; narrow it, or raise maxRows", maxRows)
		}
		row := make(map[string]any, len(fields))
		for i, content := range reader.Values() {
			if size += int64(len(content)); size > maxBytes {
				return nil, tooManyBytes(maxBytes)
			}
			row[fields[i].Name] = s.value(fields[i].DataTypeOID, content)
		}
		if err := keep(row); err != nil {
			return nil, err
		}
	}
	return columns, nil // reader.Close answers the fault that ended it
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
