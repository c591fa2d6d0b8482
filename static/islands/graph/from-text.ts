// Reads a workflow text into a graph. Any version of a definition can be drawn
// from its text alone; text that is no workflow gives an error with its place.

import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Document, type Node, type YAMLMap } from 'yaml';
import { drawingOf, type Drawing } from './documents';
import { emptyGraph, type Path } from './model';

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

export interface TextGraph extends Drawing {
  /** Why there is nothing to draw. */
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
    return { ...readDocuments(parsed.workflow, parsed.layout), error: null };
  } catch (e) {
    return { ...nothing, error: { from: 0, to: 0, message: e instanceof Error ? firstLine(e.message) : String(e) } };
  }
}

function readDocuments(workflow: Document.Parsed, layout: Document.Parsed | null): Drawing {
  const documents = { workflow: workflow.toJS({ maxAliasCount: 20_000 }) as unknown, layout: layout?.toJS() as unknown };
  return drawingOf(documents, (path) => rangeAt(workflow, path));
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
