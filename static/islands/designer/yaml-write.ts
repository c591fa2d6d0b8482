// Values as YAML text in the house style: two spaces, short lists of plain values
// in flow style, block scalars for several lines, quotes only where needed. Pure.

import { Document, isCollection, isMap, isScalar, isSeq, Scalar, visit, type Node } from 'yaml';

const lineWidth = 100;
const options = { lineWidth: 0, indent: 2, flowCollectionPadding: false, doubleQuotedMinMultiLineLength: 1e9 } as const;

/** Maps that read better on one line when they hold plain values only. */
const flowKeys = new Set(['retry', 'cases', 'candidates', 'timer', 'labels', 'auth', 'to', 'fail']);

/** `key: value`; lines after the first begin with `indent`. No newline at the end. */
export function pairText(key: string, value: unknown, indent: string, flow = false): string {
  if (flow) return flowPair(key, value);
  return indented(print({ [key]: value }, false).trimEnd(), indent);
}

/** `- value`; lines after the first begin with `indent`. */
export function itemText(value: unknown, indent: string): string {
  return indented(print([value], false).trimEnd(), indent);
}

/** A value inside a flow collection, on one line. */
export function flowText(value: unknown): string {
  return print([value], true).trim().slice(1, -1);
}

/** `key: value` inside a flow map. */
export function flowPair(key: string, value: unknown): string {
  return print({ [key]: value }, true).trim().slice(1, -1);
}

/** A scalar in place of another; keeps its quotes if it was text and stays text. */
export function scalarText(value: unknown, old: Scalar, indent: string, inFlow: boolean): string {
  if (inFlow) return flowScalar(value, old);
  const doc = new Document({ k: value }, { version: '1.2' });
  const scalar = (doc.contents as unknown as { items: { value: Scalar }[] }).items[0]!.value;
  if (keepsQuotes(value, old)) scalar.type = old.type!;
  const text = doc.toString(options).trimEnd();
  return indented(text.slice(text.indexOf(':') + 1).replace(/^ /, ''), indent);
}

function flowScalar(value: unknown, old: Scalar): string {
  const doc = new Document([value], { version: '1.2' });
  const list = doc.contents as unknown as { flow: boolean; items: Scalar[] };
  list.flow = true;
  if (isLines(value)) list.items[0]!.type = Scalar.QUOTE_DOUBLE;
  else if (keepsQuotes(value, old)) list.items[0]!.type = old.type!;
  return doc.toString(options).trim().slice(1, -1);
}

/** Text of several lines; inside a flow collection it has to be one quoted line. */
function isLines(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\n');
}

function keepsQuotes(value: unknown, old: Scalar): boolean {
  if (typeof value !== 'string' || typeof old.value !== 'string' || isLines(value)) return false;
  return old.type === Scalar.QUOTE_DOUBLE || old.type === Scalar.QUOTE_SINGLE;
}

function print(value: unknown, flow: boolean): string {
  const doc = new Document(value, { version: '1.2' });
  if (flow && isCollection(doc.contents)) doc.contents.flow = true;
  visit(doc, {
    Scalar: (_, node) => void (flow && isLines(node.value) && (node.type = Scalar.QUOTE_DOUBLE)),
    Map: (key, node, path) => {
      const holder = isSeq(path.at(-1)) ? keyName(path.at(-2)) : key === 'value' ? keyName(path.at(-1)) : '';
      const isProperty = key === 'value' && keyName(path.at(-3)) === 'properties';
      node.flow ||= (flowKeys.has(holder) || isProperty) && isShort(node);
    },
    Seq: (_, node, path) => void (node.flow ||= path.length > 1 && isShort(node)),
  });
  // A list or map inside a flow collection is written in flow style by the printer itself.
  return doc.toString(options);
}

function keyName(pair: unknown): string {
  const key = (pair as { key?: unknown } | undefined)?.key;
  return isScalar(key) ? String(key.value) : '';
}

/** Plain values only, and few enough for one line. */
function isShort(node: Node): boolean {
  const values = isSeq(node) ? node.items : isMap(node) ? node.items.flatMap((p) => [p.key, p.value]) : [];
  const plain = values.every((v) => isScalar(v) || (isSeq(v) && v.items.every(isScalar)) || v === null);
  const length = JSON.stringify(node.toJSON()).length;
  return plain && length < lineWidth - 20 && !JSON.stringify(node.toJSON()).includes('\\n');
}

/** Adds the indent to every line after the first; empty lines stay empty. */
function indented(text: string, indent: string): string {
  return text.replace(/\n(?=[^\n])/g, `\n${indent}`);
}
