// What a person can do to a workflow, each as splices of its text. Pure: takes a
// draft, changes it, says what was done. Whatever cannot be done throws CannotEdit
// with words for the person.

import { graphFrom, type ParsedText } from '../graph/from-text';
import {
  drawnPort, hookType, plainPort, portsOf, readNeed, upstream, writeNeed,
  type Graph, type GraphEdge, type GraphNode, type Path,
} from '../graph/model';
import { CannotEdit, Draft } from './draft';
import type { Change } from './edit';
import { renameEdits } from './references';
import { idProblem, newActivity, skeletons } from './skeletons';

/** A command's outcome: words for the undo list and the live region, and what to select. */
export interface Done {
  said: string;
  select?: string[];
}

export type Command = (draft: Draft) => Done;

/** Runs a command on a text, given its tree if there is one; a text that was well formed stays so. */
export function run(text: string, command: Command, tree: ParsedText | null = null): Done & { change: Change; text: string; tree: ParsedText } {
  const draft = new Draft(text, tree);
  const error = draft.parsed.errors[0];
  if (error) throw new CannotEdit(`The text has to be valid YAML first: ${error.message}`);
  const done = attempt(command, draft);
  const broken = draft.parsed.errors[0] ?? graphFrom(draft.parsed).error;
  if (broken) throw new CannotEdit(`This cannot be written from here; edit it in the YAML (${broken.message})`);
  return { ...done, change: draft.change, text: draft.text, tree: draft.parsed };
}

function attempt(command: Command, draft: Draft): Done {
  try {
    return command(draft);
  } catch (e) {
    // An alias whose anchor went away with what was changed.
    if (e instanceof ReferenceError) throw new CannotEdit(`Another part of the file uses this: ${e.message}`);
    throw e;
  }
}

export interface Place {
  from: string;
  port: string;
}

/** Adds an activity: after a port, or on its own. `at` is where a person dropped it. */
export function addActivity(type: string, after: Place | null, at?: readonly [number, number], parent: string | null = null): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const source = after ? find(graph, after.from) : null;
    const activity = newActivity(type, idsOf(graph));
    const { id, type: kind, ...rest } = activity;
    const needs = source ? { needs: [needFor(source, after!.port)] } : {};
    const list = source ? listOf(source) : bodyList(graph, parent);
    draft.insert(list, source ? placeAfter(graph, source) : lengthOf(draft, list), { id, type: kind, ...needs, ...rest });
    if (at) setPosition(draft, id, at);
    return { said: source ? `Added ${id} after ${source.name}${portWords(after!.port)}` : `Added ${id}`, select: [id] };
  };
}

/** Puts a new activity between the two ends of an edge. */
export function insertOnEdge(key: string, type: string): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const edge = findEdge(graph, key);
    const [source, target] = [find(graph, edge.from), find(graph, edge.to)];
    const { id, type: kind, ...rest } = newActivity(type, idsOf(graph));
    const added = { id, type: kind, needs: [needFor(source, edge.port)], ...rest };
    replaceNeed(draft, target, edge, [goodNeed(id, type, added)]);
    draft.insert(listOf(source), Math.max(indexOf(source) + 1, indexOf(target)), added);
    return { said: `Inserted ${id} between ${source.name} and ${target.name}`, select: [id] };
  };
}

/** Why an edge cannot be drawn, by target: itself, what leads to it, what stands in another list. */
export function refusals(graph: Graph, from: string): Map<string, string> {
  const reasons = new Map<string, string>();
  const source = find(graph, from);
  const before = upstream(graph, from);
  for (const node of graph.nodes) {
    if (node.key === from) reasons.set(node.key, 'An activity cannot need itself');
    else if (node.parent !== source.parent) reasons.set(node.key, `${node.name} is in another list: edges stay within a loop's body`);
    else if (before.has(node.key)) reasons.set(node.key, `${node.name} comes before ${source.name}: this edge would close a cycle`);
    else if (node.id === null) reasons.set(node.key, node.type === hookType ? 'A hook runs by itself: it has no edges' : 'The only activity of a loop has no edges');
  }
  return reasons;
}

