// The text is the truth: reading it changes nothing, writing what is there changes
// nothing, and whatever a command does, its undo gives the exact bytes back.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import test from 'node:test';
import { graphFrom, graphFromText, parseText } from '../graph/from-text';
import type { GraphNode } from '../graph/model';
import { copyText } from './clipboard';
import { duplicate, paste } from './paste';
import {
  addActivity, addNote, changeType, connect, disconnect, insertOnEdge, move, moveNote, remove, removeNote, rename, run, setField, tidy, toggleClosed, writeNote, type Command,
} from './commands';
import { Draft } from './draft';
import { applyChange, invertChange } from './edit';
import { randomFrom } from './random';
import { reparse } from './reparse';
import { Session } from './session';
import { paletteTypes } from './skeletons';

/** Definitions at hand: the product's, and those of the checkout beside it where there is one. */
const folders = ['../app/examples', '../engine/flow/testdata', '../../shared/examples', '../../shared/cases'];

function* files(folder: string): Generator<string> {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`;
    if (statSync(path).isDirectory()) yield* files(path);
    else if (/\.ya?ml$/.test(name)) yield readFileSync(path, 'utf8');
  }
}

/** A file as people write them: comments everywhere, quotes of all kinds, flow and block, blank lines. */
function generated(seed: number): string {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const comment = () => pick(['', '', ` # note ${seed}`, '   # two  spaces']);
  const gap = () => pick(['', '\n', '\n# between\n', '\n\n']);
  const ids = Array.from({ length: 2 + Math.floor(random() * 8) }, (_, i) => `step_${i}`);
  const lines = ids.map((id, i) => {
    const from = i > 0 && random() < 0.8 ? ids[Math.floor(random() * i)]! : null;
    const quoted = pick(['plain words', '"double: quoted"', "'it''s single'", '"ünï \\u00e9"']);
    const body = pick([
      `type: http${comment()}\n      inputs: {method: GET, url: "https://x.example/${id}"}`,
      `type: set\n      outputs:${comment()}\n        value: '1'\n        # inside\n        other: "2"`,
      `type: http\n      inputs:\n        url: >-\n          https://x.example/\n          folded\n      retry: ${pick(['3', '{attempts: 2, delay: 1s}'])}`,
      `type: human\n      human:\n        title: |\n          Several\n          lines\n        outcomes: [yes_please, no_thanks]`,
    ]);
    return `    - id: ${id}${comment()}\n      name: ${quoted}\n      ${body}${from ? `\n      needs: ${pick([`[${from}]`, `[ ${from} ]`, `\n        - ${from}${comment()}`])}` : ''}`;
  });
  return `# file ${seed}\napiVersion: weftline/v1\nkind: Workflow${comment()}\nmetadata:\n  name: generated-${seed}\nspec:\n  activities:\n${lines.map((l) => l + gap()).join('\n')}\n${pick(['', '# the end', '\n'])}`;
}

const texts = [...folders.flatMap((f) => [...files(f)]), ...Array.from({ length: 200 }, (_, i) => generated(i + 1))]
  .filter((text) => parseText(text).errors.length === 0 && graphFromText(text).graph.nodes.length > 0 && text.length < 60_000);

test('reading a text, and writing into it what is there, changes no byte', () => {
  assert.ok(texts.length >= 200);
  for (const text of texts) {
    const session = new Session(text, false);
    assert.equal(session.text, text);
    for (const node of session.graph.nodes.slice(0, 12)) {
      for (const [key, value] of Object.entries(session.fields(node))) {
        if (node.id === null && key === 'id') continue;
        assert.deepEqual(run(text, setField(node.key, [key], value)).change, [], `${node.key}.${key}`);
      }
    }
  }
});

/** One command, then another on what became of the text, as one. */
function after(text: string, first: Command, second: Command): Command {
  return (draft) => {
    if (draft.text === text) first(draft);
    return second(draft);
  };
}

