// The activity types to add: searched, clicked, dragged onto the canvas, or chosen
// by keyboard. Dragging is by pointer events, so it works with a finger too.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import { typeIcon } from '../graph/icons';
import { rank } from './picker';
import { paletteTypes } from './skeletons';

export interface PaletteHooks {
  /** Clicked: add where it makes sense. */
  add(type: string): void;
  dragged(type: string, x: number, y: number): void;
  dropped(type: string, x: number, y: number): void;
  cancelled(): void;
}

const words: Readonly<Record<string, string>> = {
  http: 'call api rest webhook',
  set: 'variables map transform function',
  switch: 'if condition branch decide',
  wait: 'timer delay sleep pause',
  event: 'signal callback message',
  human: 'approval task person form ask',
  for_each: 'loop map items fan-out parallel',
  workflow: 'child sub call',
  script: 'code javascript python bash function',
  sql: 'database query select insert',
  email: 'mail send notify message',
  ai: 'prompt model llm chat',
  emit: 'publish event send',
  worker: 'remote task queue',
  fail: 'error stop throw',
  end: 'finish complete return',
};

/** Other words that an activity type is found by. */
export function otherWords(type: string): string {
  return `${type} ${words[type] ?? ''}`;
}

export function palette(hooks: PaletteHooks): HTMLElement {
  const search = el('input', { type: 'search', 'aria-label': 'Search activities', placeholder: 'Search activities', autocomplete: 'off' });
  const items = paletteTypes.map((type) => ({ type, label: typeTitle(type), also: otherWords(type), button: item(type, hooks) }));
  const list = el('div', { class: 'ds-palette-list', role: 'group', 'aria-label': 'Activities to add' }, ...items.map((i) => i.button));
  // One tab stop for the whole list: arrows move within it.
  const stand = (at: HTMLElement | undefined) => items.forEach((i) => (i.button.tabIndex = i.button === at ? 0 : -1));
  stand(items[0]?.button);
  list.addEventListener('focusin', (e) => stand(e.target as HTMLElement));
  search.addEventListener('input', () => {
    const found = rank(items, search.value).map((i) => i.button);
    list.replaceChildren(...found);
    stand(found[0]);
  });
  search.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter') return;
    e.preventDefault();
    const first = rank(items, search.value)[0];
    if (first) hooks.add(first.type);
  });
  list.addEventListener('keydown', (e) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const buttons = [...list.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (!step[e.key] || at < 0) return;
    e.preventDefault();
    buttons[(at + step[e.key]! + buttons.length) % buttons.length]!.focus();
  });
  return el('aside', { class: 'ds-palette', 'aria-label': 'Activities' }, search, list);
}

function item(type: string, hooks: PaletteHooks): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'ds-palette-item', 'data-type': type, title: 'Click to add, or drag onto the canvas' }, typeIcon(type), typeTitle(type));
  let ghost: HTMLElement | null = null;
  let start = { x: 0, y: 0 };
  let dragged = false;

  const end = () => {
    ghost?.remove();
    ghost = null;
  };
  button.addEventListener('pointerdown', (e) => {
    start = { x: e.clientX, y: e.clientY };
    dragged = false;
    if (e.button === 0) button.setPointerCapture(e.pointerId);
  });
  button.addEventListener('pointermove', (e) => {
    if (!button.hasPointerCapture(e.pointerId)) return;
    if (!ghost && Math.hypot(e.clientX - start.x, e.clientY - start.y) < 5) return;
    dragged = true;
    ghost ??= document.body.appendChild(el('div', { class: 'ds-ghost', 'aria-hidden': 'true' }, typeIcon(type), typeTitle(type)));
    ghost.style.transform = `translate(${e.clientX - 24}px, ${e.clientY - 20}px)`;
    hooks.dragged(type, e.clientX, e.clientY);
  });
  button.addEventListener('pointerup', (e) => {
    if (!ghost) return;
    end();
    hooks.dropped(type, e.clientX, e.clientY);
  });
  button.addEventListener('pointercancel', () => {
    end();
    hooks.cancelled();
  });
  button.addEventListener('click', () => {
    if (!dragged) hooks.add(type);
    dragged = false;
  });
  return button;
}