export function connect(from: string, port: string, to: string): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const reason = refusals(graph, from).get(to);
    if (reason) throw new CannotEdit(reason);
    const [source, target] = [find(graph, from), find(graph, to)];
    const drawn = drawnPort(source, port);
    if (graph.edges.some((e) => e.from === from && e.to === to && e.port === drawn)) {
      throw new CannotEdit(`${source.name} is already connected to ${target.name}${portWords(port)}`);
    }
    const path = [...target.path, 'needs'];
    draft.insert(path, needsOf(draft, target).length, needFor(source, port));
    return { said: `Connected ${source.name} to ${target.name}${portWords(port)}`, select: [to] };
  };
}

export function disconnect(key: string): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const edge = findEdge(graph, key);
    replaceNeed(draft, find(graph, edge.to), edge, []);
    return { said: `Removed the edge from ${find(graph, edge.from).name} to ${find(graph, edge.to).name}`, select: [edge.to] };
  };
}

/** Deletes activities; what needed one then needs what that one needed. */
export function remove(keys: readonly string[]): Command {
  return (draft) => {
    const names = keys.map((key) => find(graphOf(draft), key).name);
    const first = find(graphOf(draft), keys[0]!);
    const before = graphOf(draft).edges.find((e) => e.to === first.key && !keys.includes(e.from))?.from;
    for (const key of keys) {
      const graph = graphOf(draft);
      if (graph.nodes.some((n) => n.key === key)) removeOne(draft, graph, key);
    }
    return { said: `Deleted ${names.join(', ')}`, select: before ? [before] : [] };
  };
}

function removeOne(draft: Draft, graph: Graph, key: string): void {
  const node = find(graph, key);
  if (node.type === hookType) return draft.remove(node.path);
  const only = node.parent !== null && graph.nodes.filter((n) => n.parent === node.parent).length === 1;
  if (only && find(graph, node.parent!).type === hookType) return draft.remove(find(graph, node.parent!).path);
  if (node.id === null) throw new CannotEdit('A loop needs this activity: delete the loop, or change its type');
  if (only) {
    throw new CannotEdit('A loop needs at least one activity: delete the loop instead');
  }
  const inherited = needsOf(draft, node);
  for (const edge of graph.edges.filter((e) => e.from === key)) {
    const port = node.ports.find((p) => p.name === edge.port);
    const heals = port?.kind !== 'failure' && port?.kind !== 'done';
    replaceNeed(draft, find(graphOf(draft), edge.to), edge, heals ? inherited : []);
  }
  draft.remove(find(graphOf(draft), key).path);
  if (draft.parsed.layout && draft.get(['positions', key], 'layout') !== undefined) draft.remove(['positions', key], 'layout');
}

/** Gives an activity another id, everywhere it is named. */
export function rename(key: string, id: string): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const node = find(graph, key);
    if (id === node.id) return { said: 'The id stays', select: [id] };
    const problem = idProblem(id, idsOf(graph));
    if (problem) throw new CannotEdit(problem);
    if (node.type === hookType) throw new CannotEdit('A hook has no id');
    if (node.id === null) {
      draft.set([...node.path, 'id'], id);
      return { said: `Named it ${id}`, select: [id] };
    }
    const position = draft.parsed.layout ? draft.get(['positions', key], 'layout') : undefined;
    if (position !== undefined) {
      draft.remove(['positions', key], 'layout');
      draft.set(['positions', id], position, 'layout');
    }
    const edits = renameEdits(draft.text, draft.parsed.workflow!, new Map([[node.id, id]]));
    for (const edit of edits) draft.splice(edit.from, edit.to, edit.insert);
    return { said: `Renamed ${node.id} to ${id}, in ${edits.length} places`, select: [id] };
  };
}

/** Sets a field of an activity, or of the workflow when key is null; undefined removes it. */
export function setField(key: string | null, field: Path, value: unknown): Command {
  return (draft) => {
    const base = key === null ? [] : find(graphOf(draft), key).path;
    draft.set([...base, ...field], value);
    const name = field.filter((f) => typeof f === 'string').join('.');
    return { said: value === undefined ? `Removed ${name}` : `Changed ${name}`, ...(key === null ? {} : { select: [key] }) };
  };
}

