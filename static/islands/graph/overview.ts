// What stands in for nodes and edges when many are seen from far away: one drawing
// of their places, states and edges. At that size no words could be read anyway, and
// thousands of elements would cost more than they show.

import { el } from './dom';
import type { Box, Layout } from './layout';
import type { Graph } from './model';
import { headHeight, nodeWidth } from './metrics';
import { detailZoom, intersects, type Viewport } from './viewport';

const nameInset = 16;

/** With more nodes in sight than this, a view from far away is one drawing. */
export const manyNodes = 150;
/** With more than this, every view is: as elements, they and their edges would be too many. */
export const mostNodes = 300;

/** How one node looks from far away. */
export interface FarLook {
  /** A name of a custom property for its edge and, mixed, for its area. */
  tone: string;
  selected: boolean;
}

export class Overview {
  readonly element = el('canvas', { class: 'gv-overview', 'aria-hidden': 'true', hidden: true });
  private readonly colours = new Map<string, string>();
  /** Names as far as they fit, by name. */
  private readonly fitted = new Map<string, string>();
  private theme = '';

  show(shown: boolean): void {
    if (this.element.hidden === shown) this.element.hidden = !shown;
  }

  draw(graph: Graph, layout: Layout, viewport: Viewport, look: (key: string) => FarLook, edgeTone: (key: string, from: string, to: string) => string): void {
    const { w, h } = viewport.size;
    const ratio = window.devicePixelRatio || 1;
    const pen = this.element.getContext('2d');
    if (!pen || w === 0 || h === 0) return;
    const [width, height] = [Math.round(w * ratio), Math.round(h * ratio)];
    if (this.element.width !== width || this.element.height !== height) [this.element.width, this.element.height] = [width, height];
    this.freshColours();
    const seen = viewport.seen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(ratio * viewport.zoom, 0, 0, ratio * viewport.zoom, ratio * viewport.x, ratio * viewport.y);
    this.edges(pen, graph, layout, edgeTone, 1 / viewport.zoom);
    this.nodes(pen, graph, layout, seen, look, 1 / viewport.zoom);
    if (viewport.zoom >= detailZoom) this.names(pen, graph, layout, seen);
  }

  /** As on a card, on one line. */
  private names(pen: CanvasRenderingContext2D, graph: Graph, layout: Layout, seen: Box): void {
    pen.font = `600 14px ${getComputedStyle(this.element).fontFamily}`;
    pen.fillStyle = this.colour('--ink');
    pen.textBaseline = 'middle';
    for (const node of graph.nodes) {
      const box = layout.boxes.get(node.key)!;
      if (intersects(seen, box)) pen.fillText(this.fit(pen, node.name), box.x + nameInset, box.y + headHeight / 2);
    }
  }

  private fit(pen: CanvasRenderingContext2D, name: string): string {
    let words = this.fitted.get(name);
    if (words === undefined) {
      words = name;
      while (words.length > 1 && pen.measureText(words).width > nodeWidth - 2 * nameInset) words = `${words.slice(0, -2).trimEnd()}…`;
      this.fitted.set(name, words);
    }
    return words;
  }

  private edges(pen: CanvasRenderingContext2D, graph: Graph, layout: Layout, edgeTone: (key: string, from: string, to: string) => string, pixel: number): void {
    const byTone = new Map<string, Path2D>();
    for (const edge of graph.edges) {
      const points = layout.routes.get(edge.key);
      if (!points) continue;
      const tone = edgeTone(edge.key, edge.from, edge.to);
      const path = byTone.get(tone) ?? new Path2D();
      byTone.set(tone, path);
      path.moveTo(points[0]!.x, points[0]!.y);
      for (const p of points.slice(1)) path.lineTo(p.x, p.y);
    }
    pen.lineWidth = pixel;
    for (const [tone, path] of byTone) {
      pen.strokeStyle = this.colour(tone);
      pen.stroke(path);
    }
  }

  private nodes(pen: CanvasRenderingContext2D, graph: Graph, layout: Layout, seen: Box, look: (key: string) => FarLook, pixel: number): void {
    pen.lineWidth = 1.5 * pixel;
    for (const node of graph.nodes) {
      const box = layout.boxes.get(node.key)!;
      if (!intersects(seen, box)) continue;
      const { tone, selected } = look(node.key);
      const colour = this.colour(tone);
      pen.fillStyle = this.colour('--paper');
      pen.fillRect(box.x, box.y, box.w, box.h);
      if (tone !== '--line-strong') {
        pen.globalAlpha = 0.35;
        pen.fillStyle = colour;
        pen.fillRect(box.x, box.y, box.w, box.h);
        pen.globalAlpha = 1;
      }
      pen.strokeStyle = selected ? this.colour('--accent') : colour;
      pen.strokeRect(box.x, box.y, box.w, box.h);
    }
  }

  /** Colours are read once for each theme: reading them makes the browser settle its styles. */
  private freshColours(): void {
    const theme = `${document.documentElement.dataset.theme ?? ''}/${matchMedia('(prefers-color-scheme: dark)').matches}/${matchMedia('(forced-colors: active)').matches}`;
    if (theme !== this.theme) this.colours.clear();
    this.theme = theme;
  }

  private colour(name: string): string {
    let colour = this.colours.get(name);
    if (colour === undefined) {
      this.element.style.color = `var(${name})`;
      colour = getComputedStyle(this.element).color;
      this.colours.set(name, colour);
    }
    return colour;
  }
}
