import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { drawingOf } from './documents';
import { graphFromText } from './from-text';
import type { Graph } from './model';

// The files are what the server makes of the texts; its own test holds them to that.
const folder = '../engine/flow/testdata/drawing';

test('what the server reads of a text is drawn like the text', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  assert.ok(files.length >= 6, 'the examples are there');
  for (const file of files) {
    const given = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { text: string; workflow: unknown; layout: unknown };
    const { error, ...fromText } = graphFromText(readFileSync(`../engine/flow/${given.text}`, 'utf8'));
    assert.equal(error, null, file);
    assert.deepEqual(drawingOf(given), { ...fromText, graph: withoutRanges(fromText.graph) }, file);
  }
});

function withoutRanges(graph: Graph): Graph {
  return { ...graph, nodes: graph.nodes.map((node) => ({ ...node, range: [0, 0] })) };
}
