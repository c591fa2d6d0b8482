import assert from 'node:assert/strict';
import test from 'node:test';
import { graphFromText, parseText } from '../graph/from-text';
import { actions, keyName } from './actions';
import { complete, indentAfter, type Scope } from './complete';
import { applyChange, invertChange } from './edit';
import { mergeLines } from './merge';
import { rank } from './picker';
import { mocksOf, triableBefore, withReal, wordsOf } from './plan';
import { badgesOf, nodeOf, parsePath, problemsFrom } from './problems';
import { leadsOn } from '../graph/model';
import { durationParts, Language, relevant } from './schema';
import { readProperties, retyped, writeSchema } from './schema-control';
import { freeId, idFrom } from './skeletons';
import { blockOf, lineOf, valueOf, valueOfBlock } from './values';

const text = `kind: Workflow
spec:
  input:
    properties:
      amount: {type: number}
      who: {type: object, properties: {name: {type: string}}}
  variables: {api: https://api.example}
  activities:
    - {id: fetch, type: http, inputs: {url: "https://a"}}
    - id: each
      type: for_each
      needs: [fetch]
      for_each:
        items: inputs.rows
        as: row
        activities:
          - {id: inner, type: set, outputs: {total: row.x}}
    - {id: last, type: set, needs: [each], outputs: {a: "1"}}
`;

function scopeAt(key: string | null): Scope {
  const { graph } = graphFromText(text);
  const root = parseText(text).workflow!.toJS() as Record<string, unknown>;
  return {
    graph, root,
    node: graph.nodes.find((n) => n.key === key) ?? null,
    fieldsOf: (n) => n.path.reduce<unknown>((v, step) => (v as Record<string | number, unknown>)[step], root) as Record<string, unknown>,
  };
}

const offered = (before: string, key: string | null, template = false) => complete(before, scopeAt(key), template)?.options.map((o) => o.text);

test('completion offers what can be read at that place, and only that', () => {
  assert.deepEqual(offered('inputs.', 'last'), ['amount', 'who']);
  assert.deepEqual(offered('inputs.who.n', 'last'), ['name']);
  assert.deepEqual(offered('1 + vars.', 'last'), ['api']);
  assert.deepEqual(offered('activities.', 'fetch'), undefined, 'nothing comes before the first');
  assert.deepEqual(offered('activities.', 'each'), ['fetch']);
  assert.deepEqual(offered('activities.fetch.outputs.', 'each'), ['status', 'headers', 'body']);
  assert.deepEqual(offered('activities.', 'inner'), ['fetch'], 'a body sees what comes before its loop');
  assert.deepEqual(offered('ro', 'inner'), ['row', 'round']);
  assert.deepEqual(offered('row.', 'inner'), undefined);
});

test('in a template completion waits for the braces', () => {
  assert.equal(offered('inputs.', 'last', true), undefined);
  assert.deepEqual(offered('https://x/${{ inputs.a', 'last', true), ['amount']);
  assert.equal(offered('${{ inputs.amount }} inputs.', 'last', true), undefined);
});

test('a problem finds its place in code points, its activity and its fix', () => {
  const line = 'a: "😀" bad';
  const [problem] = problemsFrom(`x: 1\n${line}\n`, [
    { path: 'spec.activities[1].for_each.activities[0].outputs', line: 2, column: 8, endLine: 2, endColumn: 11, code: 'E1', severity: 'error', message: 'm', edits: [{ line: 2, column: 8, endLine: 2, endColumn: 11, text: 'good' }] },
  ]);
  assert.equal(`x: 1\n${line}\n`.slice(problem!.from, problem!.to), 'bad');
  assert.equal(applyChange(`x: 1\n${line}\n`, problem!.fix), 'x: 1\na: "😀" good\n');
  const { graph } = graphFromText(text);
  assert.equal(nodeOf(graph, problem!), 'inner');
  assert.equal(badgesOf(graph, [problem!]).get('inner')?.severity, 'error');
  assert.deepEqual(parsePath('spec.activities[12]["odd key"].x'), ['spec', 'activities', 12, 'odd key', 'x']);
});

