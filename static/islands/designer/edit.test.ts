import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { graphFromText, parseText } from '../graph/from-text';
import { closed } from '../graph/model';
import { arrange } from './arrange';
import { copyText } from './clipboard';
import { duplicate, paste } from './paste';
import {
  addActivity, addNote, changeType, connect, disconnect, insertOnEdge, move, moveNote, refusals, removeNote, remove, rename, run, setField, tidy, toggleClosed, writeNote, type Command,
} from './commands';
import { Draft } from './draft';
import { applyChange, invertChange } from './edit';
import { extract } from './extract';
import { randomFrom } from './random';

const sample = `# who looks after this: the orders team
apiVersion: weftline/v1
kind: Workflow
metadata:
  name: orders # the public name
spec:
  activities:
    # reads the order
    - id: fetch
      type: http
      inputs:
        method: GET   # idempotent
        url: 'https://shop.example/orders/\${{ inputs.id }}'
      retry: &patient {attempts: 4, delay: 1s}

    - id: decide
      type: switch
      needs: [fetch]
      switch:
        cases:
          - {name: big, when: activities.fetch.outputs.body.total > 100}
        default: small

    - {id: ship, type: http, needs: [decide.small], inputs: {url: "https://shop.example/ship"}, retry: *patient}
    - id: ask
      type: human
      needs:
        - decide.big
      human: {title: "Ship \${{ activities.fetch.outputs.body.id }}?", candidates: {groups: [managers]}}
  output:
    order: activities.fetch.outputs.body
`;

const after = (text: string, command: Command) => run(text, command).text;
const nodes = (text: string) => graphFromText(text).graph.nodes.map((n) => n.key);
const edges = (text: string) => graphFromText(text).graph.edges.map((e) => e.key).sort();

