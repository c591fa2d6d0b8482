// Zoom out, zoom in, fit: three buttons at the canvas's edge.

import { el } from './dom';
import { icon } from './icons';
import type { GraphView } from './view';

export function toolbar(view: GraphView): HTMLElement {
  const button = (label: string, path: string, act: () => void) =>
    el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, icon(path));
  return el('div', { class: 'gv-tools', role: 'group', 'aria-label': 'Zoom' },
    button('Zoom out', 'M3 8h10', () => view.viewport.zoomBy(0.8)),
    button('Zoom in', 'M8 3v10M3 8h10', () => view.viewport.zoomBy(1.25)),
    button('Fit the whole graph', 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10', () => view.fit()));
}
