# `make run` is the one command a newcomer needs; `make help` lists the rest.

TOOL := CGO_ENABLED=0 go tool -modfile=.tools/go.mod

.PHONY: templ sqlc bundle generate

generate: sqlc templ bundle ## regenerate all committed code

templ: ## views/**/*.templ → *_templ.go
	$(TOOL) templ generate -path views -log-level warn

sqlc: ## queries/*.sql → queries/*.sql.go
	$(TOOL) sqlc generate
	@for go in queries/*.sql.go; do [ -e "$${go%.go}" ] || rm -f "$$go"; done

bundle: static/node_modules ## static/islands, static/css → static/dist
	cd .tools && CGO_ENABLED=0 go run ./bundle -static ../static

static/node_modules: static/package-lock.json
	npm ci --prefix static --ignore-scripts --no-audit --no-fund
	touch $@
