package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"weftline/app/config"
	"weftline/app/demo"
	"weftline/app/examples"
	"weftline/app/localpg"
	"weftline/app/login"
	"weftline/app/metrics"
	"weftline/app/secretkey"
	"weftline/app/web"
	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/flow"
	"weftline/engine/queue"
	"weftline/migrations"
)

const (
	graceOfWork    = 10 * time.Second // what runs at the end may finish so long
	graceOfClients = 3 * time.Second  // open requests may finish so long
)

// application is everything that runs in the process, in the order in which it was started.
type application struct {
	config   *config.Config
	log      *slog.Logger
	private  bool            // the database is that of the data folder
	postgres *localpg.Server // nil with a database that this process did not start
	demo     *demo.Server    // nil without examples
	scripts  *activity.Script
	engine   *engine.Engine
	identity *engine.Identity
	running  chan error // the engine's end
}

// startApplication brings the database up and the engine to work; join: the private database of a server that
// runs already will do. On an error everything is stopped again.
func startApplication(ctx context.Context, c *config.Config, log *slog.Logger, join bool) (_ *application, err error) {
	a := &application{config: c, log: log, running: make(chan error, 1)}
	defer func() {
		if err != nil {
			a.stop()
		}
	}()
	url, err := a.database(ctx, join)
	if err != nil {
		return nil, err
	}
	if err := migrations.Up(ctx, url); err != nil {
		return nil, err
	}
	keys, err := a.secretKeys()
	if err != nil {
		return nil, err
	}
	kinds, err := a.activities()
	if err != nil {
		return nil, err
	}
	if a.engine, err = engine.Open(ctx, a.engineOptions(url, keys, kinds)); err != nil {
		return nil, err
	}
	a.identity = a.engine.Identity()
	go func() { a.running <- a.engine.Run(context.WithoutCancel(ctx)) }() // ends by Close
	return a, nil
}

// database answers the address of the database, starting the private one if there is no other.
func (a *application) database(ctx context.Context, join bool) (url string, err error) {
	if a.config.DatabaseURL != "" {
		return a.config.DatabaseURL, nil
	}
	a.private = true
	a.postgres, err = localpg.Start(ctx, localpg.Options{DataDir: a.config.DataDir, BinDir: a.config.PostgresBin, Log: a.log})
	if inUse := (*localpg.InUseError)(nil); join && errors.As(err, &inUse) && inUse.URL != "" {
		return inUse.URL, nil
	}
	if err != nil {
		return "", err
	}
	return a.postgres.URL(), nil
}

// secretKeys are those of the settings, else the one of the data folder of a private database. Without either
// the server keeps no secrets.
func (a *application) secretKeys() ([][]byte, error) {
	keys, err := configuredKeys(a.config)
	if err == nil && len(keys) == 0 && a.private {
		return secretkey.InFolder(a.config.DataDir)
	}
	return keys, err
}

// configuredKeys are the keys of the environment, or of the file that it names.
func configuredKeys(c *config.Config) ([][]byte, error) {
	switch {
	case c.SecretKey != "" && c.SecretKeyFile != "":
		return nil, errors.New("set WEFTLINE_SECRET_KEY or WEFTLINE_SECRET_KEY_FILE, not both")
	case c.SecretKeyFile != "":
		return secretkey.InFile(c.SecretKeyFile)
	}
	return secretkey.Parse(c.SecretKey)
}

func (a *application) engineOptions(url string, keys [][]byte, kinds *activity.Registry) engine.Options {
	c := a.config
	return engine.Options{
		DatabaseURL: url, ListenURL: a.config.ListenURL, SecretKeys: keys, Partitions: c.Queue.PartitionCount, Concurrency: c.Worker.Concurrency, Mode: string(c.ExecutionMode), Scheduling: c.Scheduling, Balance: c.Balance,
		Backpressure: engine.PressureLimits{QueueAge: c.Backpressure.QueueAge, QueueDepth: c.Backpressure.QueueDepth, Action: string(c.Backpressure.Action)},

		PayloadLimit: c.Limits.PayloadBytes, OutputLimit: c.Limits.OutputBytes, ItemLimit: c.Limits.ForEachItems, Grace: graceOfWork, Activities: kinds,
		Version: Version(), Region: c.Worker.Region, Zone: c.Worker.Zone, Labels: c.Worker.Labels,
		Teams: c.Worker.Teams, Workflows: c.Worker.Workflows, Queues: c.Worker.Queues, Serves: c.Worker.Partitions, KeepsWork: !c.Queue.Stealing, QuarantineAfter: c.Queue.QuarantineAfter, Log: a.log,
	}
}