test('edits apply in sequence, and their inverse takes them back', () => {
  const change = [{ from: 0, to: 1, insert: 'XY' }, { from: 3, to: 4, insert: '' }];
  const after = applyChange('abcdef', change);
  assert.equal(after, 'XYbdef');
  assert.equal(applyChange(after, invertChange('abcdef', change)), 'abcdef');
});

test('changes in different lines are merged, in the same lines they are not', () => {
  assert.equal(mergeLines('a\nb\nc\nd', 'A\nb\nc\nd', 'a\nb\nc\nD\ne'), 'A\nb\nc\nD\ne');
  assert.equal(mergeLines('a\nb\nc', 'a\nX\nc', 'a\nY\nc'), null);
  assert.equal(mergeLines('a', 'a', 'b'), 'b');
  assert.equal(mergeLines('a', 'b', 'a'), 'b');
});

test('a value survives its form field', () => {
  for (const value of ['plain', '5', 5, true, 'true', null, [1, 'a'], { a: 1 }, 'with: colon', '${{ inputs.x }}', "it's", '- dash', '{not yaml', '#x']) {
    assert.deepEqual(valueOf(lineOf(value)), value, JSON.stringify(value));
  }
  for (const value of [{ a: { b: [1, 'x\ny\n'] } }, ['a'], 'text', 3]) assert.deepEqual(valueOfBlock(blockOf(value)), value);
  assert.throws(() => valueOfBlock('a: [1'));
  assert.equal(valueOfBlock('  '), undefined);
});

test('the schema builder keeps what it does not show', () => {
  const schema = { type: 'object', additionalProperties: false, required: ['a'], properties: { a: { type: 'string', pattern: '^x' }, b: { type: 'integer', minimum: 1 } } };
  assert.deepEqual(writeSchema(schema, readProperties(schema)!), schema);
  assert.equal(readProperties({ type: 'object', properties: { a: { oneOf: [] } } }), null, 'left to the YAML');
  assert.equal(writeSchema({ type: 'object', additionalProperties: false }, []), undefined);
});

test('typing finds the beginning of a label first, then of a word, and what is refused last', () => {
  const list = [{ label: 'For each' }, { label: 'Wait for event', refused: 'no' }, { label: 'Human task', also: 'form approval' }, { label: 'Inform' }];
  assert.deepEqual(rank(list, 'for').map((c) => c.label), ['For each', 'Human task', 'Inform', 'Wait for event']);
  assert.deepEqual(rank(list, 'zzz'), []);
});

test('ids are made of any words and stay free', () => {
  assert.equal(idFrom('Charge the Card!'), 'charge_the_card');
  assert.equal(idFrom('2. Prüfung'), 'prufung');
  assert.equal(idFrom('True'), 'true_step');
  assert.equal(freeId('a_2', new Set(['a_2', 'a_3'])), 'a_4');
});

test('zoom keys are read by what they write, on any layout', () => {
  const press = (key: string, held: Partial<KeyboardEvent> = {}) => keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held });
  const does = (name: string) => actions.find((a) => a.keys?.includes(name))?.id;
  assert.equal(does(press('+', { shiftKey: true })), 'zoom-in', 'a layout with + above =');
  assert.equal(does(press('+')), 'zoom-in', 'a layout with a key of its own for +');
  assert.equal(does(press('-')), 'zoom-out');
});

test('every key does one thing, and every action can be found by name', () => {
  const keys = actions.flatMap((a) => a.keys ?? []);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(new Set(actions.map((a) => a.title)).size, actions.length);
  const press = (key: string, held: Partial<KeyboardEvent> = {}) => keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held });
  assert.equal(press('z', { metaKey: true, shiftKey: true }), 'Ctrl+Shift+Z');
  assert.equal(press('?', { shiftKey: true }), '?');
  assert.equal(press('F2', { shiftKey: true }), 'Shift+F2');
});

