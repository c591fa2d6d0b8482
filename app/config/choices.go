package config

import "log/slog"

// ExecutionMode says who drives an execution's steps and when they are committed.
type ExecutionMode string

const (
	Server     ExecutionMode = "server"
	LocalSync  ExecutionMode = "local_sync"
	LocalAsync ExecutionMode = "local_async"
)

// Scheduling says which ready work goes first.
type Scheduling string

const (
	FIFO         Scheduling = "fifo"
	Priority     Scheduling = "priority"
	Deadline     Scheduling = "deadline"
	WeightedFair Scheduling = "weighted_fair"
	TenantAware  Scheduling = "tenant_aware"
)

// Balance says which worker gets it.
type Balance string

const (
	LeastLoaded   Balance = "least_loaded"
	RoundRobin    Balance = "round_robin"
	LeastActive   Balance = "least_active"
	ResourceAware Balance = "resource_aware"
	PriorityAware Balance = "priority_aware"
	LocalityAware Balance = "locality_aware"
)

// BackpressureAction says what happens to new work while the queue is too long.
type BackpressureAction string

const (
	SlowDown    BackpressureAction = "slow"
	HoldInQueue BackpressureAction = "queue"
	Reject      BackpressureAction = "reject"
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
