// A draft is a text under change: each operation is one small splice, computed
// from the syntax tree, so that everything around it stays byte for byte. Paths
// are those of the document; keys written in snake_case are found as well.

import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, type Document, type Node, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { nodeAt, pairOf, parseText, type ParsedText } from '../graph/from-text';
import type { Path } from '../graph/model';
import type { Edit } from './edit';
import { isSorted, keyOrder } from './order';
import { flowPair, flowText, itemText, pairText, scalarText } from './yaml-write';

export class CannotEdit extends Error {}

export type Which = 'workflow' | 'layout';

export class Draft {
  readonly change: Edit[] = [];
  private readonly eol: string;

  /** A text, and its tree if it was parsed before. */
  constructor(private current: string, private tree: ParsedText | null = null) {
    this.eol = current.includes('\r\n') ? '\r\n' : '\n';
  }

  get text(): string {
    return this.current;
  }

  get parsed(): ParsedText {
    return (this.tree ??= parseText(this.current));
  }

  splice(from: number, to: number, insert: string): void {
    const text = this.eol === '\n' ? insert : insert.replace(/\r?\n/g, this.eol);
    if (this.current.slice(from, to) === text) return;
    this.change.push({ from, to, insert: text });
    this.current = this.current.slice(0, from) + text + this.current.slice(to);
    this.tree = null;
  }

  /** Takes over the tree of the text as it is now, where it is known without parsing. */
  adopt(tree: ParsedText | null): void {
    this.tree ??= tree;
  }

  /** The plain value at a path; undefined when there is none. */
  get(path: Path, which: Which = 'workflow'): unknown {
    const doc = this.document(which);
    const node = doc && nodeAt(doc, path);
    return node ? (node.toJS(doc) as unknown) : undefined;
  }

  /** Sets a value, making what is missing on the way; undefined removes it. Only what differs is written. */
  set(path: Path, value: unknown, which: Which = 'workflow'): void {
    if (value === undefined) return this.remove(path, which);
    const parentPath = path.slice(0, -1);
    const key = path.at(-1)!;
    const parent = this.node(parentPath, which);
    if (isAlias(parent)) {
      this.unalias(parentPath, which);
      return this.set(path, value, which);
    }
    if (!isCollection(parent) || parent.items.length === 0) {
      if (path.length <= 1 && !isMap(parent)) throw new CannotEdit('This document is not a mapping');
      return this.replace(parentPath, typeof key === 'number' ? [value] : { [key]: value }, which);
    }
    if (isSeq(parent)) return this.setItem(parent, parentPath, Number(key), value, which);
    if (pairOf(parent as YAMLMap, String(key))) return this.rewrite(path, value, which);
    this.addPair(parent as YAMLMap, parentPath, String(key), value);
  }

  private setItem(list: YAMLSeq, listPath: Path, index: number, value: unknown, which: Which): void {
    if (index < list.items.length) this.rewrite([...listPath, index], value, which);
    else this.insert(listPath, list.items.length, value, which);
  }

  /** Makes the value at an existing path equal to `value` with as few splices as possible. */
  private rewrite(path: Path, value: unknown, which: Which): void {
    const node = this.node(path, which);
    const doc = this.document(which)!;
    const old: unknown = node?.toJS(doc);
    if (same(old, value)) return;
    if (isMap(node) && isPlainMap(value) && node.items.length > 0 && Object.keys(value).length > 0) {
      this.rewriteMap(path, node, old as Record<string, unknown>, value, which);
    } else if (isSeq(node) && Array.isArray(value) && node.items.length > 0 && value.length > 0) {
      this.changeList(path, old as unknown[], value, which);
    } else if (isScalar(node) && node.range && !isContainer(value) && node.range[1] > node.range[0]) {
      this.replaceScalar(node, path, value, which);
    } else this.replace(path, value, which);
  }

  private rewriteMap(path: Path, map: YAMLMap, old: Record<string, unknown>, value: Record<string, unknown>, which: Which): void {
    const gone = Object.keys(old).filter((key) => !(key in value));
    const fresh = Object.keys(value).filter((key) => !(key in old));
    if (gone.length === 1 && fresh.length === 1 && same(old[gone[0]!], value[fresh[0]!])) {
      // Another name for the same value: the entry stays where it is.
      const key = pairOf(map, gone[0]!)!.key as Scalar;
      return this.splice(key.range![0], key.range![1], scalarText(fresh[0], key, '', map.flow ?? false));
    }
    for (const [key, v] of Object.entries(value)) this.set([...path, key], v, which);
    for (const key of gone) this.remove([...path, key], which);
  }

