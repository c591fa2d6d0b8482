// A layered layout from left to right. Pure and deterministic.
//
// Columns are longest paths from the start. Within a column the order comes from
// the columns to the left only, and a node is pushed down, never up, by those
// above it: so adding an activity moves what follows it and what stands below in
// its column, and nothing else. The first branch stays on the line of its source.

import { groupBy, hookType, type Graph, type GraphEdge, type GraphNode, type Positions } from './model';

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  w: number;
  h: number;
}

/** Sizes and anchors in CSS pixels, from the node's top left corner. */
export interface Metrics {
  width: number;
  /** Height without a loop body. */
  height(node: GraphNode): number;
  portY(node: GraphNode, port: string): number;
  inY: number;
}

export interface Layout {
  /** Absolute boxes by node key. */
  boxes: Map<string, Box>;
  /** Absolute points an edge passes, its two ends included. */
  routes: Map<string, Point[]>;
  bounds: Box;
}

export const columnGap = 60;
export const rowGap = 28;
/** Space around the body inside a loop's box. */
export const bodyPadding = 20;
const laneHeight = 6;

/** Lays out a graph, loop bodies inside their loops. A moved node keeps its place; a body's place is within its loop. */
export function layoutGraph(graph: Graph, metrics: Metrics, moved: Positions): Layout {
  const levels: Level = {
    children: groupBy(graph.nodes, (n) => n.parent ?? ''),
    edges: groupBy(graph.edges, (e) => e.from),
    metrics, moved,
    boxes: new Map(),
    routes: new Map(),
  };
  const hooks = (levels.children.get('') ?? []).filter((n) => n.type === hookType);
  if (hooks.length > 0) levels.children.set('', levels.children.get('')!.filter((n) => n.type !== hookType));
  const bounds = layoutHooks(hooks, levels, layoutLevel('', levels, { x: 0, y: 0 }));
  return { boxes: levels.boxes, routes: levels.routes, bounds };
}

/** Hooks stand side by side below everything else, so that they move nothing. */
function layoutHooks(hooks: readonly GraphNode[], level: Level, above: Box): Box {
  let x = above.x;
  let bounds = above;
  for (const hook of hooks) {
    const box = { x, y: above.y + above.h + columnGap, ...sizeOf(hook, level) };
    level.boxes.set(hook.key, box);
    layoutLevel(hook.key, level, { x: box.x + bodyPadding, y: box.y + level.metrics.height(hook) + bodyPadding });
    x += box.w + columnGap;
    bounds = around(bounds, box);
  }
  return bounds;
}

/** The box around two. */
export function around(a: Box, b: Box): Box {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y };
}

interface Level {
  children: Map<string, GraphNode[]>;
  edges: Map<string, GraphEdge[]>;
  metrics: Metrics;
  moved: Positions;
  boxes: Map<string, Box>;
  routes: Map<string, Point[]>;
}

/** Lays out the children of one loop ('' = the whole graph) from `origin`; returns the box they fill. */
function layoutLevel(parent: string, level: Level, origin: Point): Box {
  const nodes = level.children.get(parent) ?? [];
  const sizes = new Map(nodes.map((n) => [n.key, sizeOf(n, level)]));
  const inside = new Set(nodes.map((n) => n.key));
  const edges = nodes.flatMap((n) => (level.edges.get(n.key) ?? []).filter((e) => inside.has(e.to)));
  // Where every node has its place there are no columns to find, and edges are straight.
  const decided = nodes.every((n) => level.moved.has(n.key));
  const columns = buildColumns(nodes, decided ? [] : edges, sizes, level.metrics);
  place(columns, level.metrics);
  const settled = settle(columns, edges, level.moved);

  for (const node of nodes) {
    const at = settled.get(node.key)!;
    const box = { ...at, x: origin.x + at.x, y: origin.y + at.y };
    level.boxes.set(node.key, box);
    if (level.children.has(node.key)) {
      const top = level.metrics.height(node);
      layoutLevel(node.key, level, { x: box.x + bodyPadding, y: box.y + top + bodyPadding });
    }
  }
  for (const edge of edges) level.routes.set(edge.key, route(edge, columns, level, origin));
  return boundsOf(nodes.map((n) => level.boxes.get(n.key)!), origin);
}

