// Reads a workflow text into a graph. Any version of a definition can be drawn
// from its text alone; text that is no workflow gives an error with its place.

import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Document, type Node, type YAMLMap } from 'yaml';
import type { Note } from './notes';
import { describe, factsOf, hookWords } from './describe';
import {
  drawnPort, edgeKey, emptyGraph, hookKey, hookLists, hookType, isRecord, isText, portsOf, readNeed,
  type Graph, type GraphEdge, type GraphNode, type Path, type Positions,
} from './model';

export interface TextError {
  /** UTF-16 offsets into the text. */
  from: number;
  to: number;
  message: string;
}

export interface ParsedText {
  text: string;
  /** The one Workflow document, also when parts of it are wrong; null when there is none. */
  workflow: Document.Parsed | null;
  layout: Document.Parsed | null;
  errors: TextError[];
}

export interface TextGraph {
  name: string;
  graph: Graph;
  positions: Positions;
  /** Loops that are shown closed. */
  collapsed: ReadonlySet<string>;
  notes: readonly Note[];
  /** The whole workflow document as plain data; empty when there is an error. */
  root: Record<string, unknown>;
  error: TextError | null;
}

export function parseText(text: string): ParsedText {
  const parsed = parseAllDocuments(text, { version: '1.2', prettyErrors: false, logLevel: 'silent' });
  const docs = (Array.isArray(parsed) ? parsed : []) as Document.Parsed[];
  const errors = docs.flatMap((doc) =>
    doc.errors.map((e): TextError => ({ from: e.pos[0], to: Math.max(e.pos[1], e.pos[0] + 1), message: firstLine(e.message) })),
  );
  const kindOf = (doc: Document.Parsed): unknown => (isMap(doc.contents) ? doc.get('kind') : undefined);
  const layout = docs.find((doc) => kindOf(doc) === 'Layout') ?? null;
  const workflow = docs.find((doc) => kindOf(doc) === 'Workflow') ?? docs.find((doc) => isMap(doc.contents) && doc.has('spec')) ?? null;
  return { text, workflow, layout, errors };
}

/** The graph of a text and the positions a person gave; never throws. */
export function graphFromText(text: string): TextGraph {
  return graphFrom(parseText(text));
}

/** Graphs by tree: a tree is never changed, so each is read once. */
const graphs = new WeakMap<ParsedText, TextGraph>();

export function graphFrom(parsed: ParsedText): TextGraph {
  const known = graphs.get(parsed) ?? readGraph(parsed);
  graphs.set(parsed, known);
  return known;
}

function readGraph(parsed: ParsedText): TextGraph {
  const nothing = { name: '', graph: emptyGraph, positions: new Map(), collapsed: new Set<string>(), notes: [], root: {} };
  const broken = parsed.errors[0];
  if (broken) return { ...nothing, error: broken };
  if (!parsed.workflow) {
    return { ...nothing, error: { from: 0, to: 0, message: 'There is no workflow in this text: it needs kind: Workflow' } };
  }
  try {
    return { ...readWorkflow(parsed.workflow), positions: readPositions(parsed.layout), collapsed: readCollapsed(parsed.layout), notes: readNotes(parsed.layout), error: null };
  } catch (e) {
    return { ...nothing, error: { from: 0, to: 0, message: e instanceof Error ? firstLine(e.message) : String(e) } };
  }
}

function readWorkflow(doc: Document.Parsed): Pick<TextGraph, 'name' | 'graph' | 'root'> {
  const value: unknown = doc.toJS({ maxAliasCount: 20_000 });
  const root = isRecord(value) ? value : {};
  const spec = isRecord(root.spec) ? root.spec : {};
  const reader = new Reader(doc);
  reader.list(spec.activities, ['spec', 'activities'], null);
  for (const list of hookLists) reader.hook(list, spec[list]);
  const metadata = isRecord(root.metadata) ? root.metadata : {};
  return { name: isText(metadata.name) ? metadata.name : '', graph: reader.finish(spec.transitions), root };
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

  constructor(private readonly doc: Document.Parsed) {}

  list(activities: unknown, path: Path, parent: string | null): void {
    if (!Array.isArray(activities)) return;
    activities.forEach((activity, i) => this.activity(activity, [...path, i], parent));
  }

  /** A hook is a frame around its activities. */
  hook(list: (typeof hookLists)[number], activities: unknown): void {
    if (!Array.isArray(activities) || activities.length === 0) return;
    const key = hookKey(list);
    const path = ['spec', list];
    this.nodes.set(key, { key, id: null, type: hookType, parent: null, path, ...hookWords[list], facts: [], ports: [], range: rangeAt(this.doc, path) });
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
      range: rangeAt(this.doc, path),
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

function readPositions(doc: Document.Parsed | null): Positions {
  const layout: unknown = doc?.toJS();
  return isRecord(layout) ? positionsOf(layout) : new Map();
}

function readCollapsed(doc: Document.Parsed | null): ReadonlySet<string> {
  const layout: unknown = doc?.toJS();
  return new Set(isRecord(layout) && Array.isArray(layout.collapsed) ? layout.collapsed.filter(isText) : []);
}

/** Notes of a Layout document: each a text and a place; what is neither is left out, and keeps its place in the list. */
function readNotes(doc: Document.Parsed | null): Note[] {
  const layout: unknown = doc?.toJS();
  const list: unknown[] = isRecord(layout) && Array.isArray(layout.notes) ? layout.notes : [];
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

function rangeAt(doc: Document.Parsed, path: Path): readonly [number, number] {
  const node = nodeAt(doc, path);
  return node?.range ? [node.range[0], node.range[1]] : [0, 0];
}

/** The syntax node at a path, aliases followed on the way; null when there is none. */
export function nodeAt(doc: Document, path: Path): Node | null {
  let node: unknown = doc.contents;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(doc);
    if (isMap(node)) node = pairOf(node, String(step))?.value;
    else if (isSeq(node)) node = node.items[Number(step)];
    else return null;
  }
  return (node as Node | null | undefined) ?? null;
}

/** A pair by key; every key may also be written in snake_case. */
export function pairOf(map: YAMLMap, key: string): YAMLMap['items'][number] | undefined {
  const snake = key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  const named = (name: string) => map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name);
  return named(key) ?? (snake === key ? undefined : named(snake));
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
