// A paste, seen from its cost: what is pasted is parsed once, and the tree made from
// that is the one that a reader of the new text would make.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isScalar, Parser, visit, type Document } from 'yaml';
import { graphFromText, parseText } from '../graph/from-text';
import { copyText } from './clipboard';
import { paste } from './paste';
import { run } from './commands';
import { Draft } from './draft';
import { Session } from './session';

const samples = ['../app/examples', '../engine/flow/testdata'];

/** Every node of a tree: its kind, value and place. */
function nodesOf(doc: Document.Parsed | null): unknown[] {
  const all: unknown[] = [];
  if (doc) visit(doc, { Node: (_, n) => void all.push([n.constructor.name, isScalar(n) ? n.value : null, n.range?.join()]) });
  return [...all, doc?.range];
}

function assertTree(done: ReturnType<typeof run>): void {
  const fresh = parseText(done.text);
  assert.equal(done.tree.text, done.text);
  assert.deepEqual(nodesOf(done.tree.workflow), nodesOf(fresh.workflow));
  assert.deepEqual(nodesOf(done.tree.layout), nodesOf(fresh.layout));
}

/** How many characters are parsed while something is done. */
function parsedBy(what: () => void): number {
  const { parse } = Parser.prototype;
  let characters = 0;
  Parser.prototype.parse = function (source, ...rest) {
    characters += source.length;
    return parse.call(this, source, ...rest);
  };
  try {
    what();
  } finally {
    Parser.prototype.parse = parse;
  }
  return characters;
}

test('what is pasted is parsed once, whatever its ids and wherever it comes from', () => {
  const items = (many: number) => Array.from({ length: many }, (_, i) => `- id: n${i}\n  type: set\n${i > 0 ? `  needs: [n${i - 1}]\n  when: \${{ activities.n${i - 1}.outputs.a && !inputs.b }}\n` : ''}  outputs: {value: "1"}\n`).join('');
  const workflow = (list: string) =>
    `apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: big\nspec:\n  activities:\n${list}---\nkind: Layout\npositions:\n  n0: [10, 10]\n`;
  const small = workflow('    - id: n0\n      type: set\n\n    - id: n1\n      type: set\n');
  for (const text of [items(200), workflow(items(200).replace(/^(?=.)/gm, '  ')), items(200).replace(/^(?=.)/gm, '   ')]) {
    const session = new Session(small, false);
    const characters = parsedBy(() => assert.ok(session.run(paste(text))));
    assert.equal(session.graph.edges.length, 199);
    assert.ok(characters < 1.2 * text.length + 2 * small.length, `${characters} characters parsed for ${text.length} pasted`);
    assertTree(run(small, paste(text)));
  }
  const session = new Session(workflow('    []\n'), false);
  assert.ok(parsedBy(() => assert.ok(session.run(paste(items(200))))) < 1.2 * items(200).length + 1000);
});

test('needs that name nothing here are taken away together, not with a parse each', () => {
  const list = Array.from({ length: 100 }, (_, i) => `- id: p${i} # no. ${i}\n  type: set\n  needs: [${i > 0 ? `p${i - 1}, ` : ''}elsewhere] # why\n  outputs: {value: "1"}\n`).join('');
  const empty = 'kind: Workflow\nspec:\n  activities:\n    - id: p0\n      type: set\n';
  let done!: ReturnType<typeof run>;
  const characters = parsedBy(() => (done = run(empty, paste(list))));
  assert.ok(characters < 3 * list.length, `${characters} characters parsed for ${list.length} pasted`);
  assert.doesNotMatch(done.text, /elsewhere/);
  assert.equal(graphFromText(done.text).graph.edges.length, 99);
  assert.match(done.text, /- id: p99 # no. 99\n {6}type: set\n {6}needs: \[p98\] # why\n/);
  assertTree(done);
});

test('a list in flow style takes pasted activities at its end, under names that are free', () => {
  const done = run('kind: Workflow\nspec: {activities: [{id: a, type: set}, {id: b, type: set}]}\n', paste('- id: a\n  type: wait\n- id: c\n  type: set\n  needs: [a]\n'));
  assert.match(done.text, /\{id: b, type: set\}, \{ ?id: a_2, type: wait ?\}, \{ ?id: c, type: set, needs: \[ ?a_2 ?\] ?\}/);
});

test('the tree after a paste is the one that its text has', () => {
  const texts = samples.flatMap((dir) => readdirSync(dir).filter((f) => /\.ya?ml$/.test(f)).map((f) => readFileSync(join(dir, f), 'utf8')))
    .filter((t) => graphFromText(t).error === null && graphFromText(t).graph.nodes.length > 0);
  assert.ok(texts.length > 5, `${texts.length} samples`);
  const gapped = '# a list\n- id: a\n  type: set\n  outputs:\n    x: |\n      one\n\n      two ${{ activities.a.outputs.x }}\n    y: "${{ activities.a.outputs.x }}" # why\n\n# between\n- id: b\n  type: set\n  needs:\n    - a # after it\n  # of b\n\n  outputs: {y: [1, 2]} # end\n';
  let grafted = 0;
  for (const [i, text] of texts.entries()) {
    for (const pasted of [texts[(i + 1) % texts.length]!, gapped, copyText(new Draft(text), graphFromText(text).graph.nodes.map((n) => n.key))]) {
      try {
        const done = run(text, paste(pasted));
        assertTree(done);
        grafted++;
      } catch (e) {
        assert.equal((e as Error).constructor.name, 'CannotEdit', String((e as Error).stack));
      }
    }
  }
  assert.ok(grafted > texts.length, `only ${grafted}`);
});
