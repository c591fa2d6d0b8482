# `make run` is the one command a newcomer needs; `make help` lists the rest.

TOOL     := CGO_ENABLED=0 go tool -modfile=.tools/go.mod
BUNDLE   := cd .tools && CGO_ENABLED=0 go run ./bundle -static ../static
NPM_CI   := npm ci --ignore-scripts --no-audit --no-fund
GO_FILES  = $(shell git ls-files -co --exclude-standard '*.go')

.DEFAULT_GOAL := help
.PHONY: help run demo build test test-go test-islands test-browser check check-format check-go \
        check-generated check-types chaos generate templ sqlc bundle bench bench-ui fmt

help:
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

run: ## start Weftline on http://127.0.0.1:8080 (ARGS="--addr …" for more)
	@if [ -z "$$DATABASE_URL" ]; then .ci/need postgres || true; fi
	go run ./app serve $(ARGS)

demo: e2e/node_modules build ## Weftline with an identity provider and five people to sign in as
	@.ci/need node
	@if [ -z "$$DATABASE_URL" ]; then .ci/need postgres; fi
	node e2e/demo.mjs

build: ## the binary: bin/weftline
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/weftline ./app

# -- tests ------------------------------------------------------------------------------

test: test-go test-islands test-browser ## all tests; installs what they need

test-go: ## Go tests, on a real PostgreSQL
	@[ -n "$$TEST_DATABASE_URL" ] || .ci/need postgres
	go test -count=1 -timeout 20m ./...

test-islands: static/node_modules ## unit tests of the browser's code, in Node
	$(BUNDLE) -tests ../static/.test
	cd static && npm test --silent

test-browser: e2e/node_modules build ## the built binary in a real Chromium
	@.ci/need postgres
	@.ci/need chromium
	cd e2e && npx playwright test $(ARGS)

# -- checks -----------------------------------------------------------------------------

# In CI the tests run once, by `make test`.
check: check-format check-go check-generated check-types $(if $(CI),,test-go) ## everything a change must pass besides the browser tests

check-format:
	@unformatted=$$(gofmt -l $(GO_FILES)); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi

check-go:
	go vet ./...
	$(TOOL) staticcheck ./...
	cd .tools && CGO_ENABLED=0 go vet ./...

check-generated: ## committed code is what its sources generate
	@.ci/generated

check-types: static/node_modules e2e/node_modules
	cd static && npm run --silent check
	cd e2e && npm run --silent check

# -- generated code, all committed --------------------------------------------------------

generate: sqlc templ bundle ## regenerate all committed code

templ: ## views/**/*.templ → *_templ.go
	$(TOOL) templ generate -path views -log-level warn

sqlc: ## queries/*.sql → queries/*.sql.go
	$(TOOL) sqlc generate
	@for go in queries/*.sql.go; do [ -e "$${go%.go}" ] || rm -f "$$go"; done

bundle: static/node_modules ## static/islands, static/css → static/dist
	$(BUNDLE)

# -- the rest -----------------------------------------------------------------------------

chaos: ## three replicas under 60 seeded faults, and how soon they are back (WEFTLINE_CHAOS_SEED, WEFTLINE_CHAOS_ROUNDS)
	WEFTLINE_CHAOS_ROUNDS=$${WEFTLINE_CHAOS_ROUNDS:-60} go test -count=1 -timeout 60m -v ./engine -run 'TestAFleetUnderFaultsLosesNothing|TestHowSoonAFleetIsBack'

mutate: ## break the core on purpose, and see that the random worlds notice (minutes)
	go test ./engine/execution -run MutationsAreCaught -mutate -v -timeout 60m

bench: build ## a workload of `weftline bench` (ARGS="linear20 --mode local_sync")
	bin/weftline bench $(or $(ARGS),linear20 --mode local_sync)

bench-ui: build e2e/node_modules e2e/bench/node_modules ## the canvas beside React Flow and diagram-js, in a real Chromium
	@.ci/need chromium
	cd e2e/bench && node run.mjs

fmt: ## format Go and templates
	gofmt -w $(GO_FILES)
	$(TOOL) templ fmt views

%/node_modules: %/package-lock.json
	@.ci/need node
	cd $* && $(NPM_CI)
	@touch $@
