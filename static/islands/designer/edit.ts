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