  /** Keeps the common head and tail of a list; what is between is changed, added or removed. */
  private changeList(path: Path, old: unknown[], value: unknown[], which: Which): void {
    let head = 0;
    while (head < old.length && head < value.length && same(old[head], value[head])) head++;
    let tail = 0;
    while (tail < old.length - head && tail < value.length - head && same(old.at(-1 - tail), value.at(-1 - tail))) tail++;
    const common = Math.min(old.length, value.length) - head - tail;
    for (let i = head; i < head + common; i++) this.rewrite([...path, i], value[i], which);
    for (let i = old.length - tail - 1; i >= head + common; i--) this.remove([...path, i], which);
    for (let i = head + common; i < value.length - tail; i++) this.insert(path, i, value[i], which);
  }

  private replaceScalar(node: Scalar, path: Path, value: unknown, which: Which): void {
    const [from] = node.range!;
    const flow = this.inFlow(path, which);
    this.splice(from, this.endOf(node), scalarText(value, node, this.indentOf(path, which), flow));
  }

  /** Writes the whole value at a path anew: for a missing or empty one, or one of another kind. */
  private replace(path: Path, value: unknown, which: Which): void {
    const key = path.at(-1);
    const parent = path.length > 0 ? this.node(path.slice(0, -1), which) : null;
    if (typeof key === 'string' && isMap(parent)) {
      const pair = pairOf(parent, key);
      if (pair) return this.replaceValue(parent, pair, value);
    }
    if (typeof key === 'number' && isSeq(parent) && parent.items[key]) {
      const item = parent.items[key] as Node;
      const text = parent.flow ? flowText(value) : itemText(value, this.pad(parent.range![0])).slice(2);
      return this.splice(item.range![0], this.endOf(item), text);
    }
    if (path.length === 0) throw new CannotEdit('This document has no content to edit');
    this.set(path, value, which);
  }

  private replaceValue(map: YAMLMap, pair: Pair, value: unknown): void {
    const from = (pair.key as Scalar).range![0];
    const name = String((pair.key as Scalar).value);
    const to = this.endOf(pair);
    this.splice(from, to, map.flow ? flowPair(name, value) : pairText(name, value, this.pad(from), name === 'needs'));
  }

  private unalias(path: Path, which: Which): void {
    const doc = this.document(which)!;
    const node = this.node(path, which)!;
    this.replace(path, node.toJS(doc), which);
  }

  private addPair(map: YAMLMap, path: Path, key: string, value: unknown): void {
    const before = this.pairBefore(map, path, key);
    if (map.flow) {
      const text = flowPair(key, value);
      if (before) return this.insertAt(this.endOf(before), `, ${text}`);
      return this.insertAt((map.items[0]!.key as Scalar).range![0], `${text}, `);
    }
    const first = (map.items[0]!.key as Scalar).range![0];
    const indent = this.pad(first);
    const text = pairText(key, value, indent, key === 'needs');
    if (before) this.insertAt(this.lineEnd(this.endOf(before)), `\n${indent}${text}`);
    else this.insertAt(first, `${text}\n${indent}`);
  }

  /** The pair after which a new key goes; null = it goes first. */
  private pairBefore(map: YAMLMap, path: Path, key: string): Pair | null {
    if (isSorted(path)) return map.items.filter((p) => String((p.key as Scalar).value) < key).at(-1) ?? null;
    const order = keyOrder(path);
    const rank = order.indexOf(key);
    if (rank < 0) return map.items.at(-1) ?? null;
    const next = map.items.findIndex((p) => order.indexOf(camel(String((p.key as Scalar).value))) > rank);
    return next < 0 ? map.items.at(-1)! : (map.items[next - 1] ?? null);
  }

  /** Removes a key or an item; a map, list or Layout document that would be left empty goes with it. */
  remove(path: Path, which: Which = 'workflow'): void {
    const parentPath = path.slice(0, -1);
    if (which === 'layout' && path.length === 1 && this.isLastOfLayout(String(path[0])) && this.removeLayout()) return;
    let parent = this.node(parentPath, which);
    if (isAlias(parent)) {
      this.unalias(parentPath, which);
      parent = this.node(parentPath, which);
    }
    const key = path.at(-1)!;
    if (isMap(parent)) {
      const pair = pairOf(parent, String(key));
      if (pair) this.removeEntry(parent, parent.items.indexOf(pair), parentPath, which);
    } else if (isSeq(parent) && Number(key) < parent.items.length) {
      this.removeEntry(parent, Number(key), parentPath, which);
    }
  }