/** Changes the type: the block of the old type goes, the new one starts with its defaults; common fields stay. */
export function changeType(key: string, type: string): Command {
  return (draft) => {
    const node = find(graphOf(draft), key);
    if (node.type === hookType) throw new CannotEdit('A hook has no type');
    if (type === node.type) return { said: 'The type stays', select: [key] };
    if (draft.get([...node.path, node.type]) !== undefined) draft.remove([...node.path, node.type]);
    draft.set([...node.path, 'type'], type);
    const fresh = newActivity(type, idsOf(graphOf(draft)));
    for (const [name, value] of Object.entries(fresh)) {
      if (name === 'id' || name === 'type' || !(name in (skeletons[type]?.fields ?? {}))) continue;
      if (draft.get([...node.path, name]) === undefined) draft.set([...node.path, name], value);
    }
    return { said: `${node.name} is now of type ${type}`, select: [key] };
  };
}

/** Remembers where a person put nodes: whole numbers on a 10-grid, within the loop for its body. */
export function move(places: ReadonlyMap<string, readonly [number, number]>): Command {
  return (draft) => {
    for (const [key, at] of places) setPosition(draft, key, at);
    return { said: places.size === 1 ? `Moved ${[...places.keys()][0]}` : `Moved ${places.size} activities` };
  };
}

/** Forgets the places of all or of some, so that the layout decides. */
export function tidy(keys: readonly string[] | null): Command {
  return (draft) => {
    if (!draft.parsed.layout || draft.get(['positions'], 'layout') === undefined) throw new CannotEdit('Nothing was moved: the layout places everything already');
    const moved = Object.keys((draft.get(['positions'], 'layout') ?? {}) as object);
    const gone = keys === null ? moved : moved.filter((key) => keys.includes(key));
    for (const key of gone) draft.remove(['positions', key], 'layout');
    return { said: `Laid out ${gone.length === 1 ? gone[0] : `${gone.length} activities`} again` };
  };
}

/** Closes a loop on the canvas, or opens it again. */
export function toggleClosed(key: string): Command {
  return (draft) => {
    const graph = graphOf(draft);
    const node = find(graph, key);
    if (node.id === null || !graph.nodes.some((n) => n.parent === key)) throw new CannotEdit('Only a loop can be closed');
    const now: unknown = draft.parsed.layout ? draft.get(['collapsed'], 'layout') : undefined;
    const list = Array.isArray(now) ? (now as unknown[]) : [];
    const closing = !list.includes(key);
    const next = closing ? [...list, key] : list.filter((k) => k !== key);
    if (draft.parsed.layout) draft.set(['collapsed'], next.length > 0 ? next : undefined, 'layout');
    else addLayout(draft, `collapsed: [${key}]`);
    return { said: `${closing ? 'Closed' : 'Opened'} ${node.name}`, select: [key] };
  };
}

/** Adds a note beside the graph. */
export function addNote(text: string, at: readonly [number, number]): Command {
  return (draft) => {
    const note = { text, at: onGrid(at) };
    if (draft.parsed.layout) draft.insert(['notes'], notesOf(draft).length, note, 'layout');
    else addLayout(draft, `notes:\n  - text: ${JSON.stringify(text)}\n    at: [${note.at.join(', ')}]`);
    return { said: 'Added a note' };
  };
}

export function writeNote(index: number, text: string): Command {
  return (draft) => {
    if (index >= notesOf(draft).length) throw new CannotEdit('This note is gone');
    draft.set(['notes', index, 'text'], text, 'layout');
    return { said: 'Changed a note' };
  };
}

export function moveNote(index: number, at: readonly [number, number]): Command {
  return (draft) => {
    if (index >= notesOf(draft).length) throw new CannotEdit('This note is gone');
    draft.set(['notes', index, 'at'], onGrid(at), 'layout');
    return { said: 'Moved a note' };
  };
}

export function removeNote(index: number): Command {
  return (draft) => {
    const left = notesOf(draft).length - 1;
    if (index > left) throw new CannotEdit('This note is gone');
    if (left === 0) draft.set(['notes'], undefined, 'layout');
    else draft.remove(['notes', index], 'layout');
    return { said: 'Deleted a note' };
  };
}

function notesOf(draft: Draft): unknown[] {
  const notes: unknown = draft.parsed.layout ? draft.get(['notes'], 'layout') : undefined;
  return Array.isArray(notes) ? (notes as unknown[]) : [];
}

function onGrid([x, y]: readonly [number, number]): number[] {
  return [Math.round(x / 10) * 10, Math.round(y / 10) * 10];
}

/** Begins the Layout document at the end of the text. */
function addLayout(draft: Draft, line: string): void {
  const end = draft.text.endsWith('\n') ? '' : '\n';
  draft.splice(draft.text.length, draft.text.length, `${end}---\napiVersion: weftline/v1\nkind: Layout\n${line}\n`);
}

