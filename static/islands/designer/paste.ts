// Pasting and duplicating: the activities of a YAML text join a workflow. Loaded when first used. Pure.

import { isSeq, parseDocument } from 'yaml';
import { nodeAt, parseText } from '../graph/from-text';
import { isRecord, isText, readNeed, type GraphNode, type Path } from '../graph/model';
import { copyText, itemOf } from './clipboard';
import { graphOf, idsOf, type Command } from './commands';
import { CannotEdit, Draft } from './draft';
import { applyChange, placeOf } from './edit';
import { graft } from './graft';
import { renameEdits } from './references';
import { freeId } from './skeletons';

const list = ['spec', 'activities'];

export function duplicate(keys: readonly string[]): Command {
  return (draft) => ({ ...paste(copyText(draft, keys))(draft), said: keys.length === 1 ? `Duplicated ${keys[0]}` : `Duplicated ${keys.length} activities` });
}

/** Adds the activities of a text: a list of them, one alone, or a whole workflow. Taken ids get a number. */
export function paste(text: string): Command {
  return (draft) => {
    const known = idsOf(graphOf(draft));
    const pasted = sourceOf(text.replace(/\r\n/g, '\n'));
    const names = freshNames(pasted, known);
    const source = withoutLooseNeeds(pasted, (id) => known.has(names.get(id) ?? id));
    const added = topOf(source);
    if (added.length === 0) throw nothingHeld();
    append(draft, source, added.map((n) => n.path), names);
    const keys = added.map((n) => names.get(n.key) ?? n.key);
    return { said: `Pasted ${keys.length === 1 ? keys[0] : `${keys.length} activities`}`, select: keys };
  };
}

function topOf(source: Draft): GraphNode[] {
  return graphOf(source).nodes.filter((n) => n.parent === null && n.id !== null);
}

/** The pasted text as a workflow of its own, parsed once if it is what is mostly pasted. */
function sourceOf(text: string): Draft {
  const isList = /^(?: *(?:#.*)?\n)* *- /.test(text);
  const source = new Draft(isList ? asWorkflow(text) : text);
  if (source.parsed.errors.length === 0 && holdsActivities(source, isList)) return source;
  const error = (isList ? parseText(text) : source.parsed).errors[0];
  if (error) {
    const { line, column } = placeOf(text, error.from);
    throw new CannotEdit(`The pasted text is not valid YAML: line ${line}, column ${column}: ${error.message}`);
  }
  const value: unknown = parseDocument(text).toJS();
  if (Array.isArray(value) && value.length > 0 && value.every(isActivity)) return isList ? source : new Draft(asWorkflow(text));
  if (isActivity(value)) return new Draft(asWorkflow(`- ${text.trim().replace(/\n/g, '\n  ')}`));
  throw nothingHeld();
}

function nothingHeld(): CannotEdit {
  return new CannotEdit('The pasted text holds no activities: a list of them, or a workflow, is expected');
}

/** A workflow may hold what is not finished; a list is one of activities only if all of it is. */
function holdsActivities(source: Draft, strictly: boolean): boolean {
  if (!source.parsed.workflow || !isSeq(nodeAt(source.parsed.workflow, list))) return false;
  const values = source.get(list) as unknown[];
  return !strictly || values.every(isActivity);
}

function asWorkflow(items: string): string {
  return `spec:\n  activities:\n${items.replace(/^(?=.)/gm, '  ')}\n`;
}

function isActivity(value: unknown): boolean {
  return isRecord(value) && isText(value.type);
}

/** New names for ids that are taken; adds all of them to `taken`. */
function freshNames(source: Draft, taken: Set<string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const id of idsOf(graphOf(source))) {
    const fresh = freeId(id, taken);
    taken.add(fresh);
    if (fresh !== id) names.set(id, fresh);
  }
  return names;
}

/** Adds activities of another text to the end of the list, as they are written there but for their names. */
function append(draft: Draft, source: Draft, paths: readonly Path[], names: ReadonlyMap<string, string>): void {
  const renames = renameEdits(source.text, source.parsed.workflow!, names);
  const there = draft.get(list);
  const length = Array.isArray(there) ? there.length : 0;
  if (length === 0) draft.insert(list, 0, { type: 'set' }); // to be overwritten: it makes the list
  const indent = draft.listIndent(list);
  if (indent === null) return appendValues(draft, new Draft(applyChange(source.text, renames)), paths, length);
  const edits = [...renames].reverse();
  let items = paths.map((path) => itemOf(source, path, indent, edits));
  if (length === 0) {
    const { from, to } = draft.rangeOf([...list, 0])!;
    draft.splice(from, to, items[0]!.text);
    items = items.slice(1);
  }
  if (items.length === 0) return;
  const before = draft.parsed;
  draft.insertRaw(list, Math.max(1, length), items.map((item) => `- ${item.text}`));
  draft.adopt(graft(before, draft.change.at(-1)!, items, names));
}

/** A list in flow style takes the values: comments have no place in it. */
function appendValues(draft: Draft, source: Draft, paths: readonly Path[], length: number): void {
  for (const [i, path] of paths.entries()) draft.set([...list, length + i], source.get(path));
}

/** A need that names nothing here would be an error the person did not make. */
function withoutLooseNeeds(source: Draft, known: (id: string) => boolean): Draft {
  const { parsed } = source;
  let text = source.text;
  for (const node of topOf(source).reverse()) {
    const path = [...node.path, 'needs'];
    const needs = source.get(path);
    if (!Array.isArray(needs)) continue;
    const kept: unknown[] = needs.filter((need) => known(readNeed(need)?.from ?? ''));
    if (kept.length === needs.length) continue;
    const rest = new Draft(text, { ...parsed, text }); // from the last to the first: what stands before a change is still as it was parsed
    rest.set(path, kept.length > 0 ? kept : undefined);
    text = rest.text;
  }
  return text === source.text ? source : new Draft(text);
}
