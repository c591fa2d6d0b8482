// The curve of an edge through its points. Pure.

import type { Box, Point } from './layout';

/** An SVG path that leaves and enters every point horizontally. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let at = first;
  let path = `M${at.x} ${at.y}`;
  for (const next of rest) {
    path += segment(at, next);
    at = next;
  }
  return path;
}

function segment(a: Point, b: Point): string {
  if (a.y === b.y && b.x > a.x) return `H${b.x}`;
  const reach = handle(a, b);
  return `C${a.x + reach} ${a.y} ${b.x - reach} ${b.y} ${b.x} ${b.y}`;
}

/** Length of the control arms; a backward edge swings out further. */
function handle(a: Point, b: Point): number {
  const dx = b.x - a.x;
  return dx >= 0 ? Math.max(24, dx / 2) : Math.min(220, 60 - dx / 2);
}

/** The point halfway along, where an edge's tools stand. */
export function middleOf(points: readonly Point[]): Point {
  const half = Math.floor((points.length - 1) / 2);
  const a = points[half];
  const b = points[half + 1] ?? a;
  return a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : { x: 0, y: 0 };
}

export function boxOf(points: readonly Point[]): Box {
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x || 1, h: Math.max(...ys) - y || 1 };
}

/** Distance from a point to the straight line through an edge's points; near enough to drop onto it. */
export function distanceTo(points: readonly Point[], p: Point): number {
  let nearest = Infinity;
  for (let i = 0; i + 1 < points.length; i++) nearest = Math.min(nearest, toSegment(points[i]!, points[i + 1]!, p));
  return nearest;
}

function toSegment(a: Point, b: Point, p: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / length));
  return Math.hypot(a.x + t * dx - p.x, a.y + t * dy - p.y);
}
