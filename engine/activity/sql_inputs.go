package activity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"weftline/engine/flow"
)

// sqlInputs are the inputs of a statement, checked. text has $1, $2, … as its parameters, sets their values:
// one set, in a batch any number.
type sqlInputs struct {
	connection, mode, text string
	sets                   [][]any
	maxRows                int64
	toFile                 bool // the rows are kept as a file
}

func readSQLInputs(given any) (in sqlInputs, err error) {
	inputs, _ := given.(map[string]any)
	in.connection, _ = inputs["connection"].(string)
	query, _ := inputs["query"].(string)
	if in.connection == "" || strings.TrimSpace(query) == "" {
		return in, fmt.Errorf("sql needs a connection and a query")
	}
	if in.mode, _ = inputs["mode"].(string); in.mode == "" {
		in.mode = "query"
	}
	if in.maxRows, _ = inputs["maxRows"].(int64); in.maxRows == 0 {
		in.maxRows = defaultMaxRows
	}
	if in.toFile, err = readSaveAs(inputs["saveAs"], in.mode); err != nil {
		return in, err
	}
	names, text := flow.NumberParameters(query)
	in.text = text
	if in.mode != "batch" {
		set, err := parameterSet("params", names, inputs["params"])
		in.sets = [][]any{set}
		return in, err
	}
	list, ok := inputs["params"].([]any)
	if !ok {
		return in, fmt.Errorf("params of a batch must be a list with the parameters of each run")
	}
	for i, one := range list {
		set, err := parameterSet(fmt.Sprintf("params[%d]", i), names, one)
		if err != nil {
			return in, err
		}
		in.sets = append(in.sets, set)
	}
	return in, nil
}

func readSaveAs(given any, mode string) (toFile bool, err error) {
	switch {
	case given == nil || given == "body":
		return false, nil
	case given != "file":
		return false, fmt.Errorf("saveAs is body or file, not %v", given)
	case mode != "query":
		return false, fmt.Errorf("saveAs: file keeps rows, which only the mode query has, not %s", mode)
	}
	return true, nil
}

// parameterSet puts values into the order of $1, $2, …
func parameterSet(what string, names []string, given any) ([]any, error) {
	switch values := given.(type) {
	case nil:
		if len(names) == 0 {
			return nil, nil
		}
	case []any:
		if len(names) == 0 {
			return values, nil
		}
	case map[string]any:
		for name := range values {
			if !slices.Contains(names, name) {
				return nil, fmt.Errorf("%s: the query has no parameter :%s", what, name)
			}
		}
		set := make([]any, len(names))
		for i, name := range names {
			value, given := values[name]
			if !given {
				return nil, fmt.Errorf("%s: the value of :%s is missing", what, name)
			}
			set[i] = value
		}
		return set, nil
	default:
		return nil, fmt.Errorf("%s must be a map for :name, or a list for $1", what)
	}
	return nil, fmt.Errorf("%s must be a map with values for :%s", what, strings.Join(names, ", :"))
}

// bind writes values as the texts that PostgreSQL reads for the types it expects; nil is null.
func (s *SQL) bind(types []uint32, set []any) ([][]byte, error) {
	if len(types) != len(set) {
		return nil, refuseSQL("input.invalid", "the query has %d parameters, params has %d", len(types), len(set))
	}
	bound := make([][]byte, len(set))
	for i, value := range set {
		if value == nil {
			continue
		}
		text, err := s.parameterText(types[i], value)
		if err != nil {
			return nil, refuseSQL("input.invalid", "parameter %d: %s", i+1, err)
		}
		bound[i] = []byte(text)
	}
	return bound, nil
}

func (s *SQL) parameterText(oid uint32, value any) (string, error) {
	if oid == pgtype.JSONOID || oid == pgtype.JSONBOID {
		return jsonText(value)
	}
	if text, ok := scalar(value); ok {
		return text, nil
	}
	list, isList := value.([]any)
	if known, ok := s.types.TypeForOID(oid); ok && isList {
		if array, ok := known.Codec.(*pgtype.ArrayCodec); ok {
			return s.arrayText(array.ElementType.OID, list)
		}
	}
	return jsonText(value)
}

func jsonText(value any) (string, error) {
	content, err := json.Marshal(value)
	return string(content), err
}

var arrayEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (s *SQL) arrayText(element uint32, list []any) (string, error) {
	parts := make([]string, len(list))
	for i, value := range list {
		switch inner := value.(type) {
		case nil:
			parts[i] = "NULL"
		case []any:
			text, err := s.arrayText(element, inner)
			if err != nil {
				return "", err
			}
			parts[i] = text
		default:
			text, err := s.parameterText(element, value)
			if err != nil {
				return "", err
			}
			parts[i] = `"` + arrayEscape.Replace(text) + `"`
		}
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}
