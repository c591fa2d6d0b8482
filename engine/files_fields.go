package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/queries"
)

// namedFiles checks the files that a value names in the file fields of its schema, and completes what stands for
// them, so that nobody's word is taken for a name, type or size. Problems point into the value.
func namedFiles(ctx context.Context, q *queries.Queries, team uuid.UUID, schema *flow.Schema, value any) (any, []flow.Problem, error) {
	var problems []flow.Problem
	var broken error
	complain := func(at, message string) {
		problems = append(problems, flow.Problem{Path: at, Code: "E420", Severity: "error", Message: message})
	}
	whole := schema.ReplaceFiles(value, func(at string, rule flow.FileRule, given any) any {
		if broken != nil {
			return given
		}
		file, err := namedFile(ctx, q, team, given)
		var refusal *Error
		switch {
		case errors.As(err, &refusal):
			complain(at, refusal.Message)
		case err != nil:
			broken = err
		default:
			if fault := rule.Refusal(file.Type, file.Size); fault != "" {
				complain(at, fault)
			}
			return file.Value()
		}
		return given
	})
	return whole, problems, broken
}

func namedFile(ctx context.Context, q *queries.Queries, team uuid.UUID, given any) (File, error) {
	text, ok := flow.FileID(given)
	id, err := uuid.Parse(text)
	if !ok || err != nil {
		return File{}, Refuse("invalid_input", `a file is named by its id, {"`+flow.FileKey+`": id}, as keeping it answers`)
	}
	row, err := q.FileByID(ctx, id, team)
	if errors.Is(err, pgx.ErrNoRows) {
		return File{}, Refuse("invalid_input", "there is no file "+text+"; one that nothing uses is kept for a day")
	}
	if err != nil {
		return File{}, fmt.Errorf("read the file %s: %w", text, err)
	}
	return fileOf(row), nil
}

func fileOf(row queries.File) File {
	return File{ID: row.ID, Name: row.Name, Type: row.Type, Size: row.Size, SHA256: hex.EncodeToString(row.Sha256),
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt}
}
