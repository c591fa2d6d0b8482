package imports

import (
	"strings"
	"testing"

	"weftline/engine/flow"
)

// sample is a file of another system, what must stand in the result, and what must be said about it.
type sample struct {
	format, text string
	holds, notes []string
}

var samples = map[string]sample{
	"n8n": {format: "n8n", text: `{"name": "New Leads!", "nodes": [
  {"name": "Hook", "type": "n8n-nodes-base.webhook", "parameters": {"path": "leads"}},
  {"name": "Each night", "type": "n8n-nodes-base.scheduleTrigger", "parameters": {"rule": {"interval": [{"field": "cronExpression", "expression": "0 3 * * *"}]}}},
  {"name": "Get lead", "type": "n8n-nodes-base.httpRequest", "retryOnFail": true, "maxTries": 4, "parameters": {"url": "=https://crm/{{ $json.id }}", "method": "POST"}},
  {"name": "Big?", "type": "n8n-nodes-base.if", "parameters": {"conditions": {"number": [{"value1": 1}]}}},
  {"name": "Tell", "type": "n8n-nodes-base.slack", "parameters": {"channel": "sales"}, "continueOnFail": true},
  {"name": "Wait", "type": "n8n-nodes-base.wait", "parameters": {"amount": 5, "unit": "minutes"}},
  {"name": "Both", "type": "n8n-nodes-base.merge", "parameters": {}},
  {"name": "Remember", "type": "n8n-nodes-base.stickyNote", "parameters": {}}],
 "connections": {"Hook": {"main": [[{"node": "Get lead"}]]}, "Get lead": {"main": [[{"node": "Big?"}]]},
  "Big?": {"main": [[{"node": "Tell"}], [{"node": "Wait"}]]}, "Tell": {"main": [[{"node": "Both"}]]},
  "Wait": {"main": [[{"node": "Both"}, {"node": "Get lead"}]]}}}`,
		holds: []string{"name: new-leads", "path: /leads", "cron: 0 3 * * *", "id: get_lead", "attempts: 4", "needs: [big.holds]", "needs: [big.otherwise]", "task: n8n-nodes-base.slack", "onFailure: continue", "after: 5m", "needs: [tell, wait]"},
		notes: []string{"big_holds", "slack", "the way back from Wait to Get lead", "expressions of n8n"}},
	"argo": {format: "argo", text: `
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: survey}
spec:
  schedule: "0 5 * * 1"
  timezone: Pacific/Auckland
  workflowSpec:
    entrypoint: main
    arguments: {parameters: [{name: region, value: north}]}
    templates:
      - name: main
        dag:
          tasks:
            - {name: list, template: ls, arguments: {parameters: [{name: where, value: "{{workflow.parameters.region}}"}]}}
            - {name: copy, template: cp, depends: list.Succeeded, withItems: [a, b]}
            - {name: check, template: hold, depends: "copy || list.Failed"}
            - {name: nap, template: nap, dependencies: [check]}
      - {name: ls, retryStrategy: {limit: 2}, script: {image: alpine, source: "ls {{inputs.parameters.where}}\n"}}
      - {name: cp, container: {image: busybox, command: [cp, -r], args: ["my file", "{{item}}"]}}
      - {name: hold, suspend: {}}
      - {name: nap, suspend: {duration: "20"}}
`,
		holds: []string{"timezone: Pacific/Auckland", "default: north", "WHERE: ${{ inputs.region }}", "ls ${WHERE}", "attempts: 3", "type: for_each", "ITEM: ${{ item }}", "join: any", "needs: [copy, list.failure]", "type: human", "after: 20s"},
		notes: []string{"image alpine", "waits for a person"}},
	"github-actions": {format: "github-actions", text: `
name: Nightly build
on:
  push: {branches: [main]}
  schedule: [{cron: "15 2 * * *"}]
  workflow_dispatch: {inputs: {dry-run: {type: boolean, default: true, description: Only look}}}
env: {REGION: eu}
jobs:
  build:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - {name: Make, run: "make all", env: {KEY: "${{ secrets.DEPLOY_KEY }}", DRY: "${{ inputs.dry-run }}", SHA: "${{ github.sha }}"}}
  test:
    needs: build
    if: github.ref == 'refs/heads/main'
    strategy: {matrix: {version: [1.21, 1.22]}}
    steps: [{run: "go test ./..."}]
  release:
    needs: [build, test]
    uses: org/repo/.github/workflows/release.yml@main
    with: {tag: latest}
`,
		holds: []string{"cron: 15 2 * * *", "dry_run:", "timeout: 20m", "KEY: ${{ secrets.DEPLOY_KEY }}", "DRY: ${{ inputs.dry_run }}", "REGION: eu", "make all", "type: for_each", "MATRIX_VERSION: ${{ item }}", "needs: [build, test]", "$${{ github.sha }}"},
		notes: []string{"the event push", "actions/checkout@v4", "${{ github.sha }}", "reusable workflow", "github.ref"}},
	"step-functions": {format: "step-functions", text: `{"Comment": "Pays an invoice", "StartAt": "Check", "States": {
  "Check": {"Type": "Task", "Resource": "arn:aws:lambda:eu:1:function:check", "TimeoutSeconds": 30, "Next": "Large?",
    "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "MaxAttempts": 3, "BackoffRate": 2}],
    "Catch": [{"ErrorEquals": ["BadInvoice"], "Next": "Refuse"}]},
  "Large?": {"Type": "Choice", "Choices": [{"Variable": "$.amount", "NumericGreaterThan": 100, "Next": "Pause"}, {"And": [], "Next": "Pay"}], "Default": "Pay"},
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Check"},
  "Pay": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {"ApiEndpoint": "https://bank/pay", "Method": "POST"}, "Next": "Over"},
  "Over": {"Type": "Succeed"},
  "Refuse": {"Type": "Fail", "Error": "Refused", "Cause": "not an invoice"},
  "Lost": {"Type": "Pass", "End": true}}}`,
		holds: []string{"task: arn:aws:lambda:eu:1:function:check", "timeout: 30s", "attempts: 4", "delay: 2s", "when: inputs.amount > 100", "default: otherwise", "errors: [own.badinvoice]", "error: own.refused", "url: https://bank/pay", "after: 60s"},
		notes: []string{"the way back to Check", "nothing leads to the state Lost", "$.amount", "large_2_holds"}},
	"kestra": {format: "kestra", text: `
id: load_orders
namespace: company.team
description: Loads the orders
inputs:
  - {id: day, type: STRING, defaults: today}
  - {id: limit, type: INT, defaults: 10}
tasks:
  - {id: fetch, type: io.kestra.plugin.core.http.Request, uri: "https://shop/{{ inputs.day }}", headers: {key: "{{ secret('SHOP') }}"}, retry: {maxAttempts: 3, type: constant}}
  - id: both
    type: io.kestra.plugin.core.flow.Parallel
    tasks:
      - {id: left, type: io.kestra.plugin.scripts.shell.Commands, commands: [echo one, echo two]}
      - {id: right, type: io.kestra.plugin.gcp.bigquery.Query, sql: select 1}
  - id: enough
    type: io.kestra.plugin.core.flow.If
    condition: "{{ outputs.fetch.code == 200 }}"
    then: [{id: log, type: io.kestra.plugin.core.log.Log, message: fine}]
    else: [{id: stop, type: io.kestra.plugin.core.execution.Fail, errorMessage: no orders}]
triggers:
  - {id: daily, type: io.kestra.plugin.core.trigger.Schedule, cron: "0 9 * * *", timezone: Europe/Paris}
errors: [{id: alert, type: io.kestra.plugin.core.log.Log, message: oh}]
`,
		holds: []string{"name: load-orders", "url: https://shop/${{ inputs.day }}", "key: ${{ secrets.SHOP }}", "needs: [fetch]", "task: io.kestra.plugin.gcp.bigquery.Query", "needs: [left, right]", "needs: [enough.holds]", "needs: [enough.otherwise]", "timezone: Europe/Paris", "type: fail"},
		notes: []string{"bigquery", "errors did not map", "enough_holds"}},
}

