// Lining up several nodes. Pure: boxes in, new top left corners out.

import type { Box } from '../graph/layout';

export type Arrangement = 'left' | 'centre' | 'right' | 'top' | 'middle' | 'bottom' | 'across' | 'down';

/** Where each box goes; fewer than two (three to distribute) stay where they are. */
export function arrange(boxes: ReadonlyMap<string, Box>, how: Arrangement): Map<string, readonly [number, number]> {
  const all = [...boxes];
  if (how === 'across' || how === 'down') return distribute(all, how === 'across' ? 'x' : 'y');
  if (all.length < 2) return new Map();
  const low = (axis: 'x' | 'y') => Math.min(...all.map(([, b]) => b[axis]));
  const high = (axis: 'x' | 'y', size: 'w' | 'h') => Math.max(...all.map(([, b]) => b[axis] + b[size]));
  const to: Record<typeof how, (b: Box) => readonly [number, number]> = {
    left: (b) => [low('x'), b.y],
    centre: (b) => [(low('x') + high('x', 'w') - b.w) / 2, b.y],
    right: (b) => [high('x', 'w') - b.w, b.y],
    top: (b) => [b.x, low('y')],
    middle: (b) => [b.x, (low('y') + high('y', 'h') - b.h) / 2],
    bottom: (b) => [b.x, high('y', 'h') - b.h],
  };
  return new Map(all.map(([key, box]) => [key, to[how](box)]));
}

/** The same gap between each two; the outer ones stay. */
function distribute(all: [string, Box][], axis: 'x' | 'y'): Map<string, readonly [number, number]> {
  if (all.length < 3) return new Map();
  const size = axis === 'x' ? 'w' : 'h';
  const sorted = all.sort(([, a], [, b]) => a[axis] - b[axis]);
  const first = sorted[0]![1];
  const last = sorted.at(-1)![1];
  const room = last[axis] + last[size] - first[axis] - sorted.reduce((sum, [, b]) => sum + b[size], 0);
  let at = first[axis];
  return new Map(sorted.map(([key, box]) => {
    const place = axis === 'x' ? ([at, box.y] as const) : ([box.x, at] as const);
    at += box[size] + room / (sorted.length - 1);
    return [key, place];
  }));
}
