package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"weftline/engine/flow"
	"weftline/queries"
)

// Refusals of a look-up.
var (
	ErrNotFound     = errors.New("not found")
	ErrNotPublished = errors.New("not published")
)

// Definition is a compiled version.
type Definition struct {
	*flow.Workflow
	Number int // the published version
	Hash   string

	activities map[string]*flow.Activity
	children   map[string]*flow.Child
	limited    bool
	joins      bool
}

func newDefinition(workflow *flow.Workflow, number int, hash string) *Definition {
	d := &Definition{Workflow: workflow, Number: number, Hash: hash, activities: map[string]*flow.Activity{}}
	for _, graph := range []*flow.Graph{workflow.Graph, workflow.OnError, workflow.OnExit} {
		d.index(graph)
	}
	d.children = childrenOf(d.activities)
	for _, child := range d.children {
		d.joins = d.joins || child.DedupeKey != nil
	}
	d.limited = workflow.Limits.MaxConcurrent > 0 || slices.ContainsFunc(d.Activities(), hasSemaphore)
	return d
}

// childrenOf finds the child workflows by the key of the activity that starts them.
func childrenOf(activities map[string]*flow.Activity) map[string]*flow.Child {
	children := map[string]*flow.Child{}
	for id, a := range activities {
		for ; a != nil; a = singleBody(a) {
			if a.Workflow != nil {
				children[ChildKey(id, false)] = a.Workflow
			}
			if a.Compensate != nil && a.Compensate.Workflow != nil {
				children[ChildKey(id, true)] = a.Compensate.Workflow
			}
		}
	}
	return children
}

func hasSemaphore(a *flow.Activity) bool {
	return a.Semaphore != nil || a.Compensate != nil && a.Compensate.Semaphore != nil
}

// Limited reports whether executions of the version may hold permits.
func (d *Definition) Limited() bool { return d.limited }

// JoinsChildren reports whether executions of the version may wait for children that others started.
func (d *Definition) JoinsChildren() bool { return d.joins }

// ChildKey names the child workflow of an activity, or that of what undoes it, among those of a file.
func ChildKey(activity string, compensating bool) string {
	if compensating {
		return activity + "/compensate"
	}
	return activity
}

// Children are the child workflows of the file by ChildKey; they are not to be changed.
func (d *Definition) Children() map[string]*flow.Child { return d.children }

func (d *Definition) index(graph *flow.Graph) {
	if graph == nil {
		return
	}
	for _, a := range graph.Activities {
		d.activities[a.ID] = a
		for loop := a.ForEach; loop != nil; loop = inner(loop) {
			d.index(loop.Body)
		}
	}
}

// inner is the loop that is the single activity of a loop.
func inner(loop *flow.ForEach) *flow.ForEach {
	if loop.Activity == nil {
		return nil
	}
	return loop.Activity.ForEach
}

// Activity finds an activity anywhere in the file; a loop whose body is one activity stands for it too.
// Nil when there is none.
func (d *Definition) Activity(id string) *flow.Activity { return d.activities[id] }

// Activities lists all activities of the file, single bodies of loops included.
func (d *Definition) Activities() []*flow.Activity {
	var all []*flow.Activity
	for _, a := range d.activities {
		for ; a != nil; a = singleBody(a) {
			all = append(all, a)
		}
	}
	return all
}

func singleBody(a *flow.Activity) *flow.Activity {
	if a.ForEach == nil {
		return nil
	}
	return a.ForEach.Activity
}

// Library finds versions and keeps them compiled. The content of a version is immutable, so an entry is never stale.
type Library struct {
	q *queries.Queries

	loading   singleflight.Group // a version asked for by many at once is compiled once
	published *together[workflowKey, queries.WorkflowPublicationRow]
	mu        sync.Mutex
	compiled  map[versionKey]*Definition
}

type workflowKey struct {
	team     uuid.UUID
	workflow string
}

type versionKey struct {
	team     uuid.UUID
	workflow string
	version  int
}

// librarySize bounds the compiled versions kept in memory; past it the cache starts afresh.
const librarySize = 1000

func newLibrary(q *queries.Queries) *Library {
	return &Library{q: q, published: newTogether[workflowKey, queries.WorkflowPublicationRow](), compiled: map[versionKey]*Definition{}}
}

// Version gives a numbered version.
func (l *Library) Version(ctx context.Context, team uuid.UUID, workflow string, version int) (*Definition, error) {
	key := versionKey{team, workflow, version}
	if known := l.known(key); known != nil {
		return known, nil
	}
	loaded, err, _ := l.loading.Do(fmt.Sprint(key), func() (any, error) { return l.load(context.WithoutCancel(ctx), key) })
	if err != nil {
		return nil, err
	}
	return loaded.(*Definition), nil
}

func (l *Library) load(ctx context.Context, key versionKey) (*Definition, error) {
	workflow, version := key.workflow, key.version
	row, err := l.q.RunnableVersion(ctx, int32(version), key.team, workflow)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("version %d of workflow %s: %w", version, workflow, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	compiled, err := flow.Load(row.Text)
	if err != nil {
		return nil, fmt.Errorf("compile version %d of workflow %s: %w", version, workflow, err)
	}
	definition := newDefinition(compiled, int(row.Version), row.ContentHash)
	l.keep(key, definition)
	return definition, nil
}

// publishedWithin is how long those who ask together wait for the database.
const publishedWithin = 10 * time.Second

// Published gives the version that new executions start on.
func (l *Library) Published(ctx context.Context, team uuid.UUID, workflow string) (*Definition, error) {
	row, err := l.published.ask(workflowKey{team, workflow}, func() (queries.WorkflowPublicationRow, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishedWithin)
		defer cancel()
		return l.q.WorkflowPublication(ctx, team, workflow)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("workflow %s: %w", workflow, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	if row.PublishedVersion == nil {
		return nil, fmt.Errorf("workflow %s: %w", workflow, ErrNotPublished)
	}
	return l.Version(ctx, team, workflow, int(*row.PublishedVersion))
}

// Resolve finds the version that a child activity names: "" is the latest published, a whole number that
// version, anything else the newest version whose semantic version fits the range.
func (l *Library) Resolve(ctx context.Context, team uuid.UUID, workflow, wanted string) (*Definition, error) {
	if wanted == "" {
		return l.Published(ctx, team, workflow)
	}
	if number, err := strconv.Atoi(wanted); err == nil {
		return l.Version(ctx, team, workflow, number)
	}
	rows, err := l.q.LabelledVersions(ctx, team, workflow)
	if err != nil {
		return nil, err
	}
	number, err := newestFitting(rows, wanted)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", workflow, err)
	}
	return l.Version(ctx, team, workflow, number)
}

func newestFitting(rows []queries.LabelledVersionsRow, wanted string) (int, error) {
	fits, err := semver.NewConstraint(wanted)
	if err != nil {
		return 0, fmt.Errorf("version range %q: %w", wanted, err)
	}
	var best *semver.Version
	number := 0
	for _, row := range rows {
		label, err := semver.NewVersion(row.Label)
		if err == nil && fits.Check(label) && (best == nil || label.GreaterThan(best)) {
			best, number = label, int(row.Version)
		}
	}
	if best == nil {
		return 0, fmt.Errorf("no version fits %s: %w", wanted, ErrNotFound)
	}
	return number, nil
}

func (l *Library) known(key versionKey) *Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.compiled[key]
}

func (l *Library) keep(key versionKey, definition *Definition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.compiled) >= librarySize {
		clear(l.compiled)
	}
	l.compiled[key] = definition
}