function sizeOf(node: GraphNode, level: Level): { w: number; h: number } {
  const h = level.metrics.height(node);
  if (!level.children.has(node.key)) return { w: level.metrics.width, h };
  // The body is laid out twice, here for its size and later for its place; loops nest two deep at most.
  const body = layoutLevel(node.key, { ...level, boxes: new Map(), routes: new Map() }, { x: 0, y: 0 });
  return {
    w: Math.max(level.metrics.width, body.x + body.w + 2 * bodyPadding),
    h: h + body.y + body.h + 2 * bodyPadding,
  };
}

/** A node, or a lane that a long edge takes through a column. */
interface Slot {
  node: GraphNode | null;
  column: number;
  /** Place in the file; lanes take that of their edge's target. */
  order: number;
  w: number;
  h: number;
  inY: number;
  x: number;
  y: number;
  /** Where edges come from: slot and the anchor's height in it. */
  sources: { slot: Slot; y: number }[];
  /** The heights that its edges come from, once the column before is placed, and their mean. */
  anchors: number[];
  weight: number;
}

interface Columns {
  lists: Slot[][];
  /** By column. */
  widths: number[];
  slots: Map<string, Slot>;
  lanes: Map<string, Slot[]>;
}

function buildColumns(nodes: GraphNode[], edges: GraphEdge[], sizes: Map<string, { w: number; h: number }>, metrics: Metrics): Columns {
  const depth = depths(nodes, edges);
  const columns: Columns = { lists: [], widths: [], slots: new Map(), lanes: new Map() };
  const put = (slot: Slot) => ((columns.lists[slot.column] ??= []).push(slot), slot);
  nodes.forEach((node, order) => {
    const column = depth.get(node.key)!;
    columns.slots.set(node.key, put({ node, column, order, ...sizes.get(node.key)!, inY: metrics.inY, x: 0, y: 0, sources: [], anchors: [], weight: 0 }));
  });
  for (const edge of edges) {
    const from = columns.slots.get(edge.from)!;
    const to = columns.slots.get(edge.to)!;
    let source = { slot: from, y: metrics.portY(from.node!, edge.port) };
    if (to.column <= from.column) continue; // part of a cycle: drawn, but it decides nothing
    const lanes: Slot[] = [];
    for (let column = from.column + 1; column < to.column; column++) {
      const lane = put({ node: null, column, order: to.order, w: 0, h: laneHeight, inY: laneHeight / 2, x: 0, y: 0, sources: [source], anchors: [], weight: 0 });
      lanes.push(lane);
      source = { slot: lane, y: lane.inY };
    }
    to.sources.push(source);
    columns.lanes.set(edge.key, lanes);
  }
  return columns;
}

/** Longest path from a start, in edges; edges that close a cycle are ignored. */
function depths(nodes: GraphNode[], edges: GraphEdge[]): Map<string, number> {
  const incoming = groupBy(edges, (e) => e.to);
  const depth = new Map<string, number>();
  const open = new Set<string>();
  const visit = (key: string): number => {
    const known = depth.get(key);
    if (known !== undefined) return known;
    open.add(key);
    let deepest = 0;
    for (const edge of incoming.get(key) ?? []) {
      if (!open.has(edge.from)) deepest = Math.max(deepest, visit(edge.from) + 1);
    }
    open.delete(key);
    depth.set(key, deepest);
    return deepest;
  };
  for (const node of nodes) visit(node.key);
  return depth;
}

function place(columns: Columns, metrics: Metrics): void {
  let x = 0;
  columns.lists.forEach((list, column) => {
    const width = list.reduce((widest, slot) => Math.max(widest, slot.w), metrics.width);
    for (const slot of list) slot.anchors = slot.sources.map(anchor);
    uncross(sortByBarycentre(list));
    let floor = -Infinity;
    for (const slot of list) {
      slot.x = x;
      const wanted = slot.sources.length > 0 ? Math.min(...slot.anchors) - slot.inY : 0;
      slot.y = Math.round(Math.max(wanted, floor));
      floor = slot.y + slot.h + (slot.node ? rowGap : rowGap / 2);
    }
    columns.widths[column] = width;
    x += width + columnGap;
  });
}

/**
 * Where every node of a level ends up. A moved node stands where a person put it; the others keep right of
 * what they follow and evade the moved ones downwards. Without moved nodes that changes nothing.
 */
