// Text edits: the only way a document changes. Pure.

/** Replaces the UTF-16 offsets from…to with `insert`. */
export interface Edit {
  from: number;
  to: number;
  insert: string;
}

/** Edits in sequence: each counts in the text that the ones before it left. */
export type Change = readonly Edit[];

export function applyChange(text: string, change: Change): string {
  return change.reduce((t, e) => t.slice(0, e.from) + e.insert + t.slice(e.to), text);
}

/** The change that takes `change` back, for the text before it. */
export function invertChange(text: string, change: Change): Change {
  const inverse: Edit[] = [];
  for (const e of change) {
    inverse.push({ from: e.from, to: e.from + e.insert.length, insert: text.slice(e.from, e.to) });
    text = applyChange(text, [e]);
  }
  return inverse.reverse();
}

/** Where an offset stands in a text, both from 1; a column is a code point. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: [...before.at(-1)!].length + 1 };
}

/** The one edit that turns a text into another: what lies between their common beginning and end. */
export function changeBetween(before: string, after: string): Change {
  let head = 0;
  while (head < before.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return head === before.length && before.length === after.length ? [] : [{ from: head, to: before.length - tail, insert: after.slice(head, after.length - tail) }];
}
