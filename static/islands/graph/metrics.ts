// How large nodes are and where their ports sit. One place, read by the layout
// and by the drawing, so that an edge always ends at its port.

import { groupBy, type Graph, type GraphNode, type Port } from './model';
import type { Metrics } from './layout';

export const nodeWidth = 220;
export const headHeight = 64;
export const portRow = 26;
/** Extra line for the state of an activity in an execution. */
export const stateRow = 28;

/** Ports with a row or dot of their own: all branches, and the others once an edge uses them. */
export function shownPorts(node: GraphNode, used: ReadonlySet<string>): Port[] {
  return node.ports.filter((p) => p.kind === 'good' || p.kind === 'branch' || used.has(p.name));
}

/** A good port that stands alone with its plain name sits in the head of the node, without a label. */
export function isHeadPort(port: Port): boolean {
  return port.kind === 'good' && port.name === 'success';
}

export interface NodeMetrics extends Metrics {
  ports(node: GraphNode): Port[];
}

export function metricsFor(graph: Graph, withState: boolean): NodeMetrics {
  const bySource = groupBy(graph.edges, (e) => e.from);
  const shown = new Map(
    graph.nodes.map((node) => [node.key, shownPorts(node, new Set(bySource.get(node.key)?.map((e) => e.port)))]),
  );
  const head = headHeight + (withState ? stateRow : 0);
  const ports = (node: GraphNode) => shown.get(node.key) ?? [];
  const below = new Map([...shown].map(([key, all]) => [key, all.filter((p) => !isHeadPort(p))]));
  const rows = (node: GraphNode) => below.get(node.key) ?? [];
  return {
    width: nodeWidth,
    inY: headHeight / 2,
    ports,
    height: (node) => head + rows(node).length * portRow + (rows(node).length > 0 ? 6 : 0),
    portY(node, name) {
      const row = rows(node).findIndex((p) => p.name === name);
      return row < 0 ? headHeight / 2 : head + row * portRow + portRow / 2;
    },
  };
}
