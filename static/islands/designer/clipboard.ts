// Copying as plain YAML text: what is copied here can be pasted into another workflow, a chat or a file, and back. Pure.

import { nodeAt } from '../graph/from-text';
import type { Path } from '../graph/model';
import { graphOf } from './commands';
import type { Draft } from './draft';
import type { Edit } from './edit';
import { editsWithin, take, type Taken } from './taken';

/** The activities as a YAML list without indent, exactly as they are written. */
export function copyText(draft: Draft, keys: readonly string[]): string {
  const graph = graphOf(draft);
  const chosen = graph.nodes.filter((n) => keys.includes(n.key) && n.id !== null && !(n.parent !== null && keys.includes(n.parent)));
  return chosen.map((n) => `- ${itemOf(draft, n.path, '').text}\n`).join('').replace(/\r\n/g, '\n');
}

/** A list item with edits of its text; its lines are moved so that the dash may stand behind `indent`. */
export function itemOf(source: Draft, path: Path, indent: string, edits: readonly Edit[] = []): Taken {
  const { from, to } = source.rangeOf(path)!;
  const column = from - (source.text.lastIndexOf('\n', from - 1) + 1);
  const extra = Math.max(0, column - 2);
  const all = [...editsWithin(edits, [from, to])];
  for (const line of source.text.slice(from, to).matchAll(/\n( *)([^\r\n]?)/g)) {
    const start = from + line.index + 1;
    const surplus = Math.min(extra, line[1]!.length);
    const empty = line[1]!.length === surplus && line[2] === '';
    all.push({ from: start, to: start + surplus, insert: empty ? '' : indent });
  }
  return take(source.text, nodeAt(source.parsed.workflow!, path)!, to, all.sort((a, b) => a.from - b.from));
}
