// The graph that every candidate draws: layered, 1.4 edges a node, the same each time.
export function sample(nodeCount, edgeCount) {
  const random = mulberry(42);
  const perColumn = 10;
  const nodes = Array.from({ length: nodeCount }, (_, i) => ({
    id: `n${i}`, name: `Activity ${i}`, x: Math.floor(i / perColumn) * 280, y: (i % perColumn) * 110,
  }));
  const seen = new Set();
  const edges = [];
  while (edges.length < edgeCount) {
    const from = Math.floor(random() * (nodeCount - perColumn));
    const to = (Math.floor(from / perColumn) + 1) * perColumn + Math.floor(random() * perColumn);
    const id = `n${from}->n${to}`;
    if (to >= nodeCount || seen.has(id)) continue;
    seen.add(id);
    edges.push({ id, from: `n${from}`, to: `n${to}` });
  }
  return { nodes, edges };
}

/** The same graph as a definition. */
export function definition(name, { nodes, edges }) {
  const needs = new Map();
  for (const e of edges) needs.set(e.to, [...(needs.get(e.to) ?? []), e.from]);
  const list = nodes.map((n) => `    - id: ${n.id}\n      name: ${n.name}\n      type: set\n${needs.has(n.id) ? `      needs: [${needs.get(n.id).join(', ')}]\n` : ''}      outputs:\n        value: "1"\n`);
  return `apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: ${name}\nspec:\n  activities:\n${list.join('\n')}`;
}

function mulberry(a) {
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
