import assert from 'node:assert/strict';
import test from 'node:test';
import { graphFromText } from '../graph/from-text';
import { run } from './commands';
import { applyChange, invertChange } from './edit';
import { extract } from './extract';

const head = 'apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: orders\n';
const orders = `${head}spec:
  input:
    type: object
    required: [id]
    properties:
      id: {type: string}
      card: {type: string, x-sensitive: true}
  variables: {shop: "north"}
  activities:
    - id: load # the order
      type: http
      inputs: {url: "https://shop/\${{ inputs.id }}"}

    # takes the money
    - id: charge
      type: http
      needs: [load]
      inputs: {url: "https://\${{ vars.shop }}/pay", body: {card: "\${{ inputs.card }}", total: "\${{ activities.load.outputs.body.total }}"}}
    - id: receipt
      type: set
      needs: [charge]
      outputs: {number: 'activities.charge.outputs.body.number + activities.load.outputs?.suffix', when: execution.startedAt}
    - id: ship
      type: http
      needs: [receipt]
      inputs: {url: "https://shop/ship/\${{ activities.receipt.outputs.number }}", note: "activities.receipt.outputs is prose"}
  output: {paid: activities.charge.outputs.body.ok, number: "activities.receipt?.outputs?.number ?? 'none'"}
`;

