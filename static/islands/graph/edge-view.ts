// The edges: one SVG for all, a group of two paths each (a wide one to hit, a thin one to see).

import { svg } from './dom';
import { pathOf } from './edge-path';
import type { Point } from './layout';

let markers = 0;

export class EdgeLayer {
  readonly element = svg('svg', { class: 'gv-edges', 'aria-hidden': 'true', focusable: 'false' });
  private readonly arrow = `gv-arrow-${++markers}`;
  private readonly groups = new Map<string, SVGGElement>();
  private readonly guides = svg('path', { class: 'gv-guide', d: '' });
  private readonly preview = svg('path', { class: 'gv-preview' });

  constructor() {
    const head = svg('marker', { id: this.arrow, class: 'gv-arrow', viewBox: '0 0 8 8', refX: 11, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' },
      svg('path', { d: 'M1 1l6 3-6 3' }));
    this.element.append(svg('defs', {}, head), this.guides, this.preview);
  }

  get keys(): Iterable<string> {
    return this.groups.keys();
  }

  draw(key: string, points: readonly Point[]): SVGGElement {
    const group = this.groups.get(key) ?? this.create(key);
    const d = pathOf(points);
    if (group.dataset.d !== d) {
      group.dataset.d = d;
      for (const path of group.children) path.setAttribute('d', d);
    }
    return group;
  }

  get(key: string): SVGGElement | undefined {
    return this.groups.get(key);
  }

  remove(key: string): void {
    this.groups.get(key)?.remove();
    this.groups.delete(key);
  }

  /** The dashed line of an edge being drawn; null takes it away. */
  drawPreview(points: readonly Point[] | null): void {
    this.preview.setAttribute('d', points ? pathOf(points) : '');
  }

  /** Straight lines across the canvas; none takes them away. */
  drawGuides(lines: readonly (readonly [Point, Point])[]): void {
    const d = lines.map(([a, b]) => `M${a.x} ${a.y}L${b.x} ${b.y}`).join('');
    if (this.guides.getAttribute('d') !== d) this.guides.setAttribute('d', d);
  }

  private create(key: string): SVGGElement {
    const group = svg('g', { class: 'gv-edge' },
      svg('path', { class: 'gv-edge-hit' }),
      svg('path', { class: 'gv-edge-line', 'marker-end': `url(#${this.arrow})` }));
    group.dataset.edge = key;
    this.element.insertBefore(group, this.preview);
    this.groups.set(key, group);
    return group;
  }
}
