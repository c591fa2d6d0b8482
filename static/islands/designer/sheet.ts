// The key sheet and the command palette, both made from the table of actions.

import { el } from '../graph/dom';
import { actions, keyWords, type Action } from './actions';
import type { Designer } from './designer';
import { shown } from './key-words';
import { openPicker, type Choice } from './picker';

/** Keys of the canvas itself, for the sheet. */
const walkKeys: readonly (readonly [string, string])[] = [
  ['← →', 'Walk along the edges'],
  ['↑ ↓', 'Walk to the neighbours'],
  ['Shift + arrow', 'Select along the way'],
  ['Home, End', 'First and last activity'],
  ['Tab, Enter, Alt + arrow, Delete', 'On a note: reach, write, move, delete it'],
  ['Shift + drag', 'Select with a frame'],
  ['Drag from a port', 'Connect, or drop to choose what to add'],
];

export function openCommands(d: Designer): void {
  openPicker({
    title: 'All commands',
    placeholder: 'What do you want to do?',
    choices: choices(d, (a) => a.id !== 'commands'),
    closed: () => d.view.focus(),
  });
}

/** What can be done with one activity, or with the canvas, as a list to tap or type in. */
export function openMenu(d: Designer, ofActivity: boolean, at: { x: number; y: number } | undefined): void {
  openPicker({
    title: `What to do with ${ofActivity ? (d.activeNode()?.name ?? 'this activity') : 'the canvas'}`,
    placeholder: 'Type to find it',
    at,
    choices: choices(d, (a) => a.where === 'canvas' && a.id !== 'menu' && (a.ofActivity ?? false) === ofActivity),
    closed: () => d.view.focus(),
  });
}

/** Actions as they are offered: with their words and keys. */
function choices(d: Designer, wanted: (action: Action) => boolean): Choice[] {
  return actions.filter((a) => wanted(a) && !(a.edits && d.session.readonly)).map((a) => ({ label: a.title, detail: keyWords(a), act: () => a.run(d) }));
}

export function openKeys(d: Designer): void {
  const rows: (readonly [readonly string[], string])[] = [
    ...walkKeys.map(([keys, words]) => [[keys], words] as const),
    ...actions.filter((a) => a.keys).map((a) => [a.keys!.map(shown), a.title] as const),
  ];
  const close = el('button', { type: 'button', class: 'ds-button' }, 'Close');
  const dialog = el('dialog', { class: 'ds-sheet', 'aria-labelledby': 'ds-sheet-title' },
    el('div', { class: 'ds-sheet-head' }, el('h2', { id: 'ds-sheet-title' }, 'Keys'), close),
    el('dl', {}, ...rows.map(([keys, words]) => el('div', {}, el('dt', {}, ...keys.map((key) => el('kbd', {}, key))), el('dd', {}, words)))));
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    d.view.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
