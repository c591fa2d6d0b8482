// Cut, copy, paste and duplicate as plain YAML text: what is copied here can be
// pasted into another workflow, a chat or a file, and back. Pure.

import { isSeq, parseDocument } from 'yaml';
import { nodeAt, parseText } from '../graph/from-text';
import { isRecord, isText, readNeed, type Path } from '../graph/model';
import { graphOf, idsOf, type Command } from './commands';
import { CannotEdit, Draft } from './draft';
import { placeOf } from './edit';
import { renameEdits } from './references';
import { freeId } from './skeletons';

/** The activities as a YAML list without indent, exactly as they are written. */
export function copyText(draft: Draft, keys: readonly string[]): string {
  const graph = graphOf(draft);
  const chosen = graph.nodes.filter((n) => keys.includes(n.key) && n.id !== null && !(n.parent !== null && keys.includes(n.parent)));
  return chosen.map((n) => `- ${itemSource(draft, n.path)}\n`).join('');
}

/** The source of a list item after its dash, lines moved so that the dash stands in column 0. */
function itemSource(draft: Draft, path: Path): string {
  const range = draft.rangeOf(path);
  if (!range) return '';
  const source = draft.text.slice(range.from, range.to).replace(/\r\n/g, '\n');
  const column = range.from - (draft.text.lastIndexOf('\n', range.from - 1) + 1);
  const extra = Math.max(0, column - 2);
  return source.replace(new RegExp(`\\n {1,${extra}}`, 'g'), '\n');
}

export function duplicate(keys: readonly string[]): Command {
  return (draft) => ({ ...paste(copyText(draft, keys))(draft), said: keys.length === 1 ? `Duplicated ${keys[0]}` : `Duplicated ${keys.length} activities` });
}

/** Adds the activities of a text: a list of them, one alone, or a whole workflow. Taken ids get a number. */
export function paste(text: string): Command {
  return (draft) => {
    const source = sourceOf(text);
    const taken = idsOf(graphOf(draft));
    const names = freshNames(source, taken);
    for (const edit of renameEdits(source.text, source.parsed.workflow!, names)) source.splice(edit.from, edit.to, edit.insert);
    const added = graphOf(source).nodes.filter((n) => n.parent === null && n.id !== null);
    for (const node of added) dropLooseNeeds(source, node.path, taken);
    append(draft, source, added.map((n) => n.path));
    const keys = added.map((n) => n.key);
    return { said: `Pasted ${keys.length === 1 ? keys[0] : `${keys.length} activities`}`, select: keys };
  };
}

/** The pasted text as a workflow of its own. */
function sourceOf(text: string): Draft {
  const parsed = parseText(text);
  const error = parsed.errors[0];
  if (error) {
    const { line, column } = placeOf(text, error.from);
    throw new CannotEdit(`The pasted text is not valid YAML: line ${line}, column ${column}: ${error.message}`);
  }
  if (parsed.workflow && isSeq(nodeAt(parsed.workflow, ['spec', 'activities']))) return new Draft(text, parsed);
  const value: unknown = parseDocument(text).toJS();
  if (Array.isArray(value) && value.length > 0 && value.every(isActivity)) return new Draft(asWorkflow(text));
  if (isActivity(value)) return new Draft(asWorkflow(`- ${text.trim().replace(/\n/g, '\n  ')}`));
  throw new CannotEdit('The pasted text holds no activities: a list of them, or a workflow, is expected');
}

function asWorkflow(list: string): string {
  return `spec:\n  activities:\n${list.replace(/^(?=.)/gm, '  ')}\n`;
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

/** Adds activities of another text to the end of the list, as they are written there. */
function append(draft: Draft, source: Draft, paths: readonly Path[]): void {
  const list = ['spec', 'activities'];
  let rest = paths;
  if (draft.listIndent(list) === null && rest.length > 0) {
    draft.insert(list, 0, source.get(rest[0]!));
    rest = rest.slice(1);
  }
  const indent = draft.listIndent(list);
  if (indent === null) for (const [i, path] of rest.entries()) draft.insert(list, i + 1, source.get(path)); // a list in flow style
  else draft.insertRaw(list, (draft.get(list) as unknown[]).length, rest.map((path) => `- ${itemSource(source, path)}`.replace(/\n(?=[^\n])/g, `\n${indent}`)));
}

/** A need that names nothing here would be an error the person did not make. */
function dropLooseNeeds(source: Draft, path: Path, known: ReadonlySet<string>): void {
  const needs = source.get([...path, 'needs']);
  if (!Array.isArray(needs)) return;
  const kept: unknown[] = needs.filter((need) => known.has(readNeed(need)?.from ?? ''));
  if (kept.length < needs.length) source.set([...path, 'needs'], kept.length > 0 ? kept : undefined);
}
