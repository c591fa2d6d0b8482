package config

import (
	"flag"
	"net/url"

	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
)

// Group puts settings under one heading; a command takes the groups that concern it.
type Group string

const (
	Web      Group = "Web"
	Login    Group = "Sign-in"
	Keys     Group = "Keys"
	Database Group = "Database"
	Pool     Group = "Worker pool"
	Queueing Group = "Queue"
	Limiting Group = "Limits"
	Logging  Group = "Log"
)

// AllGroups are what the whole application takes.
var AllGroups = []Group{Web, Login, Keys, Database, Pool, Queueing, Limiting, Logging}

// Setting is one row of the table. Name is the flag without its dashes, "" forms of a
// value are shown as empty.
type Setting struct {
	Group   Group
	Name    string
	Env     string
	Default string // in the form that flag and environment take
	Form    string // what a value looks like, for --help
	Help    string
	EnvOnly bool // no flag: others on the machine can read a process's arguments
	Secret  bool

	value func(*Config) flag.Value
}

// Settings is the table, in the order in which help and documentation show it.
func Settings() []Setting { return settings }

var settings = []Setting{
	{Group: Web, Name: "addr", Env: "WEFTLINE_ADDR", Default: "127.0.0.1:8080", Form: "HOST:PORT",
		Help: "address to listen on; port 0 takes a free one", value: func(c *Config) flag.Value { return (*text)(&c.Addr) }},
	{Group: Web, Name: "local-mode-any-address", Env: "WEFTLINE_LOCAL_MODE_ANY_ADDRESS", Default: "off", Form: "on|off",
		Help: "let local mode, where everybody is admin, listen on an address that other machines reach", value: func(c *Config) flag.Value { return (*onOff)(&c.LocalModeAnyAddress) }},
	{Group: Web, Name: "tls-cert", Env: "WEFTLINE_TLS_CERT", Form: "FILE",
		Help: "certificate of this server, with those between it and its authority; it then speaks HTTPS alone", value: func(c *Config) flag.Value { return (*text)(&c.TLS.Certificate) }},
	{Group: Web, Name: "tls-key", Env: "WEFTLINE_TLS_KEY", Form: "FILE",
		Help: "key of that certificate", value: func(c *Config) flag.Value { return (*text)(&c.TLS.Key) }},
	{Group: Web, Name: "tls-client-ca", Env: "WEFTLINE_TLS_CLIENT_CA", Form: "FILE",
		Help: "authorities whose client certificates are credentials of workers", value: func(c *Config) flag.Value { return (*text)(&c.TLS.ClientCA) }},
	{Group: Web, Name: "bootstrap-token", Env: "WEFTLINE_BOOTSTRAP_TOKEN", Form: "TOKEN", EnvOnly: true, Secret: true,
		Help: "make an admin token of this value at start, for automation", value: func(c *Config) flag.Value { return (*text)(&c.BootstrapToken) }},
	{Group: Web, Name: "examples", Env: "WEFTLINE_EXAMPLES", Default: "on", Form: "on|off",
		Help: "load the example workflows on the first start and serve the endpoints that they call", value: func(c *Config) flag.Value { return (*onOff)(&c.Examples) }},

	{Group: Login, Name: "public-url", Env: "WEFTLINE_PUBLIC_URL", Form: "URL",
		Help: "address that browsers use, such as https://weftline.example.org; without it localhost", value: func(c *Config) flag.Value { return (*text)(&c.PublicURL) }},
	{Group: Login, Name: "oidc-config", Env: "WEFTLINE_OIDC_CONFIG", Form: "FILE",
		Help: "YAML or JSON file of the identity providers and their rules; without any provider the server is in local mode", value: func(c *Config) flag.Value { return (*text)(&c.OIDCFile) }},
	{Group: Login, Name: "oidc-issuer", Env: "WEFTLINE_OIDC_ISSUER", Form: "URL",
		Help: "the one provider, instead of a file: its issuer, exactly as it calls itself", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.Issuer) }},
	{Group: Login, Name: "oidc-client-id", Env: "WEFTLINE_OIDC_CLIENT_ID", Form: "ID",
		Help: "what that provider calls Weftline", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.ClientID) }},
	{Group: Login, Name: "oidc-client-secret", Env: "WEFTLINE_OIDC_CLIENT_SECRET", Form: "SECRET", EnvOnly: true, Secret: true,
		Help: "what Weftline proves itself with there", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.ClientSecret) }},
	{Group: Login, Name: "oidc-name", Env: "WEFTLINE_OIDC_NAME", Form: "NAME",
		Help: "what people call it: Sign in with NAME", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.Name) }},
	{Group: Login, Name: "oidc-scopes", Env: "WEFTLINE_OIDC_SCOPES", Form: "SCOPE,…",
		Help: "scopes to ask for beside openid; without it profile and email", value: func(c *Config) flag.Value { return (*names)(&c.OIDC.Scopes) }},
	{Group: Login, Name: "oidc-name-claim", Env: "WEFTLINE_OIDC_NAME_CLAIM", Form: "CLAIM",
		Help: "claim that names a person here; without it preferred_username", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.NameClaim) }},
	{Group: Login, Name: "oidc-groups-claim", Env: "WEFTLINE_OIDC_GROUPS_CLAIM", Form: "CLAIM",
		Help: "claim with a person's groups; without it groups", value: func(c *Config) flag.Value { return (*text)(&c.OIDC.GroupsClaim) }},
	{Group: Login, Name: "oidc-rules", Env: "WEFTLINE_OIDC_RULES", Form: "CLAIM=VALUE:ROLE@TEAM,…",
		Help: "who gets which role in which team; nobody else may come in", value: func(c *Config) flag.Value { return (*rules)(&c.OIDC.Rules) }},
	{Group: Login, Name: "session-idle", Env: "WEFTLINE_SESSION_IDLE", Default: "8h", Form: "DURATION",
		Help: "a session ends after so long without a request", value: func(c *Config) flag.Value { return (*duration)(&c.SessionIdle) }},
	{Group: Login, Name: "session-absolute", Env: "WEFTLINE_SESSION_ABSOLUTE", Default: "24h", Form: "DURATION",
		Help: "a session ends so long after sign-in", value: func(c *Config) flag.Value { return (*duration)(&c.SessionAbsolute) }},
	{Group: Login, Name: "session-fresh", Env: "WEFTLINE_SESSION_FRESH", Default: "15m", Form: "DURATION",
		Help: "changing rights, policy, tokens, secrets and connections needs a sign-in that is no older; 0 = any age", value: func(c *Config) flag.Value { return (*duration)(&c.SessionFresh) }},
	{Group: Login, Name: "session-grace", Env: "WEFTLINE_SESSION_GRACE", Default: "15m", Form: "DURATION",
		Help: "a session lives on so long while its provider does not answer", value: func(c *Config) flag.Value { return (*duration)(&c.SessionGrace) }},

	{Group: Login, Name: "worker-issuer", Env: "WEFTLINE_WORKER_ISSUER", Form: "URL",
		Help: "issuer whose tokens, by client credentials, are credentials of workers", value: func(c *Config) flag.Value { return (*text)(&c.WorkerIssuer) }},
	{Group: Login, Name: "worker-audience", Env: "WEFTLINE_WORKER_AUDIENCE", Form: "NAME",
		Help: "audience that these tokens must name", value: func(c *Config) flag.Value { return (*text)(&c.WorkerAudience) }},
	{Group: Login, Name: "worker-rules", Env: "WEFTLINE_WORKER_RULES", Form: "CLAIM=VALUE:SCOPE@TEAM,…",
		Help: "what a program with such a token or certificate may do: worker, run or read; cert.cn, cert.o, cert.ou and cert.san are of certificates", value: func(c *Config) flag.Value { return (*rules)(&c.WorkerRules) }},

	{Group: Keys, Name: "secret-key", Env: "WEFTLINE_SECRET_KEY", Form: "BASE64,…", EnvOnly: true, Secret: true,
		Help: "32 bytes that encrypt secrets and sensitive values, further ones still decrypt; without it a private database has a key of its own in the data folder", value: func(c *Config) flag.Value { return (*text)(&c.SecretKey) }},
	{Group: Keys, Name: "secret-key-file", Env: "WEFTLINE_SECRET_KEY_FILE", Form: "FILE",
		Help: "file that holds these keys, one a line, in place of the environment", value: func(c *Config) flag.Value { return (*text)(&c.SecretKeyFile) }},

	{Group: Database, Name: "database-url", Env: "DATABASE_URL", Form: "URL", Secret: true,
		Help: "PostgreSQL 14 to 18 to use; without it a private one runs in the data folder", value: func(c *Config) flag.Value { return (*text)(&c.DatabaseURL) }},
	{Group: Database, Name: "database-listen-url", Env: "WEFTLINE_DATABASE_LISTEN_URL", Form: "URL", Secret: true,
		Help: "the same database past a connection pooler, for LISTEN; without it replicas behind a pooler poll", value: func(c *Config) flag.Value { return (*text)(&c.ListenURL) }},
	{Group: Database, Name: "data-dir", Env: "WEFTLINE_DATA_DIR", Default: "./data", Form: "FOLDER",
		Help: "folder of the private PostgreSQL", value: func(c *Config) flag.Value { return (*text)(&c.DataDir) }},
	{Group: Database, Name: "postgres-bin", Env: "WEFTLINE_POSTGRES_BIN", Form: "FOLDER",
		Help: "binaries of the private PostgreSQL; without it the usual places are searched", value: func(c *Config) flag.Value { return (*text)(&c.PostgresBin) }},

	{Group: Pool, Name: "concurrency", Env: "WEFTLINE_CONCURRENCY", Default: "16", Form: "N",
		Help: "activities that run at the same time", value: func(c *Config) flag.Value { return (*number)(&c.Worker.Concurrency) }},
	{Group: Pool, Name: "enable-script", Env: "WEFTLINE_ENABLE_SCRIPT", Form: "LANGUAGE,…",
		Help: "run scripts in bash, python or node too, as processes with the rights of this one; JavaScript always runs, in a sandbox", value: func(c *Config) flag.Value { return someOf(&c.Worker.Scripts, "bash", "python", "node") }},
	{Group: Pool, Name: "labels", Env: "WEFTLINE_LABELS", Form: "KEY=VALUE,…",
		Help: "labels that activities may ask for", value: func(c *Config) flag.Value { return (*pairs)(&c.Worker.Labels) }},
	{Group: Pool, Name: "region", Env: "WEFTLINE_REGION", Form: "NAME",
		Help: "where this pool is, for locality", value: func(c *Config) flag.Value { return (*text)(&c.Worker.Region) }},
	{Group: Pool, Name: "zone", Env: "WEFTLINE_ZONE", Form: "NAME",
		Help: "where in the region this pool is", value: func(c *Config) flag.Value { return (*text)(&c.Worker.Zone) }},
	{Group: Pool, Name: "queues", Env: "WEFTLINE_QUEUES", Form: "NAME,…",
		Help: "queues whose executions and work this pool takes; without it all", value: func(c *Config) flag.Value { return (*names)(&c.Worker.Queues) }},
	{Group: Pool, Name: "teams", Env: "WEFTLINE_TEAMS", Form: "NAME,…",
		Help: "teams that this pool works for; without it all", value: func(c *Config) flag.Value { return (*names)(&c.Worker.Teams) }},
	{Group: Pool, Name: "workflows", Env: "WEFTLINE_WORKFLOWS", Form: "NAME,…",
		Help: "workflows that this pool works for; without it all", value: func(c *Config) flag.Value { return (*names)(&c.Worker.Workflows) }},
	{Group: Pool, Name: "partitions", Env: "WEFTLINE_PARTITIONS", Form: "N-N,…",
		Help: "partitions, from 0, that this pool claims executions from; without it all", value: func(c *Config) flag.Value { return (*ranges)(&c.Worker.Partitions) }},
	{Group: Pool, Name: "egress-allow", Env: "WEFTLINE_EGRESS_ALLOW", Form: "CIDR,…",
		Help: "address ranges that activities may reach although they are loopback, private or link-local", value: func(c *Config) flag.Value { return (*prefixes)(&c.EgressAllow) }},

	{Group: Queueing, Name: "execution-mode", Env: "WEFTLINE_EXECUTION_MODE", Default: string(LocalSync), Form: "MODE",
		Help: "what `mode: default` of a workflow means: server, local_sync or local_async", value: func(c *Config) flag.Value { return oneOf(&c.ExecutionMode, Server, LocalSync, LocalAsync) }},
	{Group: Queueing, Name: "scheduling", Env: "WEFTLINE_SCHEDULING", Default: order.Names()[0], Form: "POLICY",
		Help: "who is next: tenant_aware (teams take turns, then priority, deadline, age), weighted_fair, priority, deadline or fifo", value: func(c *Config) flag.Value {
			return oneOf(&c.Scheduling, order.Names()...)
		}},
	{Group: Queueing, Name: "balance", Env: "WEFTLINE_BALANCE", Default: balance.Default, Form: "POLICY",
		Help: "which worker takes it: least_loaded (by slots in use), least_active, round_robin, resource_aware (by processor and memory), priority_aware or locality_aware (its region first)", value: func(c *Config) flag.Value {
			return oneOf(&c.Balance, balance.Names()...)
		}},
	{Group: Queueing, Name: "backpressure-queue-age", Env: "WEFTLINE_BACKPRESSURE_QUEUE_AGE", Default: "0s", Form: "DURATION",
		Help: "hold starts back while something has waited longer than this for a worker; 0s never does", value: func(c *Config) flag.Value { return (*duration)(&c.Backpressure.QueueAge) }},
	{Group: Queueing, Name: "backpressure-queue-depth", Env: "WEFTLINE_BACKPRESSURE_QUEUE_DEPTH", Default: "0", Form: "N",
		Help: "hold starts back while more executions than this wait for a worker; 0 never does", value: func(c *Config) flag.Value { return (*number)(&c.Backpressure.QueueDepth) }},
	{Group: Queueing, Name: "backpressure-action", Env: "WEFTLINE_BACKPRESSURE_ACTION", Default: string(QueueStarts), Form: "slow|queue|reject",
		Help: "how starts are held back: slow delays each, queue lets each wait for its turn, reject answers 503 with Retry-After", value: func(c *Config) flag.Value {
			return oneOf(&c.Backpressure.Action, SlowStarts, QueueStarts, RejectStarts)
		}},
	{Group: Queueing, Name: "partition-count", Env: "WEFTLINE_PARTITION_COUNT", Default: "32", Form: "N",
		Help: "partitions of a new database; an existing one refuses another count", value: func(c *Config) flag.Value { return (*number)(&c.Queue.PartitionCount) }},
	{Group: Queueing, Name: "work-stealing", Env: "WEFTLINE_WORK_STEALING", Default: "on", Form: "on|off",
		Help: "offer the activities that wait for a slot of this pool to pools with free ones", value: func(c *Config) flag.Value { return (*onOff)(&c.Queue.Stealing) }},

	{Group: Queueing, Name: "quarantine-after", Env: "WEFTLINE_QUARANTINE_AFTER", Default: "5", Form: "N",
		Help: "set an execution aside whose process died so often in a row while driving it", value: func(c *Config) flag.Value { return (*number)(&c.Queue.QuarantineAfter) }},

	{Group: Limiting, Name: "limit-payload", Env: "WEFTLINE_LIMIT_PAYLOAD", Default: "1MiB", Form: "SIZE",
		Help: "largest input, signal, event or form", value: func(c *Config) flag.Value { return (*size)(&c.Limits.PayloadBytes) }},
	{Group: Limiting, Name: "limit-output", Env: "WEFTLINE_LIMIT_OUTPUT", Default: "16MiB", Form: "SIZE",
		Help: "largest output of an activity", value: func(c *Config) flag.Value { return (*size)(&c.Limits.OutputBytes) }},
	{Group: Limiting, Name: "limit-for-each-items", Env: "WEFTLINE_LIMIT_FOR_EACH_ITEMS", Default: "10000", Form: "N",
		Help: "most items of a for_each", value: func(c *Config) flag.Value { return (*number)(&c.Limits.ForEachItems) }},

	{Group: Logging, Name: "log-format", Env: "WEFTLINE_LOG_FORMAT", Default: string(TextLog), Form: "text|json",
		Help: "form of the log on standard error", value: func(c *Config) flag.Value { return oneOf(&c.LogFormat, TextLog, JSONLog) }},
	{Group: Logging, Name: "log-level", Env: "WEFTLINE_LOG_LEVEL", Default: string(Info), Form: "LEVEL",
		Help: "least important lines to write: debug, info, warn or error", value: func(c *Config) flag.Value { return oneOf(&c.LogLevel, Debug, Info, Warn, Error) }},
}

// show is the value for people and logs: a secret only says that it is set.
func (s Setting) show(c *Config) string {
	v := s.value(c).String()
	if !s.Secret || v == "" {
		return v
	}
	if u, err := url.Parse(v); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host + u.Path // names the server; user, password and parameters stay hidden
	}
	return "(set)"
}
