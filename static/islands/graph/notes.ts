// Notes on the canvas: words beside the graph, of no meaning to the engine. In edit
// mode a note is a button that can be moved, rewritten and deleted, by pointer and
// by keyboard; elsewhere it only stands there.

import { el } from './dom';
import type { Box, Point } from './layout';
import type { Viewport } from './viewport';

export interface Note {
  text: string;
  /** Left and top edge, in world coordinates. */
  at: readonly [number, number];
}

/** What a person does to notes, by their place in the list. */
export interface NoteHooks {
  write(index: number, text: string): void;
  move(index: number, at: readonly [number, number]): void;
  remove(index: number): void;
}

export const noteWidth = 200;
const grid = 10;
const slop = 4; // px that a pointer may move and still be a click

export class NoteLayer {
  readonly element = el('div', { class: 'gv-notes', role: 'group', 'aria-label': 'Notes', hidden: true });
  private notes: readonly Note[] = [];
  /** The note that the Tab key reaches. */
  private active = 0;
  private drag: { index: number; from: Point; at: Point; moved: boolean } | null = null;

  constructor(
    private readonly viewport: Viewport,
    private readonly hooks: NoteHooks | undefined,
  ) {
    // What is typed into a note is no command of the canvas.
    for (const type of ['keydown', 'copy', 'cut', 'paste', 'pointerdown'] as const) {
      this.element.addEventListener(type, (e) => e.target instanceof HTMLTextAreaElement && (e.stopPropagation(), e.type === 'keydown' && this.onTyping(e as KeyboardEvent)));
    }
    if (!hooks) return;
    this.element.addEventListener('keydown', (e) => this.onKey(e));
    this.element.addEventListener('dblclick', (e) => this.begin(e, () => this.edit(this.indexOf(e.target))));
    this.element.addEventListener('click', (e) => e.detail === 0 && this.edit(this.indexOf(e.target)));
    this.element.addEventListener('focusin', (e) => this.onFocus(e));
    this.element.addEventListener('pointerdown', (e) => this.grab(e));
    this.element.addEventListener('pointermove', (e) => this.pull(e));
    this.element.addEventListener('pointerup', (e) => this.drop(e));
    this.element.addEventListener('pointercancel', () => this.cancel());
  }

  set(notes: readonly Note[]): void {
    if (JSON.stringify(notes) === JSON.stringify(this.notes)) return;
    this.notes = notes;
    if (!this.element.querySelector('textarea')) this.render(); // else when that is left
  }

  private render(): void {
    const { notes } = this;
    const had = this.indexOf(document.activeElement);
    this.active = Math.max(0, Math.min(this.active, notes.length - 1));
    this.element.hidden = notes.length === 0;
    this.element.replaceChildren(...notes.map((note, i) => this.card(note, i)));
    if (had >= 0) this.focus(Math.min(had, notes.length - 1));
  }

  /** What the notes cover, for showing everything. */
  boxes(): Box[] {
    return this.notes.flatMap((note, i) => (note.text === '' ? [] : [this.boxOf(i)]));
  }

  private boxOf(index: number): Box {
    const [x, y] = this.notes[index]!.at;
    return { x, y, w: noteWidth, h: (this.element.children[index] as HTMLElement | undefined)?.offsetHeight ?? 0 };
  }

  focus(index: number): void {
    (this.element.children[index] as HTMLElement | undefined)?.focus({ preventScroll: true });
  }

  /** Turns a note into a field; leaving it writes what is in there. */
  edit(index: number): void {
    const note = this.notes[index];
    const card = this.element.children[index];
    if (!note || !card || !this.hooks) return;
    const field = el('textarea', { class: 'gv-note gv-note-field', 'aria-label': 'Text of the note', 'data-note': index, rows: 3 });
    field.value = note.text;
    place(field, note.at);
    card.replaceWith(field);
    field.addEventListener('blur', () => this.written(field, note), { once: true });
    field.focus({ preventScroll: true });
    field.select();
  }

  private card(note: Note, index: number): HTMLElement {
    if (note.text === '') return el('div', { hidden: true }); // not of the form of a note
    const card = this.hooks
      ? el('button', { type: 'button', class: 'gv-note', 'data-note': index, tabindex: index === this.active ? 0 : -1, 'aria-label': `Note: ${note.text}`, title: 'Double click or Enter to change it' }, note.text)
      : el('div', { class: 'gv-note', role: 'note' }, note.text);
    place(card, note.at);
    return card;
  }