/** Every command of the designer, on one activity. */
function commandsOn(node: GraphNode, text: string): [string, Command][] {
  const { graph } = graphFromText(text);
  const edge = graph.edges.find((e) => e.from === node.key || e.to === node.key);
  const other = graph.nodes.find((n) => n.key !== node.key);
  return [
    ...paletteTypes.map((type): [string, Command] => [`add ${type}`, addActivity(type, node.ports[0] ? { from: node.key, port: node.ports[0].name } : null)]),
    ['add to a hook', addActivity('set', null, undefined, '@onError')],
    ['insert', insertOnEdge(edge?.key ?? '', 'wait')],
    ['connect', connect(node.key, node.ports[0]?.name ?? 'success', other?.key ?? '')],
    ['disconnect', disconnect(edge?.key ?? '')],
    ['remove', remove([node.key])],
    ['rename', rename(node.key, 'another_name')],
    ['change a field', setField(node.key, ['name'], 'Changed: here')],
    ['change a nested field', setField(node.key, ['retry', 'delay'], '7s')],
    ['take a field away', setField(node.key, ['name'], undefined)],
    ['change the type', changeType(node.key, 'wait')],
    ['move', move(new Map([[node.key, [120, 80]]]))],
    ['close', toggleClosed(node.key)],
    ['add a note', addNote('ask: first\n"then" act', [14, -27])],
    ['write a note', after(text, addNote('one', [0, 0]), writeNote(0, 'two # no comment'))],
    ['move a note', after(text, addNote('one', [0, 0]), moveNote(0, [100, 50]))],
    ['delete a note', after(text, addNote('one', [0, 0]), removeNote(0))],
    ['duplicate', duplicate([node.key])],
    ['paste', paste(copyText(new Draft(text), [node.key]))],
    ['tidy', tidy(null)],
  ];
}

test('every command does and undoes, to the byte', () => {
  const done = new Map<string, number>();
  for (const text of texts.filter((_, i) => i % 5 === 0)) {
    const { nodes } = graphFromText(text).graph;
    const node = nodes[nodes.length >> 1]!;
    for (const [name, command] of commandsOn(node, text)) {
      let result: ReturnType<typeof run>;
      try {
        result = run(text, command);
      } catch (e) {
        assert.equal((e as Error).constructor.name, 'CannotEdit', `${name}: ${(e as Error).stack}`);
        continue;
      }
      assert.equal(applyChange(result.text, invertChange(text, result.change)), text, name);
      assert.equal(graphFromText(result.text).error, null, name);
      done.set(name, (done.get(name) ?? 0) + 1);
    }
  }
  const everything = commandsOn(graphFromText(texts[0]!).graph.nodes[0]!, texts[0]!).map(([name]) => name).filter((name) => name !== 'tidy' && name !== 'close');
  for (const name of everything) assert.ok(done.get(name), `${name} was never possible`);
});

test('after each of 200 random edits, text, graph and fields agree', () => {
  const random = randomFrom(5);
  const session = new Session(generated(77), false);
  for (let i = 0; i < 200; i++) {
    const { nodes } = session.graph;
    const node = nodes[Math.floor(random() * nodes.length)]!;
    const all = commandsOn(node, session.text);
    session.run(all[Math.floor(random() * all.length)]![1]);
    const fresh = graphFromText(session.text);
    assert.deepEqual(session.graph, fresh.graph);
    assert.deepEqual(session.root, fresh.root);
    if (session.graph.nodes.length === 0) session.undo();
  }
});

test('typing into a long list reads one activity again, with the result of reading it all', () => {
  const random = randomFrom(9);
  for (const start of texts.filter((_, i) => i % 8 === 0)) {
    let text = start;
    let tree = parseText(text);
    for (let i = 0; i < 40; i++) {
      const at = Math.floor(random() * text.length);
      const typed = ['x', ' ', '\n', ':', '- ', '#', '"', '    key: 1\n', '&a ', ''][Math.floor(random() * 10)]!;
      const next = text.slice(0, at) + typed + text.slice(at + (random() < 0.3 ? 1 : 0));
      const whole = parseText(next);
      const part = reparse(tree, next);
      assert.deepEqual(graphFrom(part).graph, graphFrom(whole).graph, `after ${JSON.stringify(typed)} at ${at} of\n${text}`);
      assert.deepEqual(part.errors, whole.errors);
      // Commands find their places in it as in a tree of the whole.
      const node = graphFrom(whole).graph.nodes.at(-1);
      const write = (given: typeof part) => {
        try {
          return node ? run(next, setField(node.key, ['name'], 'Written'), given).text : '';
        } catch (e) {
          return (e as Error).message;
        }
      };
      assert.equal(write(part), write(whole));
      if (whole.errors.length > 0) tree = parseText(text);
      else [text, tree] = [next, part];
    }
  }
});