function settle(columns: Columns, edges: GraphEdge[], moved: Positions): Map<string, Box> {
  const boxes = new Map<string, Box>();
  const automatic: Slot[] = [];
  for (const slot of columns.lists.flat()) {
    if (!slot?.node) continue;
    const at = moved.get(slot.node.key);
    if (at) boxes.set(slot.node.key, { x: at[0], y: at[1], w: slot.w, h: slot.h });
    else automatic.push(slot);
  }
  const evading = boxes.size > 0;
  const incoming = groupBy(edges, (e) => e.to);
  for (const slot of automatic) {
    const box = { x: slot.x, y: slot.y, w: slot.w, h: slot.h };
    if (evading) {
      for (const edge of incoming.get(slot.node!.key) ?? []) {
        const source = boxes.get(edge.from);
        if (source && columns.slots.get(edge.from)!.column < slot.column) box.x = Math.max(box.x, source.x + source.w + columnGap);
      }
      evade(box, [...boxes.values()]);
    }
    boxes.set(slot.node!.key, box);
  }
  return boxes;
}

/** Moves a box down until it touches none of the others. */
function evade(box: Box, others: Box[]): void {
  const beside = others.filter((o) => o.x < box.x + box.w && box.x < o.x + o.w).sort((a, b) => a.y - b.y);
  for (const other of beside) {
    if (box.y < other.y + other.h && other.y < box.y + box.h) box.y = other.y + other.h + rowGap;
  }
}

function anchor(source: { slot: Slot; y: number }): number {
  return source.slot.y + source.y;
}

function sortByBarycentre(list: Slot[]): Slot[] {
  for (const slot of list) slot.weight = mean(slot.anchors);
  return list.sort((a, b) => a.weight - b.weight || Number(!a.node) - Number(!b.node) || a.order - b.order);
}

/** Swaps neighbours as long as that removes crossings with the column before. */
function uncross(list: Slot[]): void {
  if (list.every((slot) => slot.anchors.length < 2)) return; // in the order of their one edge already
  for (let round = 0, better = true; better && round < 8; round++) {
    better = false;
    for (let i = 0; i + 1 < list.length; i++) {
      const [a, b] = [list[i]!, list[i + 1]!];
      if (inversions(a, b) > inversions(b, a)) {
        list[i] = b;
        list[i + 1] = a;
        better = true;
      }
    }
  }
}

/** Crossings between the edges into `upper` and into `lower`. */
function inversions(upper: Slot, lower: Slot): number {
  let count = 0;
  for (const u of upper.anchors) for (const l of lower.anchors) if (u > l) count++;
  return count;
}

function mean(values: number[]): number {
  return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}

function route(edge: GraphEdge, columns: Columns, level: Level, origin: Point): Point[] {
  const from = level.boxes.get(edge.from)!;
  const to = level.boxes.get(edge.to)!;
  const source = columns.slots.get(edge.from)!.node!;
  const inSlot = (box: Box, slot: Slot): boolean => box.x - origin.x === slot.x && box.y - origin.y === slot.y;
  const free = !inSlot(from, columns.slots.get(edge.from)!) || !inSlot(to, columns.slots.get(edge.to)!);
  const lanes = free ? [] : (columns.lanes.get(edge.key) ?? []);
  return [
    { x: from.x + from.w, y: from.y + level.metrics.portY(source, edge.port) },
    ...lanes.flatMap((lane) => laneEnds(lane, columns, origin)),
    { x: to.x, y: to.y + level.metrics.inY },
  ];
}

function laneEnds(lane: Slot, columns: Columns, origin: Point): Point[] {
  const y = origin.y + lane.y + lane.inY;
  return [{ x: origin.x + lane.x, y }, { x: origin.x + lane.x + columns.widths[lane.column]!, y }];
}

/** The smallest box around all, in coordinates from `origin`. */
function boundsOf(boxes: Box[], origin: Point): Box {
  if (boxes.length === 0) return { x: 0, y: 0, w: 0, h: 0 };
  const x = Math.min(...boxes.map((b) => b.x - origin.x));
  const y = Math.min(...boxes.map((b) => b.y - origin.y));
  const right = Math.max(...boxes.map((b) => b.x + b.w - origin.x));
  const bottom = Math.max(...boxes.map((b) => b.y + b.h - origin.y));
  return { x, y, w: right - x, h: bottom - y };
}
