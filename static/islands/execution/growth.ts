// A timeline that goes on: bars without an end grow, the axis with them.

import { duration } from '../app/times';

/** How far the axis may grow before its ticks are too few or too close: then the server draws it anew. */
const worthRedrawing = 1.3;

/**
 * Rescales every growing timeline so that its axis ends at `now` (unix ms, the server's clock).
 * Answers whether one has outgrown its ticks.
 */
export function grow(now: number): boolean {
  let outgrown = false;
  for (const timeline of document.querySelectorAll<HTMLElement>('[data-timeline][data-growing]')) {
    const at = placesOf(Number(timeline.dataset.start), timeline.dataset.gaps ?? '');
    const drawn = at(Number(timeline.dataset.end));
    const span = Math.max(at(now), drawn);
    for (const bar of timeline.querySelectorAll<SVGRectElement>('rect[data-from]')) place(bar, at, span, now);
    for (const mark of timeline.querySelectorAll<SVGElement>('.tl-axis text')) shift(mark, 'x', drawn / span);
    for (const line of timeline.querySelectorAll<SVGElement>('.tl-grid')) shift(line, 'x1', drawn / span);
    for (const words of timeline.querySelectorAll<HTMLElement>('[data-since]')) {
      words.textContent = `${words.dataset.prefix ?? ''}${duration(now - Number(words.dataset.since))}`;
    }
    if (span > drawn * worthRedrawing + 300) outgrown = true;
  }
  return outgrown;
}

/**
 * Where an instant is drawn, in ms from the start of the axis: breaks, written "from-to-drawn" in ms, are as long as
 * they are drawn. The server draws by the same rule.
 */
export function placesOf(start: number, gaps: string): (ms: number) => number {
  const breaks = gaps.split(' ').filter(Boolean).map((gap) => gap.split('-').map(Number) as [number, number, number]);
  return (ms) => breaks.reduce((place, [from, to, drawn]) => place - Math.max(0, Math.min(ms, to) - from) * (1 - drawn / (to - from)), ms - start);
}

const leastPercent = 0.4;

function place(bar: SVGRectElement, at: (ms: number) => number, span: number, now: number): void {
  const from = at(Number(bar.dataset.from));
  const to = at(Number(bar.dataset.to) || now);
  const x = Math.min((from / span) * 100, 100 - leastPercent);
  const width = Math.min(Math.max(((to - from) / span) * 100, leastPercent), 100 - x);
  bar.setAttribute('x', `${x.toFixed(2)}%`);
  bar.setAttribute('width', `${width.toFixed(2)}%`);
}

/** Moves a tick from where it was drawn first to its place on the longer axis. */
function shift(mark: SVGElement, name: 'x' | 'x1', factor: number): void {
  mark.dataset.drawn ??= mark.getAttribute(name) ?? '0';
  const at = `${(parseFloat(mark.dataset.drawn) * factor).toFixed(2)}%`;
  mark.setAttribute(name, at);
  if (name === 'x1') mark.setAttribute('x2', at);
}
