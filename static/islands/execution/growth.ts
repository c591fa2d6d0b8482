// A timeline that goes on: bars without an end grow, the axis with them.

/** Rescales every growing timeline so that its axis ends at `now` (unix ms, the server's clock). */
export function grow(now: number): void {
  for (const timeline of document.querySelectorAll<HTMLElement>('[data-timeline][data-growing]')) {
    const start = Number(timeline.dataset.start);
    const drawn = Number(timeline.dataset.end) - start;
    const span = Math.max(now - start, drawn);
    for (const bar of timeline.querySelectorAll<SVGRectElement>('rect[data-from]')) place(bar, start, span, now);
    for (const mark of timeline.querySelectorAll<SVGElement>('.tl-axis text')) shift(mark, 'x', drawn / span);
    for (const line of timeline.querySelectorAll<SVGElement>('.tl-grid')) shift(line, 'x1', drawn / span);
  }
}

const leastPercent = 0.4;

function place(bar: SVGRectElement, start: number, span: number, now: number): void {
  const from = Number(bar.dataset.from);
  const to = Number(bar.dataset.to) || now;
  const x = Math.min(((from - start) / span) * 100, 100 - leastPercent);
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