  private isLastOfLayout(key: string): boolean {
    const layout = this.document('layout')?.contents;
    const said = isMap(layout) ? layout.items.map((pair) => camel(String((pair.key as Scalar).value))) : [];
    return said.includes(key) && said.every((name) => name === key || name === 'apiVersion' || name === 'kind');
  }

  /** Takes the Layout document away with the line of dashes before it, unless somebody wrote comments there. */
  private removeLayout(): boolean {
    const root = this.document('layout')!.contents as YAMLMap;
    const end = this.lineEnd(this.endOf(root)) + this.eol.length;
    const dashes = this.current.lastIndexOf('---', root.range![0]);
    const rest = this.current.slice(end);
    const isPlain = dashes > 0 && this.current.slice(dashes + 3, root.range![0]).trim() === '' && (rest.trim() === '' || rest.startsWith('---'));
    if (isPlain) this.splice(dashes, Math.min(end, this.current.length), '');
    return isPlain;
  }

  private removeEntry(parent: YAMLMap | YAMLSeq, index: number, path: Path, which: Which): void {
    if (parent.items.length === 1) {
      if (!isRequired(path, which)) return this.remove(path, which);
      return this.replace(path, isMap(parent) ? {} : [], which);
    }
    if (parent.flow) return this.removeFlow(parent, index);
    const from = this.startOf(parent, index);
    const lineStart = this.lineStart(from);
    if (this.current.slice(lineStart, from).trim() !== '') {
      // The first key beside its dash: the next key takes its place.
      return this.splice(from, this.startOf(parent, index + 1), '');
    }
    const to = this.lineEnd(this.endOf(parent.items[index] as Node | Pair));
    const range = this.withSurroundings(lineStart, Math.min(to + this.eol.length, this.current.length), index === 0);
    this.splice(range.from, range.to, '');
  }

  private removeFlow(parent: YAMLMap | YAMLSeq, index: number): void {
    const items = parent.items as (Node | Pair)[];
    const next = items[index + 1];
    if (next) this.splice(this.startOf(parent, index), this.startOf(parent, index + 1), '');
    else this.splice(this.endOf(items[index - 1]!), this.endOf(items[index]!), '');
  }

  /** Takes the comment right above along, and the blank lines that only set this entry apart. */
  private withSurroundings(from: number, to: number, isFirst: boolean): { from: number; to: number } {
    const indent = /^[ \t]*/.exec(this.current.slice(from))![0];
    let line = this.lineBefore(from);
    while (line && this.current.slice(line.from, line.to).startsWith(`${indent}#`)) {
      from = line.from;
      line = this.lineBefore(from);
    }
    if (isFirst) {
      while (to < this.current.length && /^[ \t]*\r?\n/.test(this.current.slice(to, this.lineEnd(to) + this.eol.length))) to = this.lineEnd(to) + this.eol.length;
    } else {
      while (line && this.current.slice(line.from, line.to).trim() === '') {
        from = line.from;
        line = this.lineBefore(from);
      }
    }
    return { from, to };
  }

  /** Inserts an item before `index`; a missing or empty list is made. */
  insert(listPath: Path, index: number, value: unknown, which: Which = 'workflow'): void {
    let list = this.node(listPath, which);
    if (isAlias(list)) {
      this.unalias(listPath, which);
      list = this.node(listPath, which);
    }
    if (!isSeq(list) || list.items.length === 0) return this.set(listPath, [value], which);
    if (list.flow) {
      const text = flowText(value);
      if (index > 0) this.insertAt(this.endOf(list.items[index - 1] as Node), `, ${text}`);
      else this.insertAt(this.startOf(list, 0), `${text}, `);
    } else this.insertRaw(listPath, index, [itemText(value, this.pad(list.range![0]))], which);
  }

  /** Inserts texts that are items already ("- …", lines after the first indented) into a block list that is not empty. */
  insertRaw(listPath: Path, index: number, items: readonly string[], which: Which = 'workflow'): void {
    if (items.length === 0) return;
    const list = this.node(listPath, which) as YAMLSeq;
    const indent = this.pad(list.range![0]);
    const gap = this.gap(list) ? '\n' : '';
    if (index > 0) {
      this.insertAt(this.lineEnd(this.endOf(list.items[index - 1] as Node)), items.map((item) => `\n${gap}${indent}${item}`).join(''));
    } else this.insertAt(list.range![0], items.map((item) => `${item}\n${gap}${indent}`).join(''));
  }

  /** Whether a blank line stands between items: as the list does already, else between maps of several lines. */
  private gap(list: YAMLSeq): boolean {
    if (list.items.length > 1) {
      const between = this.current.slice(this.endOf(list.items[0] as Node), this.startOf(list, 1));
      return /\n[ \t]*\r?\n/.test(between);
    }
    const only = this.current.slice(list.range![0], this.endOf(list.items[0] as Node));
    return only.split('\n').length > 2;
  }

