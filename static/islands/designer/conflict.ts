// The notice that another tab or person saved first: three ways out, none silent.

import { el } from '../graph/dom';
import type { Conflict } from './save';

export interface ConflictHooks {
  /** Goes on with this text, on top of their draft. */
  use(text: string, said: string): void;
  mine(): string;
}

export function conflictNotice(conflict: Conflict, hooks: ConflictHooks): HTMLElement {
  const compare = el('div', { class: 'ds-compare', hidden: true }, side('Yours', hooks.mine()), side('Theirs', conflict.theirs));
  const button = (words: string, act: () => void, primary = false) =>
    el('button', { type: 'button', class: primary ? 'ds-button ds-primary' : 'ds-button', onclick: act }, words);
  const notice = el('section', { class: 'ds-notice', role: 'alert', 'aria-label': 'Conflicting changes' },
    el('p', {}, el('strong', {}, 'This draft was changed elsewhere. '),
      conflict.merged !== null
        ? 'Your changes and theirs are in different places and can be kept together.'
        : 'You both changed the same lines, so one side has to be chosen. Nothing is lost: what you choose can be undone.'),
    el('div', { class: 'ds-notice-actions' },
      conflict.merged !== null ? button('Keep both', () => choose(conflict.merged!, 'Kept both changes'), true) : null,
      button('Keep mine', () => choose(hooks.mine(), 'Kept your version')),
      button('Take theirs', () => choose(conflict.theirs, 'Took their version')),
      button('Compare', () => (compare.hidden = !compare.hidden))),
    compare);
  const choose = (text: string, said: string) => {
    notice.remove();
    hooks.use(text, said);
  };
  return notice;
}

function side(title: string, text: string): HTMLElement {
  return el('div', {}, el('h3', {}, title), el('pre', { tabindex: 0, 'aria-label': title }, text));
}
