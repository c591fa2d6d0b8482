// Reads the documents of a workflow, as plain data, into a graph. The server gives
// them with a page, and `from-text.ts` takes them from a text: the graph is the same.

import { describe, factsOf, hookWords } from './describe';
import {
  drawnPort, edgeKey, hookKey, hookLists, hookType, isRecord, isText, portsOf, readNeed,
  type Graph, type GraphEdge, type GraphNode, type Path, type Positions,
} from './model';
import type { Note } from './notes';

/** The Workflow and the Layout of a text as plain data, keys in their order. */
export interface Documents {
  workflow: unknown;
  layout: unknown;
}

export interface Drawing {
  name: string;
  graph: Graph;
  positions: Positions;
  /** Loops that are shown closed. */
  collapsed: ReadonlySet<string>;
  notes: readonly Note[];
  /** The whole workflow document as plain data. */
  root: Record<string, unknown>;
}

/** Where the value at a path stands in the text. */
export type RangeAt = (path: Path) => readonly [number, number];

/** Without a text, nothing has a range. */
const noRange: RangeAt = () => [0, 0];

export function drawingOf({ workflow, layout }: Documents, rangeAt: RangeAt = noRange): Drawing {
  const root = isRecord(workflow) ? workflow : {};
  const spec = isRecord(root.spec) ? root.spec : {};
  const metadata = isRecord(root.metadata) ? root.metadata : {};
  const beside = isRecord(layout) ? layout : {};
  const reader = new Reader(rangeAt);
  reader.list(spec.activities, ['spec', 'activities'], null);
  for (const list of hookLists) reader.hook(list, spec[list]);
  return {
    name: isText(metadata.name) ? metadata.name : '',
    graph: reader.finish(spec.transitions),
    positions: positionsOf(beside),
    collapsed: new Set(Array.isArray(beside.collapsed) ? beside.collapsed.filter(isText) : []),
    notes: notesOf(beside),
    root,
  };
}

interface PendingEdge {
  from: string;
  port: string;
  to: string;
  parent: string | null;
}

/** Walks lists of activities, loop bodies included, and joins needs to nodes at the end. */
class Reader {
  private readonly nodes = new Map<string, GraphNode>();
  private readonly pending: PendingEdge[] = [];

  constructor(private readonly rangeAt: RangeAt) {}

  list(activities: unknown, path: Path, parent: string | null): void {
    if (!Array.isArray(activities)) return;
    activities.forEach((activity, i) => this.activity(activity, [...path, i], parent));
  }

  /** A hook is a frame around its activities. */
  hook(list: (typeof hookLists)[number], activities: unknown): void {
    if (!Array.isArray(activities) || activities.length === 0) return;
    const key = hookKey(list);
    const path = ['spec', list];
    this.nodes.set(key, { key, id: null, type: hookType, parent: null, path, ...hookWords[list], facts: [], ports: [], range: this.rangeAt(path) });
    this.list(activities, path, key);
  }

  private activity(value: unknown, path: Path, parent: string | null): void {
    if (!isRecord(value)) return;
    const id = isText(value.id) ? value.id : null;
    const key = id ?? (parent !== null ? `${parent}/each` : `#${path.join('.')}`);
    if (this.nodes.has(key)) return; // a doubled id is a problem of the text, not of the drawing
    const type = isText(value.type) ? value.type : '';
    this.nodes.set(key, {
      key, id, type, parent, path,
      name: isText(value.name) ? value.name : (id ?? 'each item'),
      detail: describe(value),
      facts: factsOf(value),
      ports: portsOf(type, value[type]),
      range: this.rangeAt(path),
    });
    this.needs(value.needs, key, parent);
    if (type === 'for_each') this.body(value.for_each, [...path, 'for_each'], key);
  }

  private body(block: unknown, path: Path, key: string): void {
    if (!isRecord(block)) return;
    this.list(block.activities, [...path, 'activities'], key);
    if (isRecord(block.activity)) this.activity(block.activity, [...path, 'activity'], key);
  }

  private needs(needs: unknown, to: string, parent: string | null): void {
    for (const need of Array.isArray(needs) ? needs : [needs]) {
      const read = readNeed(need);
      if (read) this.pending.push({ ...read, to, parent });
    }
  }

  finish(transitions: unknown): Graph {
    for (const t of Array.isArray(transitions) ? transitions : []) {
      const read = isRecord(t) ? readNeed(t.from) : null;
      if (read && isRecord(t) && isText(t.to)) this.pending.push({ ...read, to: t.to, parent: null });
    }
    return { nodes: [...this.nodes.values()], edges: this.edges() };
  }

  private edges(): GraphEdge[] {
    const edges = new Map<string, GraphEdge>();
    for (const { from, port, to, parent } of this.pending) {
      const source = this.nodes.get(from);
      if (!source || source.parent !== parent || !this.nodes.has(to)) continue;
      const drawn = drawnPort(source, port);
      const key = edgeKey(from, drawn, to);
      edges.set(key, { key, from, port: drawn, to });
    }
    return [...edges.values()];
  }
}

/** Notes of a Layout document: each a text and a place; what is neither is left out, and keeps its place in the list. */
function notesOf(layout: Record<string, unknown>): Note[] {
  const list: unknown[] = Array.isArray(layout.notes) ? layout.notes : [];
  return list.map((note): Note => {
    const given = isRecord(note) ? note : {};
    const at: unknown[] = Array.isArray(given.at) ? given.at : [];
    return { text: isText(given.text) ? given.text : '', at: [Number(at[0] ?? 0) || 0, Number(at[1] ?? 0) || 0] };
  });
}

/** Positions of a Layout document; what is not a pair of numbers is left out. */
export function positionsOf(layout: Record<string, unknown>): Positions {
  const positions = new Map<string, readonly [number, number]>();
  for (const [id, at] of Object.entries(isRecord(layout.positions) ? layout.positions : {})) {
    if (Array.isArray(at) && typeof at[0] === 'number' && typeof at[1] === 'number') positions.set(id, [at[0], at[1]]);
  }
  return positions;
}