  /** The indent of the lines of a list's items, for `insertRaw`. */
  listIndent(listPath: Path): string | null {
    const list = this.node(listPath, 'workflow');
    return isSeq(list) && !list.flow && list.items.length > 0 ? this.pad(list.range![0]) : null;
  }

  /** Start and end of the value at a path, without what follows it. */
  rangeOf(path: Path): { from: number; to: number } | null {
    const node = this.node(path, 'workflow');
    return node?.range ? { from: node.range[0], to: this.endOf(node) } : null;
  }

  document(which: Which): Document.Parsed | null {
    return this.parsed[which];
  }

  /** The node itself at a path, an alias not followed at its end. */
  private node(path: Path, which: Which): Node | null {
    const doc = this.document(which);
    if (!doc) throw new CannotEdit(which === 'workflow' ? 'There is no workflow in the text yet' : 'There is no layout in the text yet');
    if (path.length === 0) return doc.contents;
    const parent = nodeAt(doc, path.slice(0, -1));
    const key = path.at(-1)!;
    if (isMap(parent)) return (pairOf(parent, String(key))?.value ?? null) as Node | null;
    if (isSeq(parent)) return (parent.items[Number(key)] ?? null) as Node | null;
    return null;
  }

  private inFlow(path: Path, which: Which): boolean {
    const parent = this.node(path.slice(0, -1), which);
    return isCollection(parent) && (parent.flow ?? false);
  }

  private indentOf(path: Path, which: Which): string {
    const parent = this.node(path.slice(0, -1), which);
    const first = isMap(parent) ? (parent.items[0]!.key as Scalar).range![0] : (parent?.range?.[0] ?? 0);
    return this.pad(first);
  }

  private insertAt(offset: number, text: string): void {
    this.splice(offset, offset, text);
  }

  private startOf(parent: YAMLMap | YAMLSeq, index: number): number {
    const item = parent.items[index];
    if (isPair(item)) return this.withProps((item.key as Scalar).range![0]);
    const start = (item as Node).range![0];
    if (parent.flow) return this.withProps(start);
    return this.current.lastIndexOf('-', this.withProps(start) - 1);
  }

  /** An anchor or tag before a value belongs to it. */
  private withProps(start: number): number {
    const before = /(?:[&!][^\s,[\]{}]*[ \t]+)+$/.exec(this.current.slice(this.lineStart(start), start));
    return before ? start - before[0].length : start;
  }

  /** Where the text of a node ends, comments and line breaks after it not counted. */
  private endOf(node: Node | Pair): number {
    if (isPair(node)) {
      const value = node.value as Node | null;
      const key = (node.key as Scalar).range![1];
      if (value?.range && (value.range[1] > value.range[0] || isCollection(value))) return this.endOf(value);
      const colon = this.current.indexOf(':', key);
      return colon < 0 ? key : colon + 1;
    }
    if (isCollection(node) && !node.flow && node.items.length > 0) return this.endOf(node.items.at(-1) as Node | Pair);
    const [from, to] = node.range!;
    if (isScalar(node) && /^[|>]/.test(this.current.slice(from, from + 1)) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED')) {
      const header = this.current.slice(from, this.lineEnd(from));
      if (header.includes('+')) return Math.max(from, to - (this.current[to - 1] === '\n' ? this.eol.length : 0));
      return from + this.current.slice(from, to).trimEnd().length;
    }
    return to;
  }

  private pad(offset: number): string {
    return ' '.repeat(offset - this.lineStart(offset));
  }

  private lineStart(offset: number): number {
    return this.current.lastIndexOf('\n', offset - 1) + 1;
  }

  /** The offset of the line's end, before its line break. */
  private lineEnd(offset: number): number {
    const end = this.current.indexOf('\n', offset);
    if (end < 0) return this.current.length;
    return this.current[end - 1] === '\r' && end > offset ? end - 1 : end;
  }

  private lineBefore(from: number): { from: number; to: number } | null {
    if (from === 0) return null;
    const to = from - 1;
    return { from: this.lineStart(to), to };
  }
}

function camel(key: string): string {
  return key === 'for_each' ? key : key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isPlainMap(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** What a workflow cannot be without stays, empty; all else goes with its last entry. */
function isRequired(path: Path, which: Which): boolean {
  return path.length === 0 || (which === 'workflow' && ['spec', 'metadata', 'spec.activities'].includes(path.join('.')));
}