  /** The list may have changed meanwhile: the note is found by what it said. */
  private written(field: HTMLTextAreaElement, note: Note): void {
    const words = field.value.trim();
    field.remove();
    this.render();
    const index = this.notes.findIndex((n) => n.text === note.text && n.at.join() === note.at.join());
    if (index < 0 || words === note.text) return;
    if (words === '') this.hooks!.remove(index);
    else this.hooks!.write(index, words);
  }

  private onTyping(event: KeyboardEvent): void {
    const ends = event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey));
    if (!ends) return;
    event.preventDefault();
    const index = this.indexOf(event.target);
    (event.target as HTMLElement).blur();
    this.focus(Math.min(index, this.notes.length - 1));
  }

  private onKey(event: KeyboardEvent): void {
    const index = this.indexOf(event.target);
    if (event.defaultPrevented || index < 0) return;
    const step = arrows[event.key];
    const ctrl = event.ctrlKey || event.metaKey;
    if (event.key === 'Escape' && this.drag) this.cancel();
    else if (event.key === 'F2') this.edit(index);
    else if (event.key === 'Delete' || event.key === 'Backspace') this.hooks!.remove(index);
    else if (step && event.altKey) this.hooks!.move(index, shifted(this.notes[index]!.at, step));
    else if (step && !ctrl) this.focus((index + (step[0] + step[1] > 0 ? 1 : -1) + this.notes.length) % this.notes.length);
    else return;
    event.preventDefault();
  }

  private onFocus(event: FocusEvent): void {
    const index = this.indexOf(event.target);
    if (index < 0) return;
    (this.element.children[this.active] as HTMLElement | undefined)?.setAttribute('tabindex', '-1');
    this.active = index;
    (this.element.children[index] as HTMLElement).setAttribute('tabindex', '0');
    this.viewport.reveal(this.boxOf(index));
  }

  private grab(event: PointerEvent): void {
    const index = this.indexOf(event.target);
    if (event.button !== 0 || index < 0 || event.target instanceof HTMLTextAreaElement) return;
    event.stopPropagation();
    const at = this.notes[index]!.at;
    this.drag = { index, from: { x: event.clientX, y: event.clientY }, at: { x: at[0], y: at[1] }, moved: false };
  }

  private pull(event: PointerEvent): void {
    const drag = this.drag;
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.from.x, event.clientY - drag.from.y];
    if (!drag.moved && Math.hypot(dx, dy) <= slop) return;
    drag.moved = true;
    const card = this.element.children[drag.index] as HTMLElement;
    card.setPointerCapture(event.pointerId);
    place(card, [drag.at.x + dx / this.viewport.zoom, drag.at.y + dy / this.viewport.zoom]);
  }

  private drop(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag?.moved) return;
    const [dx, dy] = [event.clientX - drag.from.x, event.clientY - drag.from.y];
    const { zoom } = this.viewport;
    this.hooks!.move(drag.index, shifted([drag.at.x, drag.at.y], [dx / zoom, dy / zoom], 1));
  }

  /** Puts a dragged note back. */
  private cancel(): void {
    const drag = this.drag;
    this.drag = null;
    if (drag) place(this.element.children[drag.index] as HTMLElement, this.notes[drag.index]!.at);
  }

  private begin(event: Event, act: () => void): void {
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  private indexOf(target: EventTarget | null): number {
    const note = target instanceof Element && this.element.contains(target) ? target.closest<HTMLElement>('[data-note]') : null;
    return note ? Number(note.dataset.note) : -1;
  }
}

function place(element: HTMLElement, [x, y]: readonly [number, number]): void {
  element.style.transform = `translate(${x}px, ${y}px)`;
}

/** A place moved by steps of the grid, or by pixels onto the grid. */
function shifted([x, y]: readonly [number, number], [dx, dy]: readonly [number, number], unit = grid): readonly [number, number] {
  const snap = (v: number) => Math.round(v / grid) * grid;
  return [snap(x + dx * unit), snap(y + dy * unit)];
}

const arrows: Record<string, readonly [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
