// A small list to choose from by typing: what to add, what to connect to, which
// command. It stands beside what it is about and never covers the page.

import { el } from '../graph/dom';

export interface Choice {
  label: string;
  /** Words on the right: a key, a type. */
  detail?: string;
  icon?: Node;
  /** More words it is found by. */
  also?: string;
  /** Why it cannot be chosen. */
  refused?: string;
  act(): void;
}

export interface PickerOptions {
  title: string;
  placeholder: string;
  choices: readonly Choice[];
  /** Client coordinates it opens at; the middle of the page's top without. */
  at?: { x: number; y: number } | undefined;
  /** What gets the keyboard back when nothing was chosen. */
  closed?: (() => void) | undefined;
}

let current: (() => void) | null = null;
const id = 'ds-picker-list';

export function closePicker(): void {
  current?.();
}

export function openPicker(options: PickerOptions): void {
  const input = el('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': id, 'aria-autocomplete': 'list', 'aria-label': options.title, placeholder: options.placeholder, autocomplete: 'off', spellcheck: 'false' });
  const list = el('div', { role: 'listbox', id, 'aria-label': options.title });
  const close = openBox(options.title, [input, list], options.closed, options.at);
  const box = input.parentElement!;
  let shown: Choice[] = [];
  let active = 0;

  const take = (choice: Choice | undefined) => {
    if (!choice || choice.refused) return;
    close(true);
    choice.act();
  };
  const mark = (index: number) => {
    active = index;
    [...list.children].forEach((o, i) => o.setAttribute('aria-selected', String(i === index)));
    input.setAttribute('aria-activedescendant', `${id}-${index}`);
    list.children[index]?.scrollIntoView({ block: 'nearest' });
  };
  const filter = () => {
    shown = rank(options.choices, input.value);
    list.replaceChildren(...shown.map((choice, i) => option(choice, i, () => take(choice))));
    if (shown.length === 0) list.append(el('p', { class: 'ds-quiet' }, 'Nothing is called that.'));
    mark(Math.max(0, shown.findIndex((c) => !c.refused)));
  };

  input.addEventListener('input', filter);
  input.addEventListener('keydown', (e) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    if (e.key === 'Tab') {
      e.preventDefault();
      close();
    } else if (e.key === 'Enter') {
      e.preventDefault();
      take(shown[active]);
    } else if (step[e.key] && shown.length > 0) {
      e.preventDefault();
      mark((active + step[e.key]! + shown.length) % shown.length);
    }
  });

  filter();
  place(box, options.at);
  input.focus();
}

/** Opens a box over the page, in place of the one that is open; answers what closes it. */
export function openBox(title: string, parts: readonly HTMLElement[], closed?: () => void, at?: { x: number; y: number }): (chosen?: boolean) => void {
  closePicker();
  const box = el('div', { class: 'ds-picker', role: 'dialog', 'aria-label': title }, el('p', { class: 'ds-picker-title' }, title), ...parts);
  const close = (chosen = false) => {
    if (current !== abandon) return;
    current = null;
    document.removeEventListener('pointerdown', outside, true);
    box.remove();
    if (!chosen) closed?.();
  };
  const abandon = () => close();
  const outside = (e: PointerEvent) => {
    if (!box.contains(e.target as Node)) close();
  };
  box.addEventListener('keydown', (e) => {
    e.stopPropagation();
    if (e.key !== 'Escape') return;
    e.preventDefault();
    close();
  });
  current = abandon;
  document.body.append(box);
  document.addEventListener('pointerdown', outside, true);
  place(box, at);
  return close;
}

function option(choice: Choice, index: number, take: () => void): HTMLElement {
  return el('div', { role: 'option', id: `${id}-${index}`, 'aria-disabled': choice.refused ? 'true' : null, onclick: take },
    choice.icon, el('span', { class: 'ds-option-label' }, choice.label), el('span', { class: 'ds-option-detail' }, choice.refused ?? choice.detail ?? ''));
}

/** Choices that match, the best first: beginning of the label, of a word, anywhere. */
export function rank<T extends Pick<Choice, 'label' | 'also' | 'refused'>>(choices: readonly T[], typed: string): T[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return [...choices];
  const score = (c: T): number => {
    const label = c.label.toLowerCase();
    if (label.startsWith(wanted)) return 0;
    const words = `${label} ${(c.also ?? '').toLowerCase()}`.split(/[\s_-]+/);
    if (words.some((w) => w.startsWith(wanted))) return 1;
    return label.includes(wanted) ? 2 : Infinity;
  };
  return choices
    .map((c, i) => ({ c, i, s: score(c) + (c.refused ? 10 : 0) }))
    .filter((x) => x.s < Infinity)
    .sort((a, b) => a.s - b.s || a.i - b.i)
    .map((x) => x.c);
}

/** Beside the point, and inside the window. */
function place(box: HTMLElement, at: { x: number; y: number } | undefined): void {
  const { width, height } = box.getBoundingClientRect();
  const x = at ? at.x + 8 : (innerWidth - width) / 2;
  const y = at ? at.y - 20 : Math.max(48, innerHeight * 0.14);
  box.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`;
}
