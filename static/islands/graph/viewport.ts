// Where the reader looks: pan and zoom of one world element. Knows no nodes.

import type { Box, Point } from './layout';

const minZoom = 0.08;
const maxZoom = 2;
/** Below this zoom, text cannot be read and is not drawn. */
export const detailZoom = 0.35;

export class Viewport {
  x = 0;
  y = 0;
  zoom = 1;
  /** True until a person pans or zooms away from the last fit. */
  fitted = false;
  private measured = { w: 0, h: 0 };
  /** Pixels at the lower edge that buttons lie over: what is fitted stays clear of them. */
  foot = 0;

  constructor(
    private readonly stage: HTMLElement,
    private readonly world: HTMLElement,
    private readonly changed: () => void,
  ) {}

  /** Of the stage, as last measured: measuring on each move would make the browser lay out in between. */
  get size(): { w: number; h: number } {
    if (this.measured.w === 0) this.measure();
    return this.measured;
  }

  measure(): void {
    this.measured = { w: this.stage.clientWidth, h: this.stage.clientHeight };
  }

  /** The part of the world that is seen, in world coordinates. */
  get seen(): Box {
    const { w, h } = this.size;
    return { x: -this.x / this.zoom, y: -this.y / this.zoom, w: w / this.zoom, h: h / this.zoom };
  }

  toWorld(clientX: number, clientY: number): Point {
    const rect = this.stage.getBoundingClientRect();
    return { x: (clientX - rect.left - this.x) / this.zoom, y: (clientY - rect.top - this.y) / this.zoom };
  }

  toClient(point: Point): Point {
    const rect = this.stage.getBoundingClientRect();
    return { x: rect.left + this.x + point.x * this.zoom, y: rect.top + this.y + point.y * this.zoom };
  }

  panBy(dx: number, dy: number): void {
    this.set(this.x + dx, this.y + dy, this.zoom);
  }

  /** Zooms so that the world point under the client point stays there. */
  zoomAt(clientX: number, clientY: number, factor: number): void {
    const rect = this.stage.getBoundingClientRect();
    const zoom = clamp(this.zoom * factor, minZoom, maxZoom);
    const [px, py] = [clientX - rect.left, clientY - rect.top];
    const scale = zoom / this.zoom;
    this.set(px - (px - this.x) * scale, py - (py - this.y) * scale, zoom);
  }

  zoomBy(factor: number): void {
    const rect = this.stage.getBoundingClientRect();
    this.zoomAt(rect.left + rect.width / 2, rect.top + rect.height / 2, factor);
  }

  /** Shows all of a box, not larger than life. */
  fit(bounds: Box): void {
    this.begin(bounds, bounds, clamp(this.zoomOf(bounds), minZoom, 1));
  }

  /**
   * Shows all of a box if that can be read; else, from the entry on, as many whole columns of it as can be. Where there
   * is only room for one, the next is seen to begin.
   */
  open(bounds: Box, entry: Box, readable: number, column: { width: number; gap: number }): void {
    const whole = this.zoomOf(bounds);
    this.begin(bounds, entry, Math.min(1, whole < readable ? this.zoomOfColumns(readable, column) : whole));
  }

  private zoomOfColumns(readable: number, { width, gap }: { width: number; gap: number }): number {
    const room = this.size.w - 2 * this.pad;
    const columns = Math.floor((room / readable + gap) / (width + gap));
    if (columns < 2) return readable;
    return Math.max(readable, room / (columns * (width + gap) - gap));
  }

  /** Centres a box; in a direction where it has no room, it begins at its edge, or at the entry if that lies further in. */
  private begin(bounds: Box, entry: Box, zoom: number): void {
    const { w, h } = this.room;
    if (w === 0 || h <= 0) return;
    const pad = this.pad;
    const start = (room: number, from: number, length: number, entryFrom: number, entryLength: number): number => {
      if (length * zoom <= room - 2 * pad) return (room - length * zoom) / 2 - from * zoom;
      const shown = (room - 2 * pad) / zoom;
      const first = entryFrom + entryLength <= from + shown ? from : Math.min(entryFrom + (entryLength - shown) / 2, from + length - shown);
      return pad - first * zoom;
    };
    this.set(start(w, bounds.x, bounds.w, entry.x, entry.w), start(h, bounds.y, bounds.h, entry.y, entry.h), zoom);
    this.fitted = true;
  }

  /** At which a box fills the room there is. */
  private zoomOf(bounds: Box): number {
    const { w, h } = this.room;
    return Math.min((w - 2 * this.pad) / (bounds.w || 1), (h - 2 * this.pad) / (bounds.h || 1));
  }

  /** Of the stage, what no button lies over. */
  private get room(): { w: number; h: number } {
    const { w, h } = this.size;
    return { w, h: h - clamp(this.foot - this.pad, 0, h / 8) };
  }

  /** Free room at each edge; less where there is little. */
  private get pad(): number {
    const { w, h } = this.size;
    return Math.min(clamp(w / 48, 12, 48), h / 8);
  }

  /** Moves as little as needed to bring a box into view. */
  reveal(box: Box, margin = 32): void {
    const seen = this.seen;
    const m = margin / this.zoom;
    const dx = shift(box.x - m, box.x + box.w + m, seen.x, seen.x + seen.w);
    const dy = shift(box.y - m, box.y + box.h + m, seen.y, seen.y + seen.h);
    if (dx !== 0 || dy !== 0) this.panBy(-dx * this.zoom, -dy * this.zoom);
  }

  set(x: number, y: number, zoom: number): void {
    this.x = x;
    this.y = y;
    this.zoom = zoom;
    this.fitted = false;
    this.world.style.transform = `translate(${x}px, ${y}px) scale(${zoom})`;
    this.changed();
  }
}

/** How far to move so that from…to lies within start…end; its start wins when it is larger. */
function shift(from: number, to: number, start: number, end: number): number {
  if (from < start || to - from > end - start) return from - start;
  return to > end ? to - end : 0;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export function intersects(a: Box, b: Box): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

export function contains(outer: Box, inner: Box): boolean {
  return outer.x <= inner.x && outer.y <= inner.y && inner.x + inner.w <= outer.x + outer.w && inner.y + inner.h <= outer.y + outer.h;
}

export function grow(box: Box, dx: number, dy: number): Box {
  return { x: box.x - dx, y: box.y - dy, w: box.w + 2 * dx, h: box.h + 2 * dy };
}

/** The sides on which a box goes on beyond what is seen of it, as words: "left below". */
export function beyond(seen: Box, box: Box): string {
  const sides = { left: box.x < seen.x, right: box.x + box.w > seen.x + seen.w, above: box.y < seen.y, below: box.y + box.h > seen.y + seen.h };
  return Object.entries(sides).filter(([, hidden]) => hidden).map(([side]) => side).join(' ');
}
