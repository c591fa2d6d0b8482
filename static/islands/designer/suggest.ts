// The list of suggestions under an expression field: arrows choose, Enter or Tab takes.

import { el } from '../graph/dom';
import type { Completion } from './complete';

export interface Completer {
  (before: string): Completion | null;
  /** Whether the field is a text with ${{ }} in it, or an expression by itself. */
  in: 'template' | 'bare';
}

let lists = 0;

/** Gives a text field completion; the field keeps the focus all the time. */
export function suggest(field: HTMLInputElement | HTMLTextAreaElement, completer: Completer): void {
  const id = `suggest-${++lists}`;
  let list: HTMLElement | null = null;
  let offer: Completion | null = null;
  let chosen = 0;

  const close = () => {
    list?.remove();
    list = offer = null;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  };

  const take = (index: number) => {
    const option = offer?.options[index];
    if (!option || !offer) return;
    field.setRangeText(option.text, offer.from, field.selectionStart ?? offer.from, 'end');
    close();
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  const mark = (index: number) => {
    chosen = index;
    list?.querySelectorAll('[role=option]').forEach((o, i) => {
      o.setAttribute('aria-selected', String(i === index));
      if (i === index) o.scrollIntoView({ block: 'nearest' });
    });
    field.setAttribute('aria-activedescendant', `${id}-${index}`);
  };

  const open = () => {
    close();
    offer = completer(field.value.slice(0, field.selectionStart ?? 0));
    if (!offer) return;
    list = el('div', { class: 'ds-suggest', role: 'listbox', id, 'aria-label': 'Suggestions' },
      ...offer.options.slice(0, 50).map((o, i) =>
        el('div', { role: 'option', id: `${id}-${i}`, onpointerdown: (e: PointerEvent) => (e.preventDefault(), take(i)) },
          el('code', {}, o.text), el('span', {}, o.detail))));
    field.after(list);
    field.setAttribute('aria-expanded', 'true');
    mark(0);
  };

  field.dataset.expression = completer.in;
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-expanded', 'false');
  field.setAttribute('aria-controls', id);
  field.addEventListener('input', (e) => {
    if (e.isTrusted) open();
  });
  field.addEventListener('blur', close);
  field.addEventListener('keydown', (event) => {
    const e = event as KeyboardEvent;
    if (!list || !offer) {
      if (e.key === ' ' && e.ctrlKey) {
        e.preventDefault();
        open();
      }
      return;
    }
    const count = Math.min(offer.options.length, 50);
    const act: Record<string, () => void> = {
      ArrowDown: () => mark((chosen + 1) % count),
      ArrowUp: () => mark((chosen - 1 + count) % count),
      Enter: () => take(chosen),
      Tab: () => take(chosen),
      Escape: close,
    };
    const action = act[e.key];
    if (!action) return;
    e.preventDefault();
    e.stopPropagation();
    action();
  });
}
