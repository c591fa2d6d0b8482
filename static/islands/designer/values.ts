// A YAML value as the text of one form field, and back. Pure.

import { parseDocument, stringify } from 'yaml';
import { isRecord } from '../graph/model';
import { flowText } from './yaml-write';

/** One line; text that would read as something else is quoted. */
export function lineOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return isPlain(value) ? value : JSON.stringify(value);
  return flowText(value);
}

/** A bare expression is always text, also when it looks like a number. */
export function expressionOf(value: unknown): string {
  return typeof value === 'string' ? value : lineOf(value);
}

/** The value of one line; text that is not YAML is text. */
export function valueOf(line: string): unknown {
  const doc = parseDocument(line, { version: '1.2', logLevel: 'silent' });
  const first = line.trim()[0] ?? '';
  if (doc.errors.length > 0 || (isRecord(doc.toJS()) && first !== '{')) return line;
  const value: unknown = doc.toJS();
  return typeof value === 'string' && first !== '"' && first !== "'" ? line : value;
}

function isPlain(text: string): boolean {
  return !text.includes('\n') && valueOf(text) === text;
}

/** A value as a YAML block for a text area. */
export function blockOf(value: unknown): string {
  return value === undefined ? '' : stringify(value, { lineWidth: 0 }).trimEnd();
}

/** The value of a block, undefined for an empty one; throws with the first line of what is wrong. */
export function valueOfBlock(block: string): unknown {
  if (block.trim() === '') return undefined;
  const doc = parseDocument(block, { version: '1.2', logLevel: 'silent' });
  if (doc.errors.length > 0) throw new Error(doc.errors[0]!.message.split('\n', 1)[0]);
  return doc.toJS() as unknown;
}

export function namesOf(line: string): string[] {
  return line.split(',').map((n) => n.trim()).filter(Boolean);
}