// activities are the kinds that this process runs. The demo world is reached without any network.
func (a *application) activities() (*activity.Registry, error) {
	inside := map[string]activity.Dial{}
	if a.config.Examples {
		a.demo = demo.Start()
		inside[demo.Host] = a.demo.Dial
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, which runs scripts in a process of its own: %w", err)
	}
	a.scripts, err = activity.NewScript(activity.ScriptOptions{
		Sandbox: []string{program, sandboxCommand}, Languages: a.config.Worker.Scripts, MaxOutput: int64(a.config.Limits.OutputBytes)})
	if err != nil {
		return nil, err
	}
	registry := activity.NewRegistry()
	registry.Register(flow.TypeScript, a.scripts)
	egress, most := activity.Egress{Allow: a.config.EgressAllow}, int64(a.config.Limits.OutputBytes)
	web := activity.NewHTTP(activity.HTTPOptions{Egress: egress, Inside: inside, MaxOutput: most})
	registry.Register(flow.TypeHTTP, web)
	registry.Register(flow.TypeAI, activity.NewAI(web))
	registry.Register(flow.TypeSQL, activity.NewSQL(activity.SQLOptions{Egress: egress, MaxOutput: most}))
	registry.Register(flow.TypeEmail, activity.NewEmail(activity.EmailOptions{Egress: egress}))
	return registry, nil
}

// people makes who and what must be there: the local user in local mode, the teams that rules name
// otherwise, the bootstrap token, and the first examples.
func (a *application) people(ctx context.Context) (local *engine.Person, err error) {
	if len(a.config.Providers) == 0 {
		person, err := a.identity.EnsureLocalUser(ctx, localUser)
		if err != nil {
			return nil, err
		}
		local = &person
	} else if err := a.identity.EnsureTeams(ctx, teamsOfRules(a.config.Providers)); err != nil {
		return nil, err
	}
	if a.config.BootstrapToken != "" {
		if err := a.identity.EnsureBootstrapToken(ctx, a.config.BootstrapToken); err != nil {
			return nil, err
		}
	}
	return local, a.examples(ctx, local)
}

func (a *application) examples(ctx context.Context, local *engine.Person) error {
	if !a.config.Examples {
		return nil
	}
	who, err := a.identity.Server(ctx, engine.DefaultTeam)
	if err != nil {
		return err
	}
	if local != nil {
		who.User = local.Name
	}
	_, err = examples.Install(ctx, a.engine, who)
	return err
}

func teamsOfRules(providers []config.Provider) []string {
	var teams []string
	for _, p := range providers {
		for _, rule := range p.Rules {
			teams = append(teams, rule.Team)
		}
	}
	return teams
}

// login is nil in local mode.
func (a *application) login(addr net.Addr) *login.Service {
	if len(a.config.Providers) == 0 {
		return nil
	}
	return login.New(login.Options{Providers: a.config.Providers, PublicURL: a.publicURL(addr), Identity: a.identity,
		Limits: a.limits(), Grace: a.config.SessionGrace, Fresh: a.config.SessionFresh, Log: a.log})
}

// machines is nil when programs come with tokens of this server alone.
func (a *application) machines() *login.Machines {
	c := a.config
	if c.WorkerIssuer == "" && c.TLS.ClientCA == "" {
		return nil
	}
	return login.NewMachines(login.MachineOptions{Issuer: c.WorkerIssuer, Audience: c.WorkerAudience, Rules: c.WorkerRules, Identity: a.identity, Log: a.log})
}

func (a *application) scheme() string {
	if a.config.TLS.Certificate != "" {
		return "https"
	}
	return "http"
}

func (a *application) limits() engine.SessionLimits {
	return engine.SessionLimits{Idle: a.config.SessionIdle, Absolute: a.config.SessionAbsolute}
}

