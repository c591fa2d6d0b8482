package activity

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Files keeps bytes apart from histories. A file in a value is {"$file": id, name, type, size, sha256}.
type Files interface {
	// Save keeps a file of a team and answers the value that stands for it.
	Save(ctx context.Context, team, name, kind string, content []byte) (map[string]any, error)
	// Load reads a file of a team; ErrNoFile when the team has none of that id.
	Load(ctx context.Context, team, id string) (name, kind string, content []byte, err error)
	// Most is the largest file in bytes.
	Most() int64
}

// ErrNoFile says that the team has no file of that id.
var ErrNoFile = errors.New("no such file")

// KeepFiles says where files are kept. It is called before the registry is used.
func (r *Registry) KeepFiles(files Files) { r.files = files }

// load reads the file that a value stands for.
func (c Call) load(ctx context.Context, id string) (name, kind string, content []byte, err error) {
	if c.files == nil {
		return "", "", nil, fmt.Errorf("this worker has no files")
	}
	name, kind, content, err = c.files.Load(ctx, c.Team, id)
	if errors.Is(err, ErrNoFile) {
		return "", "", nil, fmt.Errorf("the team has no file %s", id)
	}
	return name, kind, content, err
}

// save keeps a file, without the secrets of the call if it is text; failed is the outcome when it cannot.
func (c Call) save(ctx context.Context, name, kind string, content []byte) (value map[string]any, failed *Outcome) {
	if c.files == nil {
		outcome := fail("engine.unsupported_type", classActivity, nil, "this worker cannot keep files")
		return nil, &outcome
	}
	if c.clean != nil && utf8.Valid(content) {
		content = []byte(c.clean(string(content)))
	}
	value, err := c.files.Save(ctx, c.Team, name, kind, content)
	if err != nil {
		outcome := fail("engine.files", classInfrastructure, nil, "the file %s could not be kept: %s", name, err)
		return nil, &outcome
	}
	return value, nil
}