/** Lines of \`before\` that are gone or changed in \`text\`. */
function touched(before: string, text: string): string[] {
  const left = text.split('\n');
  return before.split('\n').filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

test('appending adds lines and touches none', () => {
  const text = after(sample, addActivity('wait', { from: 'ask', port: 'approved' }));
  assert.deepEqual(touched(sample, text), []);
  assert.ok(edges(text).includes('ask.approved->wait'));
  assert.match(text, /needs: \[ask.approved\]\n\s+wait:\n\s+timer: \{after: 5s\}/);
});

test('the good port of a human task is written in its short or its named form and drawn once', () => {
  const text = after(sample, addActivity('set', { from: 'ask', port: 'success' }));
  assert.ok(edges(text).includes('ask.approved->set_values'));
});

test('inserting on an edge changes the needs of its target only', () => {
  const text = after(sample, insertOnEdge('fetch.success->decide', 'set'));
  assert.equal(text.replace(/    - id: set_values\n[\s\S]*?\n\n/, '').replace('[set_values]', '[fetch]'), sample);
  assert.ok(edges(text).includes('fetch.success->set_values') && edges(text).includes('set_values.success->decide'));
  assert.ok(!edges(text).includes('fetch.success->decide'));
});

test('connect and disconnect are exact opposites', () => {
  const joined = after(sample, connect('ship', 'success', 'ask'));
  assert.ok(edges(joined).includes('ship.success->ask'));
  assert.equal(after(joined, disconnect('ship.success->ask')), sample);
});

test('an edge that closes a cycle is refused in words', () => {
  const reasons = refusals(graphFromText(sample).graph, 'ship');
  assert.match(reasons.get('fetch')!, /would close a cycle/);
  assert.match(reasons.get('ship')!, /cannot need itself/);
  assert.equal(reasons.get('ask'), undefined);
  assert.throws(() => run(sample, connect('ship', 'success', 'fetch')), /close a cycle/);
});

test('deleting heals the gap and takes its comment along', () => {
  const text = after(sample, remove(['decide']));
  assert.deepEqual(edges(text), ['fetch.success->ask', 'fetch.success->ship']);
  assert.throws(() => run(sample, remove(['fetch'])), /patient/, 'another activity uses its anchor');
  const free = after(sample, setField('ship', ['retry'], undefined));
  assert.ok(!after(free, remove(['fetch'])).includes('# reads the order'));
});

test('renaming follows needs, ports and expressions, and nothing else', () => {
  const text = after(sample, rename('fetch', 'load'));
  assert.equal(text, sample.replace('id: fetch', 'id: load').replace('[fetch]', '[load]').replaceAll('activities.fetch', 'activities.load'));
  assert.ok(edges(after(sample, rename('decide', 'size'))).includes('size.big->ask'));
});

test('a taken, reserved or misspelt id is refused', () => {
  for (const id of ['ship', 'true', 'Fetch', 'a-b', '']) assert.throws(() => run(sample, rename('fetch', id)));
});

test('setting one field touches its line and keeps quotes and comments', () => {
  const text = after(sample, setField('fetch', ['inputs', 'url'], 'https://new.example'));
  assert.deepEqual(touched(sample, text).length, 1);
  assert.match(text, /url: 'https:\/\/new.example'/);
  assert.match(after(sample, setField('fetch', ['inputs', 'method'], 'POST')), /method: POST {3}# idempotent/);
});

test('new keys go where the canonical order has them', () => {
  const text = after(sample, setField('fetch', ['name'], 'Fetch: the order'));
  assert.match(text, /- id: fetch\n {6}name: "Fetch: the order"\n {6}type: http/);
  assert.match(after(sample, setField('ship', ['when'], 'inputs.x > 1')), /needs: \[decide.small\], when: inputs.x > 1, inputs/);
});

test('several lines become a block scalar, and back', () => {
  const text = after(sample, setField('ask', ['human', 'description'], 'one\ntwo'));
  assert.equal(new Draft(text).get(['spec', 'activities', 3, 'human', 'description']), 'one\ntwo');
  const block = after(sample, setField('fetch', ['description'], 'one\ntwo\n'));
  assert.match(block, /description: \|\n {8}one\n {8}two\n/);
  assert.equal(after(block, setField('fetch', ['description'], undefined)), sample);
});

test('writing under an alias writes it out there and leaves the anchor alone', () => {
  const text = after(sample, setField('ship', ['retry', 'attempts'], 2));
  assert.match(text, /&patient \{attempts: 4/);
  assert.deepEqual(new Draft(text).get(['spec', 'activities', 2, 'retry']), { attempts: 2, delay: '1s' });
});

test('a list shrinks and grows by its items', () => {
  const path = ['spec', 'activities', 1, 'switch', 'cases'];
  const cases = [{ name: 'huge', when: 'true' }, ...(new Draft(sample).get(path) as object[])];
  const text = after(sample, setField('decide', ['switch', 'cases'], cases));
  assert.deepEqual(touched(sample, text), []);
  assert.equal(after(text, setField('decide', ['switch', 'cases'], cases.slice(1))), sample);
});

test('changing the type swaps the block and keeps the rest', () => {
  const text = after(sample, changeType('ask', 'event'));
  assert.equal(new Draft(text).get(['spec', 'activities', 3, 'human']), undefined);
  assert.deepEqual(new Draft(text).get(['spec', 'activities', 3, 'needs']), ['decide.big']);
});

test('moved nodes are remembered in a layout document at the end, sorted by id', () => {
  const moved = after(after(sample, move(new Map([['ship', [123, 57]]]))), move(new Map([['ask', [10, 20]]])));
  assert.ok(moved.startsWith(sample));
  assert.match(moved, /---\napiVersion: weftline\/v1\nkind: Layout\npositions:\n {2}ask: \[10, 20\]\n {2}ship: \[120, 60\]\n$/);
  assert.deepEqual(graphFromText(moved).positions.get('ship'), [120, 60]);
  assert.equal(after(moved, tidy(['ask', 'ship'])), sample); // nothing empty is left
  const noted = after(moved, addNote('why', [0, 0]));
  assert.match(after(noted, tidy(null)), /kind: Layout\nnotes:\n/);
  assert.doesNotMatch(after(noted, tidy(null)), /positions/);
  const commented = moved.replace('kind: Layout\n', 'kind: Layout # mine\n').replace('---\n', '---\n# by hand\n');
  assert.match(after(commented, tidy(null)), /# by hand\napiVersion: weftline\/v1\nkind: Layout # mine\n$/);
  assert.equal(graphFromText(after(moved, tidy(null))).positions.size, 0);
});

test('the last entry of a map goes with the map, but what a workflow needs stays', () => {
  const labelled = sample.replace('name: orders # the public name\n', 'name: orders # the public name\n  labels: {team: orders}\n');
  assert.equal(after(labelled, (draft) => (draft.remove(['metadata', 'labels', 'team']), { said: '' })), sample);
});

test('copied text is a list, and pasted twice it gets free ids and inner edges', () => {
  const copied = copyText(new Draft(sample), ['fetch', 'decide']);
  assert.match(copied, /^- id: fetch\n {2}type: http/);
  const text = after(sample, paste(copied));
  assert.deepEqual(touched(sample, text), []);
  assert.ok(edges(text).includes('fetch_2.success->decide_2'));
  assert.match(text, /activities.fetch_2.outputs.body.total/);
  assert.match(text, /method: GET {3}# idempotent[\s\S]*method: GET {3}# idempotent/);
});

test('pasting what is not a workflow says why, with its place', () => {
  assert.throws(() => run(sample, paste('- id: [')), /line 1, column/);
  for (const text of ['just words', '- just\n- words\n', 'kind: Workflow\nspec:\n  activities: []\n', '']) assert.throws(() => run(sample, paste(text)), /holds no activities/);
});

test('the loop keeps a body', () => {
  const loop = after(sample, addActivity('for_each', { from: 'ship', port: 'success' }));
  assert.equal(graphFromText(loop).graph.nodes.find((n) => n.key === 'each_item')?.parent, 'for_each_item');
  assert.throws(() => run(loop, remove(['each_item'])), /at least one activity/);
  const inside = after(loop, addActivity('wait', { from: 'each_item', port: 'success' }));
  assert.equal(graphFromText(inside).graph.nodes.find((n) => n.key === 'wait')?.parent, 'for_each_item');
});

test('a snake_case key is changed where it stands', () => {
  const text = sample.replace('retry: &patient', 'total_timeout: 5m\n      retry: &patient');
  assert.match(after(text, setField('fetch', ['totalTimeout'], '10m')), /total_timeout: 10m/);
});

test('CRLF stays CRLF', () => {
  const dos = sample.replaceAll('\n', '\r\n');
  const text = after(dos, addActivity('wait', { from: 'ship', port: 'success' }));
  assert.ok(!/[^\r]\n/.test(text));
  assert.ok(nodes(text).includes('wait'));
});

test('text that is no YAML is left alone', () => {
  assert.throws(() => run('spec: [', addActivity('http', null)), /valid YAML first/);
});

/** A random command that fits the graph of the text. */
function randomCommand(text: string, random: () => number): Command {
  const { nodes, edges } = graphFromText(text).graph;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (nodes.length === 0) return addActivity('http', null);
  const node = pick(nodes);
  const types = ['http', 'set', 'switch', 'wait', 'event', 'human', 'for_each', 'workflow', 'fail', 'end'];
  const commands: (() => Command)[] = [
    () => addActivity(pick(types), node.ports.length > 0 ? { from: node.key, port: pick(node.ports).name } : null),
    () => insertOnEdge(pick(edges)?.key ?? '', pick(types)),
    () => connect(node.key, pick(node.ports)?.name ?? 'success', pick(nodes).key),
    () => disconnect(pick(edges)?.key ?? ''),
    () => remove([node.key]),
    () => rename(node.key, `renamed_${Math.floor(random() * 1e6)}`),
    () => setField(node.key, ['name'], pick(['plain', 'with: colon', '- dash', 'two\nlines', ' #hash', 'ünï', '"quoted"', "it's"])),
    () => setField(node.key, ['retry'], pick([undefined, 3, { attempts: 2, delay: '1s' }])),
    () => setField(node.key, ['outputs'], pick([undefined, { a: 'result', b: 'x ? 1 : 2' }])),
    () => setField(node.key, ['inputs', 'body'], pick([undefined, { deep: { list: [1, { a: [] }], text: 'a\nb\n' } }, []])),
    () => changeType(node.key, pick(types)),
    () => move(new Map([[node.key, [Math.floor(random() * 900), Math.floor(random() * 900)]]])),
    () => duplicate([node.key]),
    () => tidy(null),
    () => addNote(pick(['one line', 'two\nlines', '- a: "list"']), [Math.floor(random() * 900), 40]),
    () => writeNote(Math.floor(random() * 3), pick(['written anew', '# no comment', ' '])),
    () => moveNote(Math.floor(random() * 3), [Math.floor(random() * 900), 90]),
    () => removeNote(Math.floor(random() * 3)),
    () => extract(text, [node.key, ...edges.filter((e) => e.from === node.key).map((e) => e.to)], 'moved-out').command,
    () => setField(node.key, ['inputs', pick(['url', 'method', 'new_key'])], pick([undefined, 'https://x.example/${{ inputs.a }}', 'POST', 12, true])),
    () => toggleClosed(node.key),
    () => addActivity('set', null, undefined, pick(['@onError', '@onExit'])),
  ];
  return pick(commands)();
}

const samples = ['../app/examples', '../engine/flow/testdata'];

/** Texts to try: the sample with both line ends, the examples of the product, and one with every type. */
function texts(): string[] {
  const found: string[] = [sample, sample.replaceAll('\n', '\r\n')];
  for (const folder of samples) {
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    assert.ok(files.length > 0, `no sample in ${folder}`);
    found.push(...files.map((file) => readFileSync(`${folder}/${file}`, 'utf8')));
  }
  return found.filter((text) => parseText(text).errors.length === 0 && graphFromText(text).graph.nodes.length > 0 && text.length < 20_000);
}

test('500 random commands: always parseable, every change small, undo gives the exact bytes', () => {
  const all = texts();
  const said = new Set<string>();
  for (let seed = 1; seed <= Number(process.env.SEEDS ?? 25); seed++) {
    const random = randomFrom(seed);
    let text = all[seed % all.length]!;
    const history: { text: string; undo: ReturnType<typeof invertChange> }[] = [];
    for (let i = 0; i < 20; i++) {
      const before = text;
      let done: ReturnType<typeof run>;
      try {
        done = run(text, randomCommand(text, random));
        said.add(done.said.split(' ')[0]!);
      } catch (e) {
        assert.equal((e as Error).constructor.name, 'CannotEdit', `seed ${seed}: ${(e as Error).stack}`);
        continue;
      }
      assert.equal(applyChange(before, done.change), done.text);
      assert.equal(parseText(done.text).errors.length, 0, `seed ${seed} step ${i}: ${done.said}\n${done.text}`);
      assert.equal(graphFromText(done.text).error, null);
      history.push({ text: before, undo: invertChange(before, done.change) });
      text = done.text;
    }
    for (const step of history.reverse()) {
      text = applyChange(text, step.undo);
      assert.equal(text, step.text);
    }
  }
  for (const word of ['Added', 'Moved', 'Renamed', 'Deleted', 'Changed', 'Connected', 'Duplicated']) assert.ok(said.has(word), `nothing was ${word}: ${[...said].join(' ')}`);
});

test('commands keep every comment of what they do not delete', () => {
  const random = randomFrom(7);
  let text = sample;
  for (let i = 0; i < 60; i++) {
    try {
      const done = run(text, randomCommand(text, random));
      if (!/^(Deleted|Removed|.* is now of type)/.test(done.said)) {
        for (const comment of text.match(/#[^\n'"]*$/gm) ?? []) assert.ok(done.text.includes(comment), `${done.said} lost "${comment}"`);
      }
      text = done.text;
    } catch (e) {
      assert.equal((e as Error).constructor.name, 'CannotEdit');
    }
  }
});

test('pasting 1,000 activities into an empty workflow is one step, and as they were written', () => {
  const list = Array.from({ length: 1000 }, (_, i) => `- id: n${i} # no. ${i}\n  type: set\n${i > 0 ? `  needs: [n${i - 1}]\n` : ''}  outputs: {value: "1"}\n`).join('');
  const empty = 'apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: big\nspec:\n  activities: []\n';
  const done = run(empty, paste(list));
  assert.equal(graphFromText(done.text).graph.edges.length, 999);
  assert.match(done.text, /- id: n999 # no. 999\n/);
  assert.ok(done.change.length <= 3, 'written at once, not one by one');
  assert.equal(applyChange(done.text, invertChange(empty, done.change)), empty);
});

test('a closed loop hides its body and says so; opened again, the text is as before', () => {
  const loop = after(sample, addActivity('for_each', { from: 'ship', port: 'success' }));
  const shut = after(loop, toggleClosed('for_each_item'));
  assert.match(shut, /collapsed: \[for_each_item\]/);
  const { graph, collapsed } = graphFromText(shut);
  const drawn = closed(graph, collapsed);
  assert.ok(!drawn.nodes.some((n) => n.key === 'each_item'));
  assert.deepEqual(drawn.nodes.find((n) => n.key === 'for_each_item')?.facts.at(-1), '1 inside');
  assert.equal(graphFromText(after(shut, toggleClosed('for_each_item'))).collapsed.size, 0);
  assert.throws(() => run(sample, toggleClosed('fetch')), /Only a loop/);
});

test('notes stand in the Layout document, and each change of one touches its own line', () => {
  const one = after(sample, addNote('Ask the bank: first', [101, -44]));
  assert.ok(one.startsWith(sample), 'the definition stays');
  assert.deepEqual(graphFromText(one).notes, [{ text: 'Ask the bank: first', at: [100, -40] }]);
  const two = after(one, addNote('several\nlines', [0, 0]));
  assert.deepEqual(touched(one, two), []);
  assert.equal(graphFromText(two).notes[1]!.text, 'several\nlines');
  const moved = after(two, moveNote(0, [7, 7]));
  assert.equal(touched(two, moved).length, 1);
  assert.deepEqual(graphFromText(after(moved, writeNote(0, 'no'))).notes.map((n) => n.text), ['no', 'several\nlines']);
  assert.deepEqual(graphFromText(after(two, removeNote(0))).notes.map((n) => n.text), ['several\nlines']);
  assert.doesNotMatch(after(one, removeNote(0)), /notes/);
  assert.throws(() => run(sample, writeNote(0, 'x')), /gone/);
  const odd = `${sample}---\napiVersion: weftline/v1\nkind: Layout\nnotes:\n  - words alone\n  - {text: kept, at: [10, 20]}\n`;
  assert.deepEqual(graphFromText(odd).notes.map((n) => n.text), ['', 'kept'], 'what is no note keeps its place');
});

test('hooks are frames of their own, and their last activity takes the frame along', () => {
  const text = after(sample, addActivity('email', null, undefined, '@onError'));
  assert.match(text, /onError:\n {4}- id: send_email/);
  const { graph } = graphFromText(text);
  assert.equal(graph.nodes.find((n) => n.key === 'send_email')?.parent, '@onError');
  assert.equal(after(text, remove(['send_email'])), sample);
  assert.equal(after(text, remove(['@onError'])), sample);
  assert.match(refusals(graph, 'ship').get('@onError')!, /another list|no edges/);
  assert.throws(() => run(text, move(new Map([['@onError', [0, 0]]]))), /by itself/);
});

test('lining up: edges, middles and equal gaps', () => {
  const boxes = new Map([['a', { x: 0, y: 0, w: 10, h: 10 }], ['b', { x: 50, y: 30, w: 20, h: 20 }], ['c', { x: 100, y: 90, w: 10, h: 10 }]]);
  assert.deepEqual([...arrange(boxes, 'left').values()], [[0, 0], [0, 30], [0, 90]]);
  assert.deepEqual([...arrange(boxes, 'bottom').values()], [[0, 90], [50, 80], [100, 90]]);
  assert.deepEqual([...arrange(boxes, 'down').values()], [[0, 0], [50, 40], [100, 90]]);
  assert.equal(arrange(new Map([['a', { x: 0, y: 0, w: 1, h: 1 }]]), 'top').size, 0);
});
