// Activities of one text become part of another together with their syntax tree, so that
// a long paste is parsed once. Whatever is not surely that simple is parsed as a whole. Pure.

import { isCollection, isPair, isScalar, isSeq, visit, type Node, type Scalar } from 'yaml';
import { nodeAt, type ParsedText } from '../graph/from-text';
import { applyChange, type Edit } from './edit';
import { renamedIn } from './references';
import { shiftBehind } from './reparse';
import { editsWithin, firstAfter, type Taken } from './taken';

const list = ['spec', 'activities'];

/**
 * The tree of a text after `edit`, which wrote items as `- …` at the end of its list of
 * activities. The trees given must not be used any more, unless the answer is null: then
 * the text has to be parsed.
 */
export function graft(before: ParsedText, edit: Edit, items: readonly Taken[], names: ReadonlyMap<string, string>): ParsedText | null {
  const doc = before.workflow;
  const into = doc && nodeAt(doc, list);
  const last = isSeq(into) && (into.items.at(-1) as Node | undefined);
  if (!doc || !isSeq(into) || into.flow || !last || items.length === 0 || before.errors.length > 0) return null;
  const end = edit.from + 1; // the insertion is the end of the last item's line
  const whole = [into.range![1], into.range![2], last.range![2]].every((offset) => offset === end) && before.text[edit.from] === '\n';
  if (!whole || before.text.includes('\r') || [last, ...items.map((i) => i.node)].some(isOpen)) return null;
  const values = items.map((item) => newValues(item, names));
  if (values.includes(null)) return null;
  shiftBehind(doc, into, end, edit.insert.length);
  if (before.layout) shiftBehind(before.layout, null, end, edit.insert.length);
  const lead = (edit.insert.length - items.reduce((sum, item) => sum + item.text.length, 0)) / items.length; // line break, indent and dash
  let start = edit.from;
  for (const [i, item] of items.entries()) {
    for (const [scalar, value] of values[i]!) Object.assign(scalar, { value, source: value });
    place(item, start + lead);
    into.items.push(item.node as never);
    start += lead + item.text.length;
  }
  return { text: applyChange(before.text, [edit]), workflow: doc, layout: before.layout, errors: [] };
}

/** The values of the scalars that hold a renamed id; null when they cannot be told from here, or the item needs an anchor. */
function newValues(item: Taken, names: ReadonlyMap<string, string>): Map<Scalar, string> | null {
  const values = new Map<Scalar, string>();
  let known = true;
  visit(item.node, {
    Alias: () => void (known = false),
    Scalar(_, scalar) {
      const renames = editsWithin(item.edits, scalar.range!).filter((e) => e.insert.trim() !== ''); // the others are indents
      if (renames.length === 0) return;
      const value = typeof scalar.value === 'string' ? renamedIn(scalar.value, names, renames.length) : null;
      if (value === null) known = false;
      else values.set(scalar, value);
    },
  });
  return known ? values : null;
}

/** Moves an item's nodes to where its text stands now; what reached behind it ends with its line. */
function place(item: Taken, start: number): void {
  const from = item.node.range![0];
  const grown = [0];
  for (const e of item.edits) grown.push(grown.at(-1)! + e.insert.length - (e.to - e.from));
  const at = (offset: number): number => {
    if (offset > item.end) return start + item.text.length + 1;
    return start + offset - from + grown[firstAfter(item.edits, offset - 1)]!;
  };
  visit(item.node, {
    Node: (_, node) => {
      if (node.range) node.range = [at(node.range[0]), at(node.range[1]), at(node.range[2])];
    },
  });
}

function lastLeaf(node: unknown): unknown {
  if (isPair(node)) return lastLeaf(node.value);
  if (isCollection(node) && !(node.flow ?? false) && node.items.length > 0) return lastLeaf(node.items.at(-1));
  return node;
}

/** Whether what stands around an item decides what it is: a block scalar takes blank lines along, a missing value stands behind its line, an anchor before it. */
function isOpen(node: Node): boolean {
  if (!isCollection(node) || node.anchor || node.tag) return true;
  const leaf = lastLeaf(node);
  if (!isScalar(leaf)) return !isCollection(leaf);
  return leaf.type === 'BLOCK_LITERAL' || leaf.type === 'BLOCK_FOLDED' || leaf.range![0] === leaf.range![1];
}
