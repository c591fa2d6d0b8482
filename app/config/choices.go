package config

import "log/slog"

// ExecutionMode says who drives an execution's steps and when they are committed.
type ExecutionMode string

const (
	Server     ExecutionMode = "server"
	LocalSync  ExecutionMode = "local_sync"
	LocalAsync ExecutionMode = "local_async"
)

// Scheduling says who is next among the executions that are ready.
type Scheduling string

const (
	TenantAware  Scheduling = "tenant_aware"
	WeightedFair Scheduling = "weighted_fair"
	ByPriority   Scheduling = "priority"
	ByDeadline   Scheduling = "deadline"
	FIFO         Scheduling = "fifo"
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
