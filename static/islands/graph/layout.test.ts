import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../designer/random';
import { graphFromText } from './from-text';
import { layoutGraph, type Box, type Layout } from './layout';
import { metricsFor } from './metrics';
import { edgeKey, portsOf, type Graph, type GraphNode } from './model';
import { walk } from './walk';

function node(key: string, parent: string | null = null, type = 'http'): GraphNode {
  return { key, id: key, type, name: key, detail: '', facts: [], ports: portsOf(type, {}), parent, path: [], range: [0, 0] };
}

/** "a b, b c" → a graph; names are nodes in the order they appear. */
function graph(edges: string, extra: GraphNode[] = []): Graph {
  const pairs = edges.split(',').map((e) => e.trim().split(' '));
  const names = [...new Set(pairs.flat())];
  return {
    nodes: [...names.map((n) => node(n)), ...extra],
    edges: pairs.filter((p) => p.length === 2).map(([from, to]) => ({ key: edgeKey(from!, 'success', to!), from: from!, port: 'success', to: to! })),
  };
}

const layout = (g: Graph, moved = new Map<string, readonly [number, number]>()): Layout => layoutGraph(g, metricsFor(g, false), moved);
const at = (l: Layout, key: string): Box => l.boxes.get(key)!;

/** A random graph in which edges lead forward. */
function randomGraph(seed: number, count: number): Graph {
  const random = randomFrom(seed);
  const edges: string[] = [];
  for (let i = 1; i < count; i++) {
    for (let k = 0; k < 1 + random() * 0.6; k++) edges.push(`n${Math.max(0, i - 1 - Math.floor(random() * 8))} n${i}`);
  }
  return graph([...new Set(edges)].join(','));
}

function overlaps(l: Layout, keys: string[]): string[] {
  const found: string[] = [];
  for (const a of keys) {
    for (const b of keys) {
      const [p, q] = [at(l, a), at(l, b)];
      if (a < b && p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h) found.push(`${a} ${b}`);
    }
  }
  return found;
}

test('a chain is a straight line', () => {
  const l = layout(graph('a b, b c, c d'));
  assert.deepEqual([at(l, 'a').y, at(l, 'b').y, at(l, 'c').y, at(l, 'd').y], [0, 0, 0, 0]);
  assert.ok(at(l, 'a').x < at(l, 'b').x && at(l, 'b').x < at(l, 'c').x);
});

test('branches stand below each other in the order of the file, and their join returns to the line', () => {
  const l = layout(graph('a b, a c, b d, c d'));
  assert.equal(at(l, 'b').y, at(l, 'a').y);
  assert.ok(at(l, 'c').y >= at(l, 'b').y + at(l, 'b').h);
  assert.equal(at(l, 'd').y, at(l, 'a').y);
});

test('nothing overlaps, however the edges lie', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const g = randomGraph(seed, 40);
    assert.deepEqual(overlaps(layout(g), g.nodes.map((n) => n.key)), [], `seed ${seed}`);
  }
});

test('a long edge takes a lane of its own through the columns between', () => {
  const l = layout(graph('a b, b c, c d, a d'));
  const points = l.routes.get('a.success->d')!;
  assert.equal(points.length, 6);
  for (const key of ['b', 'c']) {
    const box = at(l, key);
    for (const p of points.slice(1, -1)) assert.ok(p.x < box.x || p.x > box.x + box.w || p.y < box.y || p.y > box.y + box.h);
  }
});

test('crossings that a swap removes are removed', () => {
  const l = layout(graph('a, b, a d, b c'));
  assert.ok(at(l, 'd').y < at(l, 'c').y, 'd follows a, which stands above b');
});

test('appending moves nothing that was there, unless it stands below in the same column', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const g = randomGraph(seed, 30);
    const before = layout(g);
    const source = g.nodes[Math.floor(randomFrom(seed)() * 30)]!.key;
    const grown = { nodes: [...g.nodes, node('new')], edges: [...g.edges, { key: edgeKey(source, 'success', 'new'), from: source, port: 'success', to: 'new' }] };
    const after = layout(grown);
    const column = at(after, 'new').x;
    for (const n of g.nodes) {
      if (at(before, n.key).x >= column) continue;
      assert.deepEqual(at(after, n.key), at(before, n.key), `seed ${seed}: ${n.key}`);
    }
  }
});

test('the same graph always gets the same places', () => {
  const g = randomGraph(5, 60);
  assert.deepEqual([...layout(g).boxes], [...layout(g).boxes]);
});

