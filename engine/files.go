package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/engine/flow"
	"weftline/engine/seal"
	"weftline/engine/store"
	"weftline/queries"
)

// Files keeps bytes apart from histories: uploads, answers of http, what scripts leave. A file belongs to a team
// and is kept as long as an execution names it; one that none names is kept for a day.
type Files interface {
	// SaveFile keeps content of at most the server's limit. The type is a media type, "" = unknown.
	SaveFile(ctx context.Context, who Who, name, mediaType string, content []byte) (File, error)
	// File reads a file of the asker's team.
	File(ctx context.Context, who Who, id uuid.UUID) (File, []byte, error)
}

// File is a file without its content.
type File struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"`
	Size      int64     `json:"size"`
	SHA256    string    `json:"sha256"`
	CreatedBy string    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
}

const (
	filePart        = 1 << 20 // bytes of one row
	longestFileName = 200     // characters of a file's name
	unknownMedia    = "application/octet-stream"
)

// cabinet is where files are kept.
type cabinet struct {
	db   queries.Pool
	q    *queries.Queries
	most int64
	now  func() time.Time
	keys *seal.Ring // empty = files are kept in plain
}

// SaveFile keeps what somebody sends.
func (c *cabinet) SaveFile(ctx context.Context, who Who, name, mediaType string, content []byte) (File, error) {
	return c.keep(ctx, who, name, mediaType, content, func(q *queries.Queries, file File) error {
		return record(ctx, q, who, act{action: "file.saved", target: file.ID.String(), name: file.Name, detail: map[string]any{"size": file.Size, "sha256": file.SHA256}})
	})
}

// keep stores content of at most the server's limit; also is done in the same transaction.
func (c *cabinet) keep(ctx context.Context, who Who, name, mediaType string, content []byte, also func(*queries.Queries, File) error) (File, error) {
	if int64(len(content)) > c.most {
		return File{}, Refuse("too_large", fmt.Sprintf("a file has at most %d bytes, this one has %d", c.most, len(content)))
	}
	sum := sha256.Sum256(content)
	file := File{ID: uuid.Must(uuid.NewV7()), Name: fileName(name), Type: fileMedia(mediaType), Size: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:]), CreatedBy: who.User, CreatedAt: c.now()}
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		err := q.InsertFile(ctx, queries.InsertFileParams{ID: file.ID, TeamID: who.Team, Name: file.Name, Type: file.Type,
			Size: file.Size, Sha256: sum[:], CreatedBy: cleanText(who.User)})
		for part := 0; err == nil && part*filePart < len(content); part++ {
			err = c.savePart(ctx, q, file.ID, part, content[part*filePart:min((part+1)*filePart, len(content))])
		}
		if err != nil {
			return err
		}
		return also(q, file)
	})
	if err != nil {
		return File{}, fmt.Errorf("keep the file %s: %w", file.Name, err)
	}
	return file, nil
}

// savePart keeps a part of a file, encrypted where there is a key: nobody can tell what a file holds.
func (c *cabinet) savePart(ctx context.Context, q *queries.Queries, file uuid.UUID, part int, content []byte) (err error) {
	if !c.keys.Empty() {
		if content, err = c.keys.Box(store.FilePlace(file, int64(part)), content); err != nil {
			return err
		}
	}
	return q.InsertFilePart(ctx, file, int32(part), content)
}

// fileName keeps the last part of a name, printable and of bearable length.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' {
			return '_'
		}
		return r
	}, path.Base(strings.ReplaceAll(cleanText(name), "\\", "/")))
	if runes := []rune(name); len(runes) > longestFileName {
		name = string(runes[:longestFileName])
	}
	if name == "" || name == "." || name == "/" || name == ".." {
		return "file"
	}
	return name
}

func fileMedia(given string) string {
	kind, _, err := mime.ParseMediaType(given)
	if err != nil || !strings.Contains(kind, "/") {
		return unknownMedia
	}
	return kind
}

// File reads a file of the asker's team.
func (c *cabinet) File(ctx context.Context, who Who, id uuid.UUID) (File, []byte, error) {
	row, err := c.q.FileByID(ctx, id, who.Team)
	if errors.Is(err, pgx.ErrNoRows) {
		return File{}, nil, Refuse("not_found", "there is no file "+id.String())
	}
	if err != nil {
		return File{}, nil, fmt.Errorf("read the file %s: %w", id, err)
	}
	parts, err := c.q.FileParts(ctx, id)
	if err != nil {
		return File{}, nil, fmt.Errorf("read the file %s: %w", id, err)
	}
	for part := range parts {
		if parts[part], err = c.keys.Unbox(store.FilePlace(id, int64(part)), parts[part]); err != nil {
			return File{}, nil, fmt.Errorf("read the file %s: %w", id, err)
		}
	}
	return fileOf(row), bytes.Join(parts, nil), nil
}

// Value is what stands for a file in inputs, outputs and forms.
func (f File) Value() map[string]any {
	return map[string]any{flow.FileKey: f.ID.String(), "name": f.Name, "type": f.Type, "size": f.Size, "sha256": f.SHA256}
}

// activityFiles gives activities the files of their team.
type activityFiles struct{ *cabinet }

func (a activityFiles) Most() int64 { return a.most }

func (a activityFiles) Save(ctx context.Context, team, name, kind string, content []byte) (map[string]any, error) {
	id, err := uuid.Parse(team)
	if err != nil {
		return nil, err
	}
	unasked := func(*queries.Queries, File) error { return nil } // what activities do is in the history
	file, err := a.keep(ctx, Who{Team: id, User: "activity"}, name, kind, content, unasked)
	if err != nil {
		return nil, err
	}
	return file.Value(), nil
}

func (a activityFiles) Load(ctx context.Context, team, id string) (name, kind string, content []byte, err error) {
	teamID, err := uuid.Parse(team)
	if err != nil {
		return "", "", nil, err
	}
	fileID, err := uuid.Parse(id)
	if err != nil {
		return "", "", nil, activity.ErrNoFile
	}
	file, content, err := a.File(ctx, Who{Team: teamID}, fileID)
	var refusal *Error
	if errors.As(err, &refusal) {
		err = activity.ErrNoFile
	}
	return file.Name, file.Type, content, err
}
