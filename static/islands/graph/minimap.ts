// An overview of a large graph; a click or drag on it moves the view. It repeats
// what the canvas shows, so assistive technology does not see it.

import { el } from './dom';
import { stateLook } from './icons';
import type { Layout } from './layout';
import type { Graph } from './model';
import type { NodeState } from './node-view';
import type { Viewport } from './viewport';

const width = 168;
const height = 104;
const padding = 8;
/** A graph of fewer nodes is taken in at a glance. */
const fewNodes = 16;

export class Minimap {
  readonly element = el('div', { class: 'gv-minimap', 'aria-hidden': 'true' });
  private readonly canvas = el('canvas', { width: width * 2, height: height * 2 });
  private readonly window = el('div', { class: 'gv-minimap-window' });
  private readonly colours = new Map<string, string>();
  private theme = '';
  private scale = 1;
  private count = 0;
  private left = 0;
  private top = 0;

  constructor(private readonly viewport: Viewport) {
    this.element.append(this.canvas, this.window);
    this.element.addEventListener('pointerdown', (e) => this.grab(e));
    this.element.addEventListener('pointermove', (e) => {
      if (this.element.hasPointerCapture(e.pointerId)) this.centre(e);
    });
  }

  draw(graph: Graph, layout: Layout, states: ReadonlyMap<string, NodeState>): void {
    const b = layout.bounds;
    this.count = graph.nodes.length;
    this.scale = Math.min((width - 2 * padding) / (b.w || 1), (height - 2 * padding) / (b.h || 1));
    this.left = b.x - (width / this.scale - b.w) / 2;
    this.top = b.y - (height / this.scale - b.h) / 2;
    const pen = this.canvas.getContext('2d');
    if (!pen) return;
    const theme = `${document.documentElement.dataset.theme ?? ''}/${matchMedia('(prefers-color-scheme: dark)').matches}`;
    if (theme !== this.theme) this.colours.clear();
    this.theme = theme;
    const { colours } = this;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (const node of graph.nodes) {
      const box = layout.boxes.get(node.key)!;
      const state = states.get(node.key);
      const name = state ? `--state-${stateLook(state.state).tone}` : '--line-strong';
      if (!colours.has(name)) colours.set(name, this.resolve(name));
      pen.fillStyle = colours.get(name)!;
      pen.fillRect((box.x - this.left) * this.scale, (box.y - this.top) * this.scale, Math.max(2, box.w * this.scale), Math.max(2, box.h * this.scale));
    }
    this.moved();
  }

  /** The colour behind a custom property, which may depend on the theme. */
  private resolve(name: string): string {
    this.canvas.style.color = `var(${name})`;
    return getComputedStyle(this.canvas).color;
  }

  /** Follows the view; hidden while everything is in sight anyway. */
  moved(): void {
    const seen = this.viewport.seen;
    const { w, h } = { w: seen.w * this.scale, h: seen.h * this.scale };
    this.element.hidden = this.count < fewNodes || (w >= width - 2 * padding && h >= height - 2 * padding);
    this.window.style.transform = `translate(${(seen.x - this.left) * this.scale}px, ${(seen.y - this.top) * this.scale}px)`;
    this.window.style.width = `${w}px`;
    this.window.style.height = `${h}px`;
  }

  private grab(event: PointerEvent): void {
    event.preventDefault();
    event.stopPropagation();
    this.element.setPointerCapture(event.pointerId);
    this.centre(event);
  }

  private centre(event: PointerEvent): void {
    const rect = this.element.getBoundingClientRect();
    const x = (event.clientX - rect.left) / this.scale + this.left;
    const y = (event.clientY - rect.top) / this.scale + this.top;
    const { zoom, size } = this.viewport;
    this.viewport.set(size.w / 2 - x * zoom, size.h / 2 - y * zoom, zoom);
  }
}
