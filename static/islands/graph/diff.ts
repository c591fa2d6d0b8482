// Two versions as one graph: what was removed is drawn beside what stayed. Pure.

import type { Graph } from './model';
import type { DiffKind } from './node-view';

export interface GraphDiff {
  graph: Graph;
  /** By node key and edge key; what is unchanged is not listed. */
  kinds: Map<string, DiffKind>;
}

/** Compares by id; `changed` names activities whose own fields differ, if the caller knows better than the summary line. */
export function mergeForDiff(before: Graph, after: Graph, changed?: ReadonlySet<string>): GraphDiff {
  const kinds = new Map<string, DiffKind>();
  const old = new Map(before.nodes.map((n) => [n.key, n]));
  const kept = new Set(after.nodes.map((n) => n.key));
  for (const node of after.nodes) {
    const was = old.get(node.key);
    if (!was) kinds.set(node.key, 'added');
    else if (changed ? changed.has(node.key) : differs(was, node)) kinds.set(node.key, 'changed');
  }
  const removed = before.nodes.filter((n) => !kept.has(n.key));
  for (const node of removed) kinds.set(node.key, 'removed');

  const oldEdges = new Set(before.edges.map((e) => e.key));
  const newEdges = new Set(after.edges.map((e) => e.key));
  for (const edge of after.edges) if (!oldEdges.has(edge.key)) kinds.set(edge.key, 'added');
  const goneEdges = before.edges.filter((e) => !newEdges.has(e.key));
  for (const edge of goneEdges) kinds.set(edge.key, 'removed');
  return { graph: { nodes: [...after.nodes, ...removed], edges: [...after.edges, ...goneEdges] }, kinds };
}

function differs(a: Graph['nodes'][number], b: Graph['nodes'][number]): boolean {
  const look = (n: typeof a) => JSON.stringify([n.type, n.name, n.detail, n.facts, n.ports]);
  return look(a) !== look(b);
}
