// Where a workflow text holds expressions, and what they read. Pure.

import { isMap, isScalar, visit, type Document, type Scalar } from 'yaml';

/** What an expression reads: `activities.load?.outputs.total` is the root activities and three members. */
export interface Reading {
  root: string;
  members: readonly { name: string; optional: boolean; to: number }[];
  /** UTF-16 offsets in the text, of all of it. */
  from: number;
  to: number;
}

/** Keys whose text is an expression by itself. */
const bareKeys = new Set(['when', 'until', 'items', 'key', 'correlation', 'where', 'at', 'after', 'maxConcurrent', 'dedupeKey', 'concurrencyKey']);
/** Maps whose values are expressions. */
const bareMaps = new Set(['outputs', 'output', 'collect']);
/** Fields that hold another language. */
const literalKeys = new Set(['source']);

const roots = /(?<![.\w"'])(inputs|vars|activities|execution|trigger|error)\b((?:\s*\??\.\s*[A-Za-z_]\w*)*)/g;

/** Everything that the expressions of a document read from around them. */
export function readings(text: string, doc: Document.Parsed): Reading[] {
  const found: Reading[] = [];
  visit(doc, {
    Scalar(role, node, path) {
      if (role === 'key' || typeof node.value !== 'string' || !node.range) return;
      const keys = (path as readonly unknown[]).filter(isPairLike).map((p) => camel(String(p.key.value)));
      if (literalKeys.has(keys.at(-1) ?? '')) return;
      for (const [from, to] of sources(text, node, keys)) found.push(...readingsIn(text, from, to));
    },
  });
  return found;
}

/** The parts of a scalar that are expressions. */
function sources(text: string, node: Scalar, keys: readonly string[]): [number, number][] {
  const [from, to] = node.range!;
  const source = text.slice(from, to);
  if (source.includes('${{')) return [...source.matchAll(/(?<!\$)\$\{\{([\s\S]*?)\}\}/g)].map((m) => [from + m.index + 3, from + m.index + 3 + m[1]!.length]);
  const bare = bareKeys.has(keys.at(-1) ?? '') || keys.some((key) => bareMaps.has(key));
  if (!bare) return [];
  return /^["']/.test(source) ? [[from + 1, to - 1]] : [[from, to]];
}

function readingsIn(text: string, from: number, to: number): Reading[] {
  const source = text.slice(from, to).replace(/\\?"(?:[^"\\]|\\(?!"))*\\?"|'[^']*'/g, (literal) => literal[0]! + ' '.repeat(literal.length - 2) + literal.at(-1)!);
  return [...source.matchAll(roots)].map((match) => {
    const start = from + match.index;
    const afterRoot = start + match[1]!.length;
    const members = [...match[2]!.matchAll(/(\??)\.\s*([A-Za-z_]\w*)/g)].map((m) => ({ name: m[2]!, optional: m[1] === '?', to: afterRoot + m.index + m[0].length }));
    return { root: match[1]!, members, from: start, to: start + match[0].length };
  });
}

function isPairLike(value: unknown): value is { key: Scalar } {
  return typeof value === 'object' && value !== null && 'key' in value && isScalar(value.key) && !isMap(value);
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
}
