// The notice that another tab or person saved first. What lies apart is merged by
// itself; for what both changed, both values are shown and one is chosen.

import { el } from '../graph/dom';
import { decide, type Merged } from './merge';
import type { Conflict } from './save';

export interface ConflictHooks {
  /** Goes on with this text, on top of their draft. */
  use(text: string, said: string): void;
  mine(): string;
}

type Side = 'mine' | 'theirs';

export function conflictNotice(conflict: Conflict, hooks: ConflictHooks): HTMLElement {
  const { merged, theirs } = conflict;
  const decisions: Side[] = merged.clashes.map(() => 'mine');
  const count = merged.clashes.length;
  const button = (words: string, act: () => void, primary = false) =>
    el('button', { type: 'button', class: primary ? 'ds-button ds-primary' : 'ds-button', onclick: act }, words);
  const choose = (text: string, said: string) => {
    notice.remove();
    hooks.use(text, said);
  };
  const notice = el('section', { class: 'ds-notice', role: 'alert', 'aria-label': 'Conflicting changes' },
    el('p', {}, el('strong', {}, 'This draft was changed elsewhere. '),
      count === 0 ? 'Both changes together would not be YAML that can be read. Choose one of them; it can be undone.' : `${count === 1 ? 'One place was' : `${count} places were`} changed by both sides; everything else is merged. Choose a value for ${count === 1 ? 'it' : 'each'}. Nothing is lost: what you choose can be undone.`),
    ...merged.clashes.map((_, i) => clashRow(merged, i, (side) => (decisions[i] = side))),
    el('div', { class: 'ds-notice-actions' },
      count > 0 && button('Keep what is chosen', () => choose(decide(merged, decisions), 'Merged both changes'), true),
      button('Keep all of mine', () => choose(hooks.mine(), 'Kept your version')),
      button('Take all of theirs', () => choose(theirs, 'Took their version'))));
  return notice;
}

let rows = 0;

/** Both values of one place, side by side; a radio button each. */
function clashRow(merged: Merged, index: number, pick: (side: Side) => void): HTMLElement {
  const clash = merged.clashes[index]!;
  const name = `clash-${++rows}`;
  const side = (key: Side, title: string) => {
    const radio = el('input', { type: 'radio', name, value: key });
    radio.checked = key === 'mine';
    radio.addEventListener('change', () => pick(key));
    return el('label', { class: 'ds-side-choice' }, el('span', {}, radio, title), el('pre', {}, clash[key] ?? '(taken away)'));
  };
  return el('fieldset', { class: 'ds-compare' },
    el('legend', {}, `Place ${index + 1} of ${merged.clashes.length}`), side('mine', 'Yours'), side('theirs', 'Theirs'));
}