test('a moved node keeps its place and its edges go straight to it', () => {
  const l = layout(graph('a b, b c, a c'), new Map([['c', [900, 500]]]));
  assert.deepEqual([at(l, 'c').x, at(l, 'c').y], [900, 500]);
  assert.equal(l.routes.get('a.success->c')!.length, 2);
});

test('a loop holds its body, with room around it', () => {
  const g = graph('a loop, loop z, in1 in2');
  for (const n of g.nodes) if (n.key.startsWith('in')) n.parent = 'loop';
  const l = layout(g);
  const loop = at(l, 'loop');
  for (const key of ['in1', 'in2']) {
    const box = at(l, key);
    assert.ok(box.x > loop.x && box.y > loop.y && box.x + box.w < loop.x + loop.w && box.y + box.h < loop.y + loop.h);
  }
  assert.ok(at(l, 'z').x > loop.x + loop.w);
  assert.deepEqual(overlaps(l, ['a', 'loop', 'z']), []);
});

test('a cycle, which only a broken text can hold, is still drawn', () => {
  const l = layout(graph('a b, b c, c a'));
  assert.equal(l.boxes.size, 3);
  assert.equal(l.routes.size, 3);
});

test('arrows walk along edges, across columns and into loops', () => {
  const g = graph('a b, a c, b d, c d');
  const l = layout(g);
  assert.equal(walk(g, l, 'a', 'right'), 'b');
  assert.equal(walk(g, l, 'b', 'down'), 'c');
  assert.equal(walk(g, l, 'c', 'up'), 'b');
  assert.equal(walk(g, l, 'd', 'left'), 'b');
  assert.equal(walk(g, l, 'd', 'right'), null);
  assert.equal(walk(g, l, null, 'right'), 'a');
  assert.equal(walk(g, l, 'c', 'last'), 'd');
});

test('a text becomes a graph with ports, loops and facts', () => {
  const { graph: g, name, error } = graphFromText(`
kind: Workflow
metadata: {name: demo}
spec:
  activities:
    - {id: pick, type: switch, switch: {cases: [{name: low, when: "true"}], default: high}}
    - {id: gate, type: switch, switch: {cases: [{name: ok, when: "true"}]}}
    - {id: ask, type: human, needs: [pick.low], human: {outcomes: [yes_please, not_now], onDue: not_now}}
    - id: each
      type: for_each
      needs: [ask, {id: pick, port: high}, gate]
      join: any
      when: inputs.x
      for_each: {items: inputs.rows, activity: {type: http, inputs: {url: "https://a/\${{ item }}"}}}
`);
  assert.equal(error, null);
  assert.equal(name, 'demo');
  assert.deepEqual(g.edges.map((e) => e.key), ['pick.low->ask', 'ask.yes_please->each', 'pick.high->each', 'gate.ok->each']);
  assert.deepEqual(g.nodes.find((n) => n.key === 'ask')!.ports.map((p) => p.name), ['yes_please', 'not_now', 'failure', 'done']);
  assert.deepEqual(g.nodes.find((n) => n.key === 'each')!.facts, ['if', 'any']);
  assert.equal(g.nodes.find((n) => n.key === 'each/each')!.detail, 'GET a/item');
});

test('text that is no workflow gives an error with its place, and no graph', () => {
  assert.match(graphFromText('kind: [').error!.message, /./);
  assert.match(graphFromText('just words').error!.message, /no workflow/);
  const bomb = `kind: Workflow\na: &a [1,1,1,1,1,1,1,1,1,1]\n${'bcdefgh'.split('').map((k, i) => `${k}: &${k} [${Array(10).fill(`*${'abcdefgh'[i]}`).join(',')}]`).join('\n')}\n`;
  assert.ok(graphFromText(bomb).error);
});

test('what follows a moved activity keeps right of it, and nothing lies under a moved one', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const g = randomGraph(seed, 12);
    const random = randomFrom(seed);
    const moved = new Map([['n3', [Math.floor(random() * 900), Math.floor(random() * 400)] as const]]);
    const l = layout(g, moved);
    assert.deepEqual([at(l, 'n3').x, at(l, 'n3').y], [...moved.get('n3')!]);
    assert.deepEqual(overlaps(l, g.nodes.map((n) => n.key)), [], `seed ${seed}`);
    for (const edge of g.edges) {
      if (edge.to === 'n3') continue;
      assert.ok(at(l, edge.to).x >= at(l, edge.from).x + at(l, edge.from).w, `seed ${seed}: ${edge.from} → ${edge.to}`);
    }
  }
});