func TestEachFormat(t *testing.T) {
	for name, s := range samples {
		result, err := Convert(s.format, "fallback", []byte(s.text))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, result.Text)
			continue
		}
		if report := flow.Validate(result.Text); !report.Valid {
			t.Errorf("%s: %+v\n%s", name, report.Errors, result.Text)
		}
		for _, want := range s.holds {
			if !strings.Contains(string(result.Text), want) {
				t.Errorf("%s: missing %q in\n%s", name, want, result.Text)
			}
		}
		var notes []string
		for _, note := range result.Notes {
			notes = append(notes, note.Path+": "+note.Message)
		}
		for _, want := range s.notes {
			if !strings.Contains(strings.Join(notes, "\n"), want) {
				t.Errorf("%s: no note about %q in\n%s", name, want, strings.Join(notes, "\n"))
			}
		}
		again, err := Convert(s.format, "fallback", []byte(s.text))
		if err != nil || string(again.Text) != string(result.Text) {
			t.Errorf("%s: twice the same file gives two texts (%v)", name, err)
		}
	}
	if len(samples) != len(Formats()) {
		t.Errorf("%d formats, %d samples", len(Formats()), len(samples))
	}
}

func TestWhatIsNoSuchFileIsRefused(t *testing.T) {
	for _, format := range Formats() {
		for _, text := range []string{"a: 1", "[]", "{", "{}", "nodes: 1\njobs: 1\ntasks: 1\nspec: 1\nStates: 1", `{"nodes": [1, null], "jobs": {"a": 1}, "tasks": [null], "States": {"A": null}, "StartAt": "A", "spec": {"entrypoint": "x", "templates": [1]}}`} {
			if result, err := Convert(format, "x", []byte(text)); err == nil && !flow.Validate(result.Text).Valid {
				t.Errorf("%s of %q gave\n%s", format, text, result.Text)
			}
		}
	}
	if _, err := Convert("cobol", "x", nil); err == nil || !strings.Contains(err.Error(), "argo, github-actions") {
		t.Errorf("%v", err)
	}
}

// Ids are never words that YAML or the language keeps for itself, and never the same twice.
func TestIDs(t *testing.T) {
	b := &builder{ids: map[string]bool{}}
	for name, want := range map[string]string{"Get Lead!": "get_lead", "1st": "step_1st", "Yes": "step_yes", "": "step", "Ünïcode x": "n_code_x"} {
		if got := b.id(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if again := b.id("get lead"); again != "get_lead_2" {
		t.Error(again)
	}
}
