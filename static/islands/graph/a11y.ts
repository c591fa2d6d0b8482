// What a screen reader hears of a node: name, type, what it does, state, place, neighbours.

import { typeTitle } from './describe';
import { stateLook } from './icons';
import { groupBy, type Graph, type GraphEdge, type GraphNode } from './model';
import type { Badge, DiffKind, Guest, NodeState } from './node-view';

export interface Marks {
  state?: NodeState | undefined;
  diff?: DiffKind | undefined;
  badge?: Badge | undefined;
  guests?: readonly Guest[] | undefined;
}

export function describeNode(graph: Graph, node: GraphNode, marks: Marks): string {
  const index = indexOf(graph);
  const before = (index.into.get(node.key) ?? []).map((e) => `${index.names.get(e.from)}${e.port === 'success' ? '' : ` on ${e.port}`}`);
  const after = (index.outOf.get(node.key) ?? []).map((e) => `${portWords(e.port)}${index.names.get(e.to)}`);
  const parts = [
    node.name,
    typeTitle(node.type),
    node.detail,
    marks.state && (marks.state.label || stateLook(marks.state.state).words),
    marks.diff,
    marks.badge && `${marks.badge.severity}: ${marks.badge.message}`,
    marks.guests && `${marks.guests.map((g) => g.user).join(' and ')} here`,
    `${index.places.get(node.key)} of ${graph.nodes.length}`,
    before.length > 0 ? `after ${before.join(', ')}` : 'starts at once',
    after.length > 0 ? `then ${after.join(', ')}` : '',
  ];
  return parts.filter(Boolean).join('; ');
}

function portWords(port: string): string {
  return port === 'success' ? '' : `on ${port} `;
}

interface Index {
  names: Map<string, string>;
  places: Map<string, number>;
  into: Map<string, GraphEdge[]>;
  outOf: Map<string, GraphEdge[]>;
}

const indexes = new WeakMap<Graph, Index>();

function indexOf(graph: Graph): Index {
  const known = indexes.get(graph);
  if (known) return known;
  const index = {
    names: new Map(graph.nodes.map((n) => [n.key, n.name])),
    places: new Map(graph.nodes.map((n, i) => [n.key, i + 1])),
    into: groupBy(graph.edges, (e) => e.to),
    outOf: groupBy(graph.edges, (e) => e.from),
  };
  indexes.set(graph, index);
  return index;
}