test('activities move into a workflow of their own, what they read becomes inputs and what is read of them outputs', () => {
  const { child, command } = extract(orders, ['charge', 'receipt'], 'order-payment');
  assert.equal(child, `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: order-payment
spec:
  input:
    type: object
    properties:
      card:
        type:
          - string
          - "null"
        x-sensitive: true
      shop:
        description: vars.shop
      load:
        description: activities.load.outputs
      execution_startedat:
        description: execution.startedAt
  activities:
    - id: charge
      type: http
      inputs: {url: "https://\${{ inputs.shop }}/pay", body: {card: "\${{ inputs.card }}", total: "\${{ inputs.load.body.total }}"}}
    - id: receipt
      type: set
      needs: [charge]
      outputs: {number: 'activities.charge.outputs.body.number + inputs.load?.suffix', when: inputs.execution_startedat}
  output:
    receipt: activities.receipt.outputs
    charge: activities.charge.outputs
`);
  const done = run(orders, command);
  assert.match(done.text, /- id: order_payment\n {6}type: workflow\n {6}needs: \[load\]\n {6}workflow: \{name: order-payment\}|workflow:\n {8}name: order-payment/);
  const { graph, root } = graphFromText(done.text);
  assert.deepEqual(graph.nodes.map((n) => n.key), ['load', 'order_payment', 'ship']);
  assert.deepEqual(graph.edges.map((e) => e.key), ['load.success->order_payment', 'order_payment.success->ship']);
  const spec = root.spec as { activities: Record<string, Record<string, unknown>>[]; output: Record<string, string> };
  assert.deepEqual(spec.activities[1]!.inputs, {
    card: '${{ inputs.card }}', shop: '${{ vars.shop }}', load: '${{ activities.load.outputs }}', execution_startedat: '${{ execution.startedAt }}',
  });
  assert.deepEqual(spec.activities[1]!.outputs, { receipt: 'result.output.receipt', charge: 'result.output.charge' });
  assert.equal(spec.activities[2]!.inputs!.url, 'https://shop/ship/${{ activities.order_payment.outputs.receipt.number }}');
  assert.equal(spec.output.paid, 'activities.order_payment.outputs.charge.body.ok');
  assert.equal(spec.output.number, "activities.order_payment?.outputs?.receipt?.number ?? 'none'");
  assert.match(done.text, /# the order/);
  assert.equal(applyChange(done.text, invertChange(orders, done.change)), orders, 'one step takes it all back');
});

test('it is refused with a reason where the execution would not mean the same', () => {
  const list = (items: string, more = '') => `${head}spec:\n  input: {type: object, properties: {a: {type: string}}}\n  activities:\n${items.trim().split('\n').map((l) => `    ${l}`).join('\n')}\n${more}`;
  const set = (id: string, rest = '') => `- {id: ${id}, type: set, outputs: {v: "1"}${rest}}\n`;
  const chain = set('a') + set('b', ', needs: [a]') + set('c', ', needs: [b]') + set('d', ', needs: [c]');
  const cases: [string, string[], RegExp][] = [
    [list(chain), [], /Choose/],
    [list(chain + set('e') + set('f', ', needs: [e, c]')), ['b', 'f'], /different|waits for/],
    [list(set('a') + set('b', ', needs: [a]') + set('c', ', needs: [a, b]') + set('x') + set('y', ', needs: [b, x]')), ['b', 'y'], /y also waits for x/],
    [list(set('a') + set('b', ', needs: [a]') + set('c', ', needs: [a]') + set('d', ', needs: [b]') + set('e', ', needs: [c]')), ['b', 'c'], /both lead outside/],
    [list(set('a') + set('b', ', needs: [a]') + set('c', ', needs: [a]') + set('d', ', needs: [b]')), ['a', 'b', 'c'], /c does not lead to b/],
    [list(`- {id: a, type: switch, switch: {cases: [{name: x, when: "true"}], default: y}}\n${set('b', ', needs: [a.x]')}${set('c', ', needs: [b]')}`), ['a', 'b'], /may be skipped/],
    [list(`- {id: a, type: switch, switch: {cases: [{name: x, when: "true"}], default: y}}\n${set('b', ', needs: [a.x]')}`), ['a'], /needs that port/],
    [list(set('a') + set('b', ', needs: [a.failure]')), ['a'], /on failure needs that port/],
    [list(set('a', ', compensate: {type: set, outputs: {v: "2"}}')), ['a'], /what undoes it/],
    [list('- {id: a, type: end}'), ['a'], /ends the whole execution/],
    [list(`- {id: a, type: set, outputs: {v: trigger.type}}`), ['a'], /reads trigger/],
    [list(`- {id: a, type: set, outputs: {v: toJSON(inputs)}}`), ['a'], /inputs as a whole/],
    [list(set('a'), '  output: {v: activities.a.status}\n'), ['a'], /only outputs can be/],
    [list(`- {id: a, type: for_each, for_each: {items: "[1]", activities: [{id: in_it, type: set, outputs: {v: item}}]}}`), ['in_it'], /inside a loop/],
    [list(set('a', ', when: inputs.a == "x"') + set('b')), ['a', 'b'], /condition of its own/],
    [list('- {id: a, type: human, human: {title: x, due: 1d}}\n- {id: b, type: human, needs: [a], human: {title: y, notSameAs: [a], due: 1d}}'), ['b'], /one execution/],
    [list(set('a'), '  onError: [{id: h, type: set, outputs: {v: error.type}}]\n'), ['a'], /error.type/],
  ];
  for (const [text, keys, reason] of cases) assert.throws(() => extract(text, keys, 'child'), reason, keys.join());
});

test('a condition goes with the activity that stands for the child, and a string that looks like a reading stays', () => {
  const text = `${head}spec:\n  input: {type: object, properties: {a: {type: string}}}\n  activities:\n    - {id: a, type: set, outputs: {v: "1"}}\n    - {id: b, type: set, needs: [a], when: activities.a.outputs.v > 0, outputs: {v: '"activities.a.outputs.v"'}}\n    - {id: c, type: set, needs: [b], outputs: {v: "2"}}\n`;
  const { child, command } = extract(text, ['b'], 'later');
  assert.match(child, /- \{id: b, type: set, outputs: \{v: '"activities\.a\.outputs\.v"'\}\}/);
  assert.doesNotMatch(child, /when|input:/);
  const { root } = graphFromText(run(text, command).text);
  const [, b, c] = (root.spec as { activities: Record<string, unknown>[] }).activities;
  assert.deepEqual([b!.when, b!.needs, c!.needs], ['activities.a.outputs.v > 0', ['a'], ['later']]);
  assert.throws(() => run(text.replace('"2"', '"3"').replace('id: b, type: set', 'id: b, name: x, type: set'), command), /changed meanwhile/);
});
