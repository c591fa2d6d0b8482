// A list item that leaves its text: copied, or pasted elsewhere. Pure.

import type { Node } from 'yaml';
import { applyChange, type Edit } from './edit';

/** A list item to be written elsewhere. */
export interface Taken {
  node: Node;
  /** Its text after the dash. */
  text: string;
  /** Where its text ended, what follows it not counted. */
  end: number;
  /** How the text was changed: in order of place, each counting in the old text. */
  edits: readonly Edit[];
}

/** Takes a list item out of a text, changed by edits that are in order of place and do not overlap. */
export function take(text: string, node: Node, end: number, edits: readonly Edit[]): Taken {
  const from = node.range![0];
  const counted = edits.map((e) => ({ ...e, from: e.from - from, to: e.to - from })).reverse();
  return { node, end, edits, text: applyChange(text.slice(from, end), counted) };
}

/** Of edits in order of place, those that lie within a range. */
export function editsWithin(edits: readonly Edit[], [from, to]: readonly [number, number, ...unknown[]]): readonly Edit[] {
  const first = firstAfter(edits, from - 1);
  let behind = first;
  while (behind < edits.length && edits[behind]!.to <= to) behind++;
  return edits.slice(first, behind);
}

/** The index of the first edit that begins behind an offset. */
export function firstAfter(edits: readonly Edit[], offset: number): number {
  let [low, high] = [0, edits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edits[middle]!.from <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
