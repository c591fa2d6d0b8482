package config

import "log/slog"

// ExecutionMode says who drives an execution's steps and when they are committed.
type ExecutionMode string

const (
	Server     ExecutionMode = "server"
	LocalSync  ExecutionMode = "local_sync"
	LocalAsync ExecutionMode = "local_async"
)

// PressureAction says how starts are held back while too much waits.
type PressureAction string

const (
	SlowStarts   PressureAction = "slow"
	QueueStarts  PressureAction = "queue"
	RejectStarts PressureAction = "reject"
)

// LogFormat is the form of a log line.
type LogFormat string

const (
	TextLog LogFormat = "text"
	JSONLog LogFormat = "json"
)

// LogLevel is the least important line that is written.
type LogLevel string

const (
	Debug LogLevel = "debug"
	Info  LogLevel = "info"
	Warn  LogLevel = "warn"
	Error LogLevel = "error"
)

// Slog is the level as the standard library's logger counts it.
func (l LogLevel) Slog() slog.Level {
	return map[LogLevel]slog.Level{Debug: slog.LevelDebug, Info: slog.LevelInfo, Warn: slog.LevelWarn, Error: slog.LevelError}[l]
}
