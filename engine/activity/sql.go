package activity

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	defaultMaxRows = 1000
	cancelPatience = 2 * time.Second // for the database to act on a cancellation
)

// SQLOptions set up the sql kind.
type SQLOptions struct {
	Egress    Egress
	MaxOutput int64 // bytes of all rows as the database sends them; 0 = 16 MiB
}

// SQL runs activities of type sql: statements on a named PostgreSQL, over a connection of their own.
type SQL struct {
	egress    Egress
	maxOutput int64
	types     *pgtype.Map
}

// NewSQL makes the sql kind.
func NewSQL(options SQLOptions) *SQL {
	return &SQL{egress: options.Egress, maxOutput: cmpOr(options.MaxOutput, defaultMaxOutput), types: pgtype.NewMap()}
}

// Run runs one statement, or a batch of the same one. Its result is {rows, rowsAffected, columns,
// file}.
func (s *SQL) Run(ctx context.Context, call Call) Outcome {
	inputs, err := readSQLInputs(call.Input)
	if err != nil {
		return invalid(err)
	}
	connection, failed := call.connection(ctx, inputs.connection, "sql")
	if failed != nil {
		return *failed
	}
	config, err := connection.sqlConfig(s.egress)
	if err != nil {
		return invalid(fmt.Errorf("the connection %s: %w", inputs.connection, err))
	}
	session, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return s.failed(ctx, inputs, err)
	}
	defer closeSession(session)
	value, err := s.run(ctx, session, inputs, call)
	if err != nil {
		return s.failed(ctx, inputs, err)
	}
	return Outcome{Value: value}
}

// Test connects, which proves address, name and password.
func (s *SQL) Test(ctx context.Context, connection Connection) error {
	config, err := connection.sqlConfig(s.egress)
	if err != nil {
		return err
	}
	session, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	closeSession(session)
	return nil
}

// closeSession says goodbye, in vain if the attempt is over.
func closeSession(session *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	_ = session.Close(ctx) // nothing is lost: what counts is committed
}

// sslModes are the ways to encrypt that a connection may ask for.
var sslModes = []string{"disable", "require", "verify-full"}

// sqlConfig makes the settings of a session. Nothing is taken from the environment or files of this server,
// sockets in its file system included.
func (c Connection) sqlConfig(egress Egress) (*pgconn.Config, error) {
	host := c.text("host")
	if strings.ContainsAny(host, "/@, \\'") {
		return nil, fmt.Errorf("settings.host must be one host name or address")
	}
	port, err := strconv.ParseUint(c.textOr("port", "5432"), 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("settings.port must be a number from 1 to 65535")
	}
	mode := c.textOr("sslmode", "require")
	if !slices.Contains(sslModes, mode) {
		return nil, fmt.Errorf("settings.sslmode must be one of %s", strings.Join(sslModes, ", "))
	}
	config, err := pgconn.ParseConfig("host=" + host + " sslmode=" + mode + " passfile=/dev/null sslcert='' sslkey='' sslrootcert=''")
	if err != nil {
		return nil, fmt.Errorf("the settings cannot be read: %w", err)
	}
	config.Host, config.Port, config.Database, config.User, config.Password = host, uint16(port), c.text("database"), c.text("user"), c.Secrets["password"]
	config.Fallbacks = nil
	config.RuntimeParams = map[string]string{"application_name": "weftline", "timezone": "UTC", "datestyle": "ISO", "intervalstyle": "iso_8601"}
	dialer := &net.Dialer{ControlContext: egress.control}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(network, "tcp") {
			return nil, fmt.Errorf("only TCP is allowed, not %s", network)
		}
		return dialer.DialContext(ctx, network, address)
	}
	config.BuildContextWatcherHandler = func(session *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: session, DeadlineDelay: cancelPatience}
	}
	return config, nil
}

// run prepares the statement once and runs it once or for each set of parameters. A query and a batch happen
// wholly or not at all; a single exec needs no transaction, and some statements refuse one.
func (s *SQL) run(ctx context.Context, session *pgconn.PgConn, inputs sqlInputs, call Call) (any, error) {
	if inputs.mode == "exec" {
		return s.statement(ctx, session, inputs, call)
	}
	if err := session.Exec(ctx, "begin").Close(); err != nil {
		return nil, err
	}
	value, err := s.statement(ctx, session, inputs, call)
	if err != nil {
		return nil, err // closing the session rolls back
	}
	return value, session.Exec(ctx, "commit").Close()
}

func (s *SQL) statement(ctx context.Context, session *pgconn.PgConn, inputs sqlInputs, call Call) (any, error) {
	statement, err := session.Prepare(ctx, "", inputs.text, nil)
	if err != nil {
		return nil, err
	}
	counts := make([]any, 0, len(inputs.sets))
	answer := map[string]any{"rows": []any{}, "columns": []any{}, "file": nil}
	for _, set := range inputs.sets {
		values, err := s.bind(statement.ParamOIDs, set)
		if err != nil {
			return nil, err
		}
		reader := session.ExecPrepared(ctx, "", values, nil, nil)
		if inputs.mode == "query" {
			if err := s.answerRows(ctx, reader, inputs, call, answer); err != nil {
				_, _ = reader.Close() // err says more
				return nil, err
			}
		}
		tag, err := reader.Close()
		if err != nil {
			return nil, err
		}
		counts = append(counts, tag.RowsAffected())
	}
	answer["rowsAffected"] = any(counts)
	if inputs.mode != "batch" {
		answer["rowsAffected"] = counts[0]
	}
	return answer, nil
}

// sqlRefusal is a fault that this kind finds itself.
type sqlRefusal struct{ kind, message string }

func (e *sqlRefusal) Error() string { return e.message }

func refuseSQL(kind, format string, args ...any) error {
	return &sqlRefusal{kind, fmt.Sprintf(format, args...)}
}

// failed sorts an error into an error type.
func (s *SQL) failed(ctx context.Context, inputs sqlInputs, err error) Outcome {
	var refusal *sqlRefusal
	var address *refusedAddress
	var answer *pgconn.PgError
	var unkept *fileNotKept
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail("timeout.attempt", classExternal, nil, "%s did not answer in time", inputs.connection)
	case ctx.Err() != nil:
		return fail("cancelled", classActivity, nil, "the statement was cancelled")
	case errors.As(err, &unkept):
		return unkept.outcome
	case errors.As(err, &refusal):
		return fail(refusal.kind, classActivity, nil, "%s", refusal.message)
	case errors.As(err, &address):
		return fail("sql.address_refused", classActivity, nil, "%s: %s", inputs.connection, address)
	case errors.As(err, &answer):
		detail := map[string]any{"code": answer.Code, "constraint": answer.ConstraintName, "table": answer.TableName,
			"column": answer.ColumnName, "detail": answer.Detail, "hint": answer.Hint, "position": int64(answer.Position)}
		return fail(sqlErrorType(answer.Code), classExternal, detail, "%s: %s (%s)", inputs.connection, answer.Message, answer.Code)
	}
	return fail("sql.transient", classExternal, nil, "%s: %s", inputs.connection, err)
}

// sqlErrorType sorts SQLSTATE codes: transient ones may succeed when they are tried again.
func sqlErrorType(code string) string {
	switch code[:min(2, len(code))] {
	case "08", "40", "53", "55", "57":
		return "sql.transient"
	case "23":
		return "sql.constraint"
	case "42":
		return "sql.syntax"
	}
	return "sql.failed"
}
