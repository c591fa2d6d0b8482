// What stands in the designer's regions: bar, tabs, palette, YAML, problems and
// details. Everything that acts is a button; what it does is the designer's.

import { el } from '../graph/dom';
import { icon } from '../graph/icons';
import { wordsOf } from './actions';
import type { Designer } from './designer';
import { palette } from './palette';
import type { CodePlace, Regions } from './regions';

export interface Parts {
  canvas: HTMLElement;
  palette: HTMLElement;
  outline: HTMLElement;
  outlineButton: HTMLElement;
  code: HTMLElement;
  codeChoice: HTMLSelectElement;
  problems: HTMLElement;
  problemList: HTMLElement;
  problemsButton: HTMLElement;
  undo: HTMLButtonElement;
  redo: HTMLButtonElement;
  empty: HTMLElement;
  stale: HTMLElement;
  state: HTMLElement;
  people: HTMLElement;
  notices: HTMLElement;
  tabs: HTMLElement[];
}

/** Fills the regions. */
export function furnish(d: Designer, regions: Regions, form: HTMLElement, outlineList: HTMLElement): Parts {
  const tool = (action: string, path: string, act: () => void) =>
    el('button', { type: 'button', class: 'ds-tool', 'aria-label': wordsOf(action).title, title: wordsOf(action).hint, onclick: act }, icon(path));
  const undo = tool('undo', 'M5 3 2.5 5.5 5 8M2.5 5.5H10a3.5 3.5 0 0 1 0 7H6', () => d.session.undo());
  const redo = tool('redo', 'M11 3l2.5 2.5L11 8M13.5 5.5H6a3.5 3.5 0 0 0 0 7h4', () => d.session.redo());
  const outlineButton = el('button', { type: 'button', class: 'ds-tool ds-worded ds-roomy', 'aria-pressed': 'false', title: wordsOf('outline').hint, onclick: () => d.toggleOutline() }, 'Outline');
  const codeChoice = el('select', { 'aria-label': 'Where the YAML stands', title: wordsOf('code').hint },
    el('option', { value: 'below' }, 'YAML below'), el('option', { value: 'beside' }, 'YAML beside'), el('option', { value: 'off' }, 'YAML hidden'));
  codeChoice.addEventListener('change', () => void d.pickCode(codeChoice.value as CodePlace));
  const problemsButton = el('button', { type: 'button', class: 'ds-tool ds-worded ds-problem-count', 'aria-expanded': 'false', 'aria-controls': 'ds-problems', title: wordsOf('problems').hint, onclick: () => d.toggleProblems() }, 'Checking …');
  const state = el('span', { class: 'ds-state', role: 'status' });
  const people = el('ul', { class: 'ds-people', hidden: true });
  regions.bar.replaceChildren(
    undo, redo, outlineButton, codeChoice, problemsButton, el('span', { class: 'ds-gap' }), people, state,
    el('button', { type: 'button', class: 'ds-tool ds-worded', title: wordsOf('plan').hint, onclick: () => void d.tryOut() }, 'Try out'),
    el('button', { type: 'button', class: 'ds-tool ds-worded ds-roomy', title: wordsOf('settings').hint, onclick: () => (d.session.select([]), d.openForm()) }, 'Settings'),
    el('button', { type: 'button', class: 'ds-tool ds-worded', title: wordsOf('commands').hint, onclick: () => d.openCommands() }, 'Commands'),
    el('button', { type: 'button', class: 'ds-tool ds-roomy', 'aria-label': 'Keys', title: wordsOf('keys').hint, onclick: () => d.openKeys() }, '?'));

  const tabs = [['canvas', 'Canvas'], ['details', 'Details'], ['code', 'YAML'], ['outline', 'Outline']].map(([name, words]) =>
    el('button', { type: 'button', role: 'tab', class: 'ds-tab', 'data-tab': name, 'aria-selected': String(name === 'canvas'), onclick: () => (name === 'outline' ? d.toggleOutline() : d.showPane(name!)) }, words));
  const side = d.session.readonly ? regions.side : palette({
    add: (type) => d.authoring.addFromPalette(type),
    dragged: (_, x, y) => d.authoring.hoverFromPalette(x, y),
    dropped: (type, x, y) => (d.view.hint(null), d.authoring.dropFromPalette(type, x, y)),
    cancelled: () => d.view.hint(null),
  });
  const empty = el('div', { class: 'ds-empty' }, el('p', {}, el('strong', {}, 'Nothing here yet')),
    el('p', {}, d.session.readonly ? 'This workflow has no activities.' : 'Drag an activity here, click one on the left, or press A.'));
  const stale = el('p', { class: 'ds-stale', role: 'status', hidden: true });
  const problemBody = el('div', {});
  const { canvas, code, problems, notices, outline } = regions;
  regions.tabs.replaceChildren(...tabs);
  if (side !== regions.side) regions.side.replaceWith(side);
  outline.replaceChildren(outlineList);
  canvas.prepend(empty, stale);
  problems.replaceChildren(problemBody);
  regions.details.replaceChildren(form);
  return {
    canvas, palette: side, outline, outlineButton, code, codeChoice, problems, problemList: problemBody, problemsButton, undo, redo, empty, stale, state, people, notices, tabs,
  };
}