function setPosition(draft: Draft, key: string, [x, y]: readonly [number, number]): void {
  if (key.startsWith('@')) throw new CannotEdit('A hook stands below the graph by itself');
  const at = onGrid([x, y]);
  if (draft.parsed.layout) return draft.set(['positions', key], at, 'layout');
  addLayout(draft, `positions:\n  ${key}: [${at.join(', ')}]`);
}

/** Replaces the need behind an edge by others, those already there left out. */
function replaceNeed(draft: Draft, target: GraphNode, edge: GraphEdge, needs: readonly unknown[]): void {
  const graph = graphOf(draft);
  const source = graph.nodes.find((n) => n.key === edge.from);
  const old = needsOf(draft, target);
  const kept = old.filter((need) => {
    const read = readNeed(need);
    return !(read && read.from === edge.from && source && drawnPort(source, read.port) === edge.port);
  });
  if (kept.length === old.length) return removeTransition(draft, edge);
  const written = new Set(kept.map((n) => JSON.stringify(n)));
  const added = needs.filter((n) => !written.has(JSON.stringify(n)));
  const at = old.findIndex((n) => !kept.includes(n));
  const next = [...kept.slice(0, at), ...added, ...kept.slice(at)];
  draft.set([...target.path, 'needs'], next.length > 0 ? next : undefined);
}

/** The older way to write edges, `spec.transitions`, is read and can be taken away. */
function removeTransition(draft: Draft, edge: GraphEdge): void {
  const list = draft.get(['spec', 'transitions']);
  const index = Array.isArray(list) ? list.findIndex((t: { from?: unknown; to?: unknown }) => readNeed(t.from)?.from === edge.from && t.to === edge.to) : -1;
  if (index >= 0) draft.remove(['spec', 'transitions', index]);
}

export function graphOf(draft: Draft): Graph {
  const read = graphFrom(draft.parsed);
  if (read.error) throw new CannotEdit(read.error.message);
  return read.graph;
}

function find(graph: Graph, key: string): GraphNode {
  const node = graph.nodes.find((n) => n.key === key);
  if (!node) throw new CannotEdit(`There is no activity "${key}"`);
  return node;
}

function findEdge(graph: Graph, key: string): GraphEdge {
  const edge = graph.edges.find((e) => e.key === key);
  if (!edge) throw new CannotEdit('This edge is gone');
  return edge;
}

export function idsOf(graph: Graph): Set<string> {
  return new Set(graph.nodes.flatMap((n) => (n.id === null ? [] : [n.id])));
}

/** The need for a port; the good port of the ordinary kind is the plain id. */
function needFor(source: GraphNode, port: string): string {
  if (source.id === null) throw new CannotEdit('The only activity of a loop has no edges');
  return writeNeed(source.id, port);
}

/** The need that continues after a new activity: its good port, or the first branch of a switch. */
function goodNeed(id: string, type: string, fields: Record<string, unknown>): string {
  const first = portsOf(type, fields[type])[0];
  return writeNeed(id, first?.kind === 'branch' ? first.name : plainPort);
}

function listOf(node: GraphNode): Path {
  return node.path.slice(0, -1);
}

function bodyList(graph: Graph, parent: string | null): Path {
  if (parent?.startsWith('@')) return ['spec', parent.slice(1)];
  return parent === null ? ['spec', 'activities'] : [...find(graph, parent).path, 'for_each', 'activities'];
}

function indexOf(node: GraphNode): number {
  return Number(node.path.at(-1));
}

function lengthOf(draft: Draft, list: Path): number {
  const value = draft.get(list);
  return Array.isArray(value) ? value.length : 0;
}

/** After the source and what already follows it directly, so that branches stay in the order they were drawn. */
function placeAfter(graph: Graph, source: GraphNode): number {
  const followers = graph.edges.filter((e) => e.from === source.key).map((e) => find(graph, e.to));
  return Math.max(indexOf(source), ...followers.map(indexOf)) + 1;
}

function needsOf(draft: Draft, node: GraphNode): unknown[] {
  const needs = draft.get([...node.path, 'needs']);
  return Array.isArray(needs) ? (needs as unknown[]) : needs === undefined || needs === null ? [] : [needs];
}

function portWords(port: string): string {
  return port === plainPort ? '' : `, on ${port}`;
}
