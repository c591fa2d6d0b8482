// Two changes of one text, put together by lines (a three-way merge): what lies
// apart is kept from both sides, what touches the same lines is a clash. Pure.

/** Lines that both sides changed, each in its own way; null = that side took them away. */
export interface Clash {
  base: string | null;
  mine: string | null;
  theirs: string | null;
}

/** Parts of the merged text in order. */
export interface Merged {
  parts: (string | Clash)[];
  clashes: Clash[];
}

/** Puts both sides' changes together. */
export function merge(base: string, mine: string, theirs: string): Merged {
  const lines = base.split('\n');
  const sides = [hunks(lines, mine.split('\n')), hunks(lines, theirs.split('\n'))] as const;
  const parts: (string | Clash)[] = [];
  const keep = (kept: readonly string[]) => kept.length > 0 && parts.push(kept.join('\n'));
  let done = 0;
  for (const { from, to } of regions(sides)) {
    keep(lines.slice(done, from));
    const [m, t] = sides.map((side) => within(lines, side, from, to)) as [string[], string[]];
    const b = lines.slice(from, to);
    if (same(m, t) || same(t, b)) keep(m);
    else if (same(m, b)) keep(t);
    else {
      const both = from === to ? together(t, m) : null;
      if (both) keep(both);
      else parts.push({ base: joined(b), mine: joined(m), theirs: joined(t) });
    }
    done = to;
  }
  keep(lines.slice(done));
  return { parts, clashes: parts.filter((p) => typeof p !== 'string') };
}

/** The text with each clash decided; as many decisions as clashes. */
export function decide(merged: Merged, decisions: readonly ('mine' | 'theirs')[]): string {
  let next = 0;
  return merged.parts.map((p) => (typeof p === 'string' ? p : p[decisions[next++] ?? 'mine'])).filter((p) => p !== null).join('\n');
}

/** The text with both sides' changes, or null when they touch the same lines. */
export function mergeLines(base: string, mine: string, theirs: string): string | null {
  const merged = merge(base, mine, theirs);
  return merged.clashes.length === 0 ? decide(merged, []) : null;
}

/**
 * What both sides added at one place: theirs first, since they were saved first. A key that both made is made
 * once, with what both put below it; null where they gave it different values.
 */
function together(theirs: readonly string[], mine: readonly string[]): string[] | null {
  const [t, m] = [depth(theirs), depth(mine)];
  // What stands deeper goes on with what is before it.
  if (t !== m) return m > t ? [...mine, ...theirs] : [...theirs, ...mine];
  const found = entries(theirs, t);
  for (const entry of entries(mine, m)) {
    const twin = found.find((other) => entry.key !== null && other.key === entry.key);
    if (!twin) found.push(entry);
    else if (!same(twin.lines, entry.lines)) {
      const [head, ...below] = twin.lines as [string, ...string[]];
      const opens = /:\s*$/.test(head) && head === entry.lines[0];
      const both = opens ? together(below, entry.lines.slice(1)) : null;
      if (!both) return null;
      twin.lines = [head, ...both];
    }
  }
  return found.flatMap((entry) => entry.lines);
}

interface Entry {
  /** Of a map; null for anything else. */
  key: string | null;
  lines: string[];
}

/** Lines with what stands below them. */
function entries(lines: readonly string[], indent: number): Entry[] {
  const found: Entry[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last && (line.trim() === '' || depth([line]) > indent)) last.lines.push(line);
    else found.push({ key: /^\s*([\w-]+):(\s|$)/.exec(line)?.[1] ?? null, lines: [line] });
  }
  return found;
}

/** The least indent of lines that are not blank. */
function depth(lines: readonly string[]): number {
  return Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
}

interface Hunk {
  /** Lines of the base that are replaced: from…to. */
  from: number;
  to: number;
  lines: string[];
}

/** Ranges of the base that a side changed; those of both sides that overlap are one. */
function regions(sides: readonly [Hunk[], Hunk[]]): { from: number; to: number }[] {
  const all = [...sides[0], ...sides[1]].sort((a, b) => a.from - b.from || a.to - b.to);
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of all) {
    const last = found.at(-1);
    if (last && (from < last.to || (from === last.from && to === last.to))) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/** A side's lines in place of the base's from…to; lines added at the rim of a range are a range of their own. */
function within(base: string[], side: readonly Hunk[], from: number, to: number): string[] {
  const out: string[] = [];
  let at = from;
  for (const hunk of side) {
    const adds = hunk.from === hunk.to;
    const inside = from === to || adds ? adds && (from === to ? hunk.from === from : hunk.from > from && hunk.from < to) : hunk.from >= from && hunk.to <= to;
    if (!inside) continue;
    out.push(...base.slice(at, hunk.from), ...hunk.lines);
    at = hunk.to;
  }
  return [...out, ...base.slice(at, to)];
}

/** How one text became another: runs of replaced lines. */
function hunks(a: string[], b: string[]): Hunk[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [endA, endB] = [a.length - tail, b.length - tail];
  const kept = keptLines(a.slice(head, endA), b.slice(head, endB)).map(([i, j]) => [i + head, j + head] as const);
  const found: Hunk[] = [];
  let [fromA, fromB] = [head, head];
  for (const [i, j] of [...kept, [endA, endB] as const]) {
    if (i > fromA || j > fromB) found.push({ from: fromA, to: i, lines: b.slice(fromB, j) });
    [fromA, fromB] = [i + 1, j + 1];
  }
  return found;
}

/** More differences than this are shown as one. */
const mostSteps = 1500;

/** Pairs of lines that both texts have, in order: Myers' greedy search, which costs length times differences. */
function keptLines(a: string[], b: string[]): [number, number][] {
  const reach = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let d = 0; d <= Math.min(a.length + b.length, mostSteps); d++) {
    trail.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1)! : reach.get(k - 1)! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a.length, b.length);
    }
  }
  return [];
}

function walkBack(trail: readonly Map<number, number>[], x: number, y: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let d = trail.length - 1; d >= 0; d--) {
    const reach = trail[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const [px, py] = [reach.get(before)!, reach.get(before)! - before];
    while (x > px && y > py && x > 0 && y > 0) pairs.push([--x, --y]);
    if (d > 0) [x, y] = [px, py];
  }
  return pairs.reverse();
}

function joined(lines: readonly string[]): string | null {
  return lines.length === 0 ? null : lines.join('\n');
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}