test('a field becomes a file and something else again', () => {
  const file = retyped({ type: 'string', title: 'Paper' }, 'file', []);
  assert.deepEqual(file, { type: 'object', title: 'Paper', 'x-file': true });
  assert.deepEqual(retyped({ ...file, 'x-file': { maxSize: '1MB' } }, 'file', [])['x-file'], { maxSize: '1MB' });
  assert.deepEqual(retyped(file, 'string', []), { type: 'string', title: 'Paper' });
});

test('an activity leads on by the port it ended by, and by those that do not ask', () => {
  const taken = (ended: string) => ['large', 'small', 'success', 'failure', 'done'].filter((port) => leadsOn(ended, port));
  assert.deepEqual(taken('large'), ['large', 'success', 'done']);
  assert.deepEqual(taken('failure'), ['failure', 'done']);
});

test('a plain duration has an amount and a unit, and nothing else has', () => {
  assert.deepEqual(durationParts('1.5h'), { amount: '1.5', unit: 'h' });
  for (const other of ['1h30m', 'P1D', '5', 'inputs.wait', '']) assert.equal(durationParts(other), null, other);
});

test('a key is shown while what it depends on says so, and always once it is set', () => {
  const language = new Language({ $defs: { 'type.call': { type: 'object', properties: {
    way: { enum: ['basic', 'bearer'], 'x-default': 'basic', title: 'Way' },
    user: { type: 'string', 'x-with': { key: 'way', values: ['basic'] } },
    token: { type: 'string', 'x-with': { key: 'way', values: ['bearer'] } },
  } } } });
  const shown = (values: Record<string, string>) => relevant(language.own('call'), (path) => values[String(path.at(-1))]).map((f) => f.path.at(-1));
  assert.deepEqual(shown({}), ['way', 'user']);
  assert.deepEqual(shown({ way: 'bearer' }), ['way', 'token']);
  assert.deepEqual(shown({ way: 'bearer', user: 'ann' }), ['way', 'user', 'token']);
  assert.equal(language.own('call')[0]!.governs, true, 'a change of it builds the form anew');
});

test('a new line of YAML begins below the value that is missing, or beside its first key', () => {
  const cases: [string, number | null][] = [
    ['spec:', 2], ['  activities:', 4], ['    - id: one', 6], ['    - type: http', 6], ['      inputs:', 8], ['    - inputs:', 8], ['  text: |', 4],
    ['      name: one', null], ['  # outputs:', null], ['', null], ['  -', null],
  ];
  for (const [line, columns] of cases) assert.equal(indentAfter(line), columns, line);
});

test('what was really tried takes the place of the plan, a loop by its items, and what fails is an error', () => {
  const { graph } = graphFromText('kind: Workflow\nspec:\n  activities:\n  - {id: each, type: for_each, for_each: {items: "[1]", activities: [{id: price, type: http}]}}\n  - {id: load, type: http, needs: [each]}\n  - {id: sum, type: set, needs: [load]}\n');
  assert.deepEqual(triableBefore(graph, 'sum').map((n) => n.key), ['price', 'load']);
  assert.deepEqual(triableBefore(graph, 'each'), []);
  const tried = [
    { activity: 'price', item: 'a', status: 'completed', outputs: { n: 1 } }, { activity: 'price', item: 'b', status: 'completed', outputs: { n: 2 } },
    { activity: 'load', status: 'failed', error: { type: 'http.503', message: 'busy' } }, { activity: 'sum', status: 'completed', outputs: { n: 3 } },
  ];
  assert.deepEqual(mocksOf(tried, graph), { price: { items: { a: { n: 1 }, b: { n: 2 } } }, load: { error: 'http.503', message: 'busy' } });
  const plan = withReal({ status: 'incomplete', edges: [], problems: [], steps: [{ activity: 'load', status: 'pending', needsMock: true }, { activity: 'other', status: 'pending' }] }, tried);
  assert.deepEqual(plan.steps.map(wordsOf), ['failed for real: http.503', 'pending']);
});
