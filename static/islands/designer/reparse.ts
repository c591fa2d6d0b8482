// Reading a text again after a small change: when the change lies within one activity
// of a long list, only that activity is parsed, and what stands behind it moves along.
// Whatever is not surely that simple is parsed as a whole. Pure.

import { isMap, isSeq, parseDocument, visit, type Document, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { nodeAt, parseText, type ParsedText } from '../graph/from-text';
import { changeBetween } from './edit';

/** The tree of `text`, given the tree of the text before, which must not be used any more. */
export function reparse(before: ParsedText, text: string): ParsedText {
  return withinActivity(before, text) ?? parseText(text);
}

function withinActivity(before: ParsedText, text: string): ParsedText | null {
  const [edit] = changeBetween(before.text, text);
  const doc = before.workflow;
  if (!edit) return before;
  if (!doc || before.errors.length > 0) return null;
  const list = nodeAt(doc, ['spec', 'activities']);
  if (!isSeq(list) || list.flow || list.items.length < 2) return null;
  const index = indexAt(list, edit.from);
  const item = list.items[index] as Node | undefined;
  const next = list.items[index + 1] as Node | undefined;
  if (!isMap(item) || item.flow || !next || !item.range || edit.from <= item.range[0] || edit.to >= item.range[1]) return null;
  const delta = text.length - before.text.length;
  const [start, end] = [item.range[0], item.range[2]];
  const head = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const fresh = parseItem(before.text.slice(start, end), text.slice(start, end + delta), head, before.text.slice(end, next.range![0]), start);
  if (!fresh) return null;
  for (const after of list.items.slice(index + 1)) shift(after as Node, delta);
  shiftBehind(doc, list, end, delta);
  if (before.layout) shift(before.layout, delta);
  list.items[index] = fresh;
  return { text, workflow: doc, layout: before.layout, errors: [] };
}

/** The item that holds an offset: they stand in order. */
function indexAt(list: YAMLSeq, offset: number): number {
  let [low, high] = [0, list.items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list.items[middle] as Node).range![0] <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Anchors, aliases and document marks reach beyond the item. */
const reaching = /(^|[\s[{,:-])[&*][^\s]|^(---|\.\.\.)/m;

/** Reads an item between its dash, the head, and the next one, at the end of the tail: what follows says where it ends. */
function parseItem(old: string, source: string, head: string, tail: string, start: number): YAMLMap | null {
  if (!/^ *- +$/.test(head) || reaching.test(old) || reaching.test(source)) return null;
  const parsed = parseDocument(`${head}${source}${tail}x`, { version: '1.2', prettyErrors: false, logLevel: 'silent' });
  if (parsed.errors.length > 0 || parsed.warnings.length > 0 || parsed.comment || !isSeq(parsed.contents)) return null;
  const [item, next, ...more] = parsed.contents.items as unknown as Node[];
  const column = head.length;
  const whole = isMap(item) && !item.flow && item.range![0] === column && item.range![2] === column + source.length;
  if (!whole || more.length > 0 || next?.range?.[0] !== column + source.length + tail.length) return null;
  shift(item, start - column);
  return item as unknown as YAMLMap;
}

/** Moves a node and all in it. */
function shift(node: Node | Document, delta: number): void {
  if (delta === 0) return;
  visit(node as Node, { Node: (_, n) => move(n, delta) });
  if ('contents' in node && node.range) node.range = moved(node.range, delta);
}

/** What holds the list grows at its end; what stands behind it moves. */
export function shiftBehind(doc: Document.Parsed, list: YAMLSeq | null, end: number, delta: number): void {
  if (delta === 0) return;
  const shifted = (offset: number) => (offset >= end ? offset + delta : offset);
  const all = ([from, to, next]: readonly [number, number, number]): [number, number, number] => [shifted(from), shifted(to), shifted(next)];
  visit(doc, {
    Node: (_, node) => {
      if (node === list) {
        node.range = [node.range![0], node.range![1] + delta, node.range![2] + delta];
        return visit.SKIP;
      }
      if (node.range) node.range = all(node.range);
      return undefined;
    },
  });
  if (doc.range) doc.range = [shifted(doc.range[0]), doc.range[1] + delta, doc.range[2] + delta];
}

function move(node: Node, delta: number): void {
  if (node.range) node.range = moved(node.range, delta);
}

function moved(range: readonly [number, number, number], delta: number): [number, number, number] {
  return [range[0] + delta, range[1] + delta, range[2] + delta];
}