// publicURL is where browsers find this server: without a setting it listens on this machine only.
func (a *application) publicURL(addr net.Addr) string {
	if a.config.PublicURL != "" {
		return a.config.PublicURL
	}
	_, port, _ := net.SplitHostPort(addr.String())
	return a.scheme() + "://localhost:" + port
}

// server makes the web application; local is who visitors are in local mode.
func (a *application) server(local *engine.Person, addr net.Addr) *web.Server {
	m := metrics.New()
	m.Register(engineFigures(a.engine)...)
	return web.New(web.Options{
		Door: a.engine, Identity: a.identity, Vault: a.engine.Vault(), Connections: a.engine.Services(), Health: progress{a.engine}, Log: a.log, Metrics: m, PayloadMax: a.config.Limits.PayloadBytes,
		Local: local, AnyAddress: a.config.LocalModeAnyAddress, Hosts: a.hosts(addr),
		Login: a.login(addr), Machines: a.machines(), Limits: a.limits(), Fresh: a.config.SessionFresh, PublicURL: a.publicURL(addr),
	})
}

// hosts are the names of this very machine; none when a sign-in or something else guards the address.
func (a *application) hosts(addr net.Addr) []string {
	if a.config.LocalModeAnyAddress || len(a.config.Providers) > 0 {
		return nil
	}
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, _, err := net.SplitHostPort(addr.String()); err == nil {
		names = append(names, host)
	}
	return names
}

// ended waits until something that must run has ended by itself, and says what.
func (a *application) ended() <-chan error {
	ended := make(chan error, 1)
	var died <-chan error
	if a.postgres != nil {
		died = a.postgres.Died()
	}
	go func() {
		select {
		case err := <-died:
			ended <- fmt.Errorf("the private PostgreSQL has ended: %w", err)
		case err := <-a.running:
			a.running <- err
			ended <- errors.Join(errors.New("the engine has ended"), err)
		}
	}()
	return ended
}

// stop ends what was started, last first: nothing computed is lost.
func (a *application) stop() {
	if a.engine != nil {
		ctx, cancel := context.WithTimeout(context.Background(), graceOfWork+5*time.Second)
		a.engine.Close(ctx)
		cancel()
	}
	if a.scripts != nil {
		a.scripts.Close()
	}
	if a.demo != nil {
		_ = a.demo.Close() // it holds nothing
	}
	if a.postgres != nil {
		stopDatabase(a.postgres)
	}
}

// progress is the readiness check.
type progress struct{ engine *engine.Engine }

// readyAgeMax: when something is ready and nobody has taken it for so long, work does not make progress.
const readyAgeMax = 60 // seconds

// Ready asks the database; the schema is current since the start. What no worker serves does not count: this process
// is well, and taking it away would not help those who wait. Degraded says it.
func (p progress) Ready(ctx context.Context) error {
	backlog, err := p.engine.ServedBacklog(ctx, readyAgeMax*time.Second)
	if err != nil {
		return err
	}
	if backlog.OldestAge > readyAgeMax {
		return fmt.Errorf("%d executions are ready and the oldest has waited %.0f s for a worker: add workers or look at their logs",
			backlog.Depth, backlog.OldestAge)
	}
	return nil
}

// Degraded says in one sentence what waits for workers that nobody is, "" when nothing does.
func (p progress) Degraded(ctx context.Context) (string, error) {
	unserved, err := p.engine.Unserved(ctx)
	if err != nil || len(unserved) == 0 {
		return "", err
	}
	depth, longest := queue.SumUnserved(unserved)
	oldest := unserved[0]
	if depth == 0 {
		return fmt.Sprintf("%d attempts of workflow %s of team %s wait for a worker of the queue %s, the oldest for %.0f s: no worker that is alive takes any of it.",
			oldest.Attempts, oldest.Workflow, oldest.Team, oldest.Queue, oldest.Oldest), nil
	}
	return fmt.Sprintf("%d executions wait for workers that nobody is, the oldest for %.0f s: no worker that is alive takes workflow %s of team %s in the queue %s.",
		depth, longest, oldest.Workflow, oldest.Team, oldest.Queue), nil
}
