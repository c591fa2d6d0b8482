// Two changes of one text: both kept when they lie apart. Pure, by lines.

/** The text with both sides' changes, or null when they touch the same lines. */
export function mergeLines(base: string, mine: string, theirs: string): string | null {
  if (mine === theirs || theirs === base) return mine;
  if (mine === base) return theirs;
  const lines = base.split('\n');
  const m = hunk(lines, mine.split('\n'));
  const t = hunk(lines, theirs.split('\n'));
  const [first, second] = m.from <= t.from ? [m, t] : [t, m];
  if (first.to >= second.from) return null;
  return [...lines.slice(0, first.from), ...first.lines, ...lines.slice(first.to, second.from), ...second.lines, ...lines.slice(second.to)].join('\n');
}

interface Hunk {
  /** Lines of the base that are replaced: from…to. */
  from: number;
  to: number;
  lines: string[];
}

/** All changes of a side as one hunk. */
function hunk(base: string[], side: string[]): Hunk {
  let head = 0;
  while (head < base.length && head < side.length && base[head] === side[head]) head++;
  let tail = 0;
  while (tail < base.length - head && tail < side.length - head && base[base.length - 1 - tail] === side[side.length - 1 - tail]) tail++;
  return { from: head, to: base.length - tail, lines: side.slice(head, side.length - tail) };
}
