// Where the arrow keys lead. Pure: edges sideways, neighbours of the column up and down.

import type { Layout } from './layout';
import type { Graph } from './model';

export type Direction = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

/** The node that an arrow key reaches from `key`; null when there is none. */
export function walk(graph: Graph, layout: Layout, key: string | null, direction: Direction): string | null {
  const order = readingOrder(graph, layout);
  const here = key === null ? undefined : layout.boxes.get(key);
  if (direction === 'last') return order.at(-1) ?? null;
  if (direction === 'first' || key === null || !here) return order[0] ?? null;
  switch (direction) {
    case 'right':
      return first(order, graph.edges.filter((e) => e.from === key).map((e) => e.to)) ?? bodyOf(graph, order, key);
    case 'left':
      return first(order, graph.edges.filter((e) => e.to === key).map((e) => e.from)) ?? parentOf(graph, key);
    default:
      return sibling(graph, layout, key, direction);
  }
}

/** Keys from left to right, each column from top to bottom. */
export function readingOrder(graph: Graph, layout: Layout): string[] {
  const box = (key: string) => layout.boxes.get(key)!;
  return graph.nodes.map((n) => n.key).sort((a, b) => box(a).x - box(b).x || box(a).y - box(b).y);
}

function first(order: string[], keys: string[]): string | null {
  const wanted = new Set(keys);
  return order.find((key) => wanted.has(key)) ?? null;
}

function bodyOf(graph: Graph, order: string[], key: string): string | null {
  return first(order, graph.nodes.filter((n) => n.parent === key).map((n) => n.key));
}

function parentOf(graph: Graph, key: string): string | null {
  return graph.nodes.find((n) => n.key === key)?.parent ?? null;
}

/** The nearest node above or below; a step sideways costs as much as three steps along. */
function sibling(graph: Graph, layout: Layout, key: string, direction: 'up' | 'down'): string | null {
  const here = layout.boxes.get(key)!;
  const sign = direction === 'down' ? 1 : -1;
  let best: { key: string; cost: number } | null = null;
  for (const node of graph.nodes) {
    const box = layout.boxes.get(node.key)!;
    const along = (box.y - here.y) * sign;
    if (node.key === key || along <= 0) continue;
    const cost = along + 3 * Math.abs(box.x - here.x);
    if (!best || cost < best.cost) best = { key: node.key, cost };
  }
  return best?.key ?? null;
}
