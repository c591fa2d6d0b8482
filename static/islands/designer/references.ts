// Where a workflow text names an activity: needs, ports, expressions, positions. Pure.

import { isMap, isScalar, isSeq, visit, type Document, type Scalar } from 'yaml';
import { applyChange, type Edit } from './edit';

/** Fields that are never expressions, even if they look like one. */
const literalKeys = new Set(['source', 'query']);
/** Lists whose items are activity ids, perhaps with a port. */
const idLists = new Set(['needs', 'notSameAs', 'not_same_as']);

/** Edits that rename an activity within a range of the text, from the last to the first. */
export function renameEdits(text: string, doc: Document.Parsed, names: ReadonlyMap<string, string>, within?: readonly [number, number]): Edit[] {
  const edits: Edit[] = [];
  visit(doc, {
    Scalar(key, node, path) {
      const range = node.range;
      if (!range || key === 'key' || (within && (range[0] < within[0] || range[1] > within[1]))) return;
      const holder = holderOf(path);
      if (holder.isId) edits.push(...idEdits(text, node, names));
      else if (!literalKeys.has(holder.key)) edits.push(...expressionEdits(text, range[0], range[1], names));
    },
  });
  return edits.sort((a, b) => b.from - a.from);
}

/** The key that a scalar stands under, and whether it names an activity there. */
function holderOf(path: readonly unknown[]): { key: string; isId: boolean } {
  const pairs = path.filter((p): p is { key: Scalar } => isPairLike(p));
  const key = nameOf(pairs.at(-1));
  if (path.at(-1) !== pairs.at(-1)) {
    // An item of a list.
    return { key, isId: idLists.has(key) };
  }
  const list = nameOf(pairs.at(-2));
  if (key === 'id') return { key, isId: list === 'needs' || list === 'activities' || list === 'activity' || list.startsWith('on') };
  return { key, isId: (key === 'from' || key === 'to') && list === 'transitions' || key === 'needs' };
}

function isPairLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'key' in value && isScalar((value as { key: unknown }).key) && !isMap(value) && !isSeq(value);
}

function nameOf(pair: { key: Scalar } | undefined): string {
  return pair ? String(pair.key.value) : '';
}

/** The id at the start of a scalar, quoted or not: "old" or "old.port". */
function idEdits(text: string, node: Scalar, names: ReadonlyMap<string, string>): Edit[] {
  const [id = ''] = String(node.value).split('.', 1);
  const next = names.get(id);
  if (next === undefined) return [];
  const from = text.indexOf(id, node.range![0]);
  return from < 0 || from >= node.range![1] ? [] : [{ from, to: from + id.length, insert: next }];
}

/** `activities.old`, `activities?.old` and `activities["old"]` in the source of a scalar. */
function expressionEdits(text: string, from: number, to: number, names: ReadonlyMap<string, string>): Edit[] {
  const pattern = /\bactivities(\??\.|\??\.?\[\s*\\?["'])([a-z][a-z0-9_]*)/g;
  const source = text.slice(from, to);
  const edits: Edit[] = [];
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    const next = names.get(match[2]!);
    const start = from + match.index + match[0].length - match[2]!.length;
    if (next !== undefined) edits.push({ from: start, to: start + match[2]!.length, insert: next });
  }
  return edits;
}

/** A scalar's value after `count` renamings in its text; null when the value does not tell them. */
export function renamedIn(value: string, names: ReadonlyMap<string, string>, count: number): string | null {
  const edits = expressionEdits(value, 0, value.length, names).reverse();
  if (edits.length === count) return applyChange(value, edits);
  const [id = '', ...port] = value.split('.');
  const next = names.get(id);
  return count === 1 && edits.length === 0 && next !== undefined ? [next, ...port].join('.') : null;
}
