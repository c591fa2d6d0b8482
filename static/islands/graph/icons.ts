// Marks for activity types and states: a shape for each, so that colour is never
// the only sign. Drawn on a 16 px grid, stroked in the current colour.

import { svg } from './dom';

const typePaths: Record<string, string> = {
  http: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14C6 12 5.4 10 5.4 8S6 4 8 2Z',
  set: 'M3 5h10M3 8h6M3 11h8',
  switch: 'M2 8h4l4-4h4M6 8l4 4h4M12 2l2 2-2 2M12 10l2 2-2 2',
  wait: 'M4 2h8M4 14h8M5 2c0 4 6 4 6 6s-6 2-6 6M11 2c0 4-6 4-6 6s6 2 6 6',
  event: 'M3 12h10l-1.4-2V7a3.6 3.6 0 0 0-7.2 0v3ZM6.6 12.5a1.5 1.5 0 0 0 2.8 0',
  human: 'M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 14c0-2.8 2.2-4.2 5-4.2s5 1.4 5 4.2',
  for_each: 'M3 3h7v7H3zM6 13h7V6',
  workflow: 'M2.5 3h4v4h-4zM9.5 9h4v4h-4zM6.5 5h5v4',
  fail: 'M8 2.2 14 13H2ZM8 6.4v3M8 11.2v.2',
  end: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2ZM6 6h4v4H6z',
  script: 'M5 5 2 8l3 3M11 5l3 3-3 3M9.4 3 6.6 13',
  sql: 'M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0ZM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0',
  email: 'M2 4h12v8H2zM2 4.5l6 4.5 6-4.5',
  emit: 'M3 7v2h2l5 3V4L5 7ZM12 6c1 1 1 3 0 4',
  worker: 'M3 4h10v7H3zM6 14h4M8 11v3',
  hook: 'M10 3.5a2 2 0 1 1-2 2V10a3 3 0 0 1-6 0V8.5M2 8.5 1 10M2 8.5 3.2 10',
  ai: 'M8 2l1.5 4.5L14 8l-4.5 1.5L8 14l-1.5-4.5L2 8l4.5-1.5Z',
};
const unknownType = 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.5v.2';

export function typeIcon(type: string): SVGSVGElement {
  return icon(typePaths[type] ?? unknownType);
}

export function icon(path: string): SVGSVGElement {
  return svg('svg', { viewBox: '0 0 16 16', class: 'gv-icon', 'aria-hidden': 'true', focusable: 'false' }, svg('path', { d: path }));
}

/** How a state looks: `tone` names a --state-… colour, `shape` the mark. */
interface StateLook {
  tone: string;
  shape: string;
  words: string;
}

const shapes: Record<string, string> = {
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3Z',
  arc: 'M8 2.5A5.5 5.5 0 1 1 2.5 8',
  hourglass: typePaths.wait!,
  person: typePaths.human!,
  back: 'M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H6',
  tick: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11A5.5 5.5 0 0 0 8 2.5ZM8 5v3.2l2.2 1.4',
  dash: 'M3.5 8h9',
  square: 'M4 4h8v8H4z',
  undo: 'M5 3 2.5 5.5 5 8M2.5 5.5H10a3.5 3.5 0 0 1 0 7H6',
  bars: 'M6 3.5v9M10 3.5v9',
  plus: 'M8 3v10M3 8h10',
  dot: 'M8 7.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Z',
};

const idle = { tone: 'idle', shape: 'ring' };
const looks: Record<string, StateLook> = {
  created: { ...idle, words: 'Created' },
  validated: { ...idle, words: 'Validated' },
  scheduled: { ...idle, words: 'Scheduled' },
  pending: { ...idle, words: 'Not started' },
  ready: { ...idle, words: 'Ready' },
  dispatched: { tone: 'running', shape: 'arc', words: 'Handed to a worker' },
  running: { tone: 'running', shape: 'arc', words: 'Running' },
  waiting: { tone: 'waiting', shape: 'hourglass', words: 'Waiting' },
  waiting_person: { tone: 'person', shape: 'person', words: 'Waits for a person' },
  retrying: { tone: 'retrying', shape: 'back', words: 'Trying again' },
  completed: { tone: 'completed', shape: 'tick', words: 'Completed' },
  failed: { tone: 'failed', shape: 'cross', words: 'Failed' },
  timed_out: { tone: 'failed', shape: 'clock', words: 'Timed out' },
  skipped: { tone: 'idle', shape: 'dash', words: 'Skipped' },
  cancelled: { tone: 'idle', shape: 'square', words: 'Cancelled' },
  compensating: { tone: 'undo', shape: 'undo', words: 'Being undone' },
  compensated: { tone: 'undo', shape: 'undo', words: 'Undone' },
  compensation_failed: { tone: 'failed', shape: 'undo', words: 'Could not be undone' },
  paused: { tone: 'idle', shape: 'bars', words: 'Paused' },
};

export function stateLook(state: string): StateLook {
  return looks[state] ?? { ...idle, words: state };
}

export function stateIcon(state: string): SVGSVGElement {
  return shapeIcon(stateLook(state).shape);
}

/** Makes a state's mark that of another state. */
export function becomeState(mark: SVGSVGElement, state: string): void {
  const { shape } = stateLook(state);
  if (mark.classList.contains(`gv-shape-${shape}`)) return;
  mark.setAttribute('class', `gv-icon gv-shape-${shape}`);
  mark.firstElementChild!.setAttribute('d', shapes[shape]!);
}

export function shapeIcon(shape: string): SVGSVGElement {
  const mark = icon(shapes[shape] ?? shapes.ring!);
  mark.classList.add(`gv-shape-${shape}`);
  return mark;
}

const diffShapes: Record<string, string> = { added: 'plus', removed: 'dash', changed: 'dot' };

export function diffIcon(kind: string): SVGSVGElement {
  return shapeIcon(diffShapes[kind] ?? 'ring');
}
