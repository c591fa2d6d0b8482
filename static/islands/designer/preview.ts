// What an expression gives, under its field while it is written: computed by the
// server on a past execution or on what is pinned.

import { el } from '../graph/dom';
import type { Pins } from './pins';
import type { Evaluated, Server } from './server';
import type { Session } from './session';
import { blockOf, lineOf } from './values';

const evaluateAfter = 300; // ms without a key
const longest = 240; // characters of a value in one line

type Field = HTMLInputElement | HTMLTextAreaElement;

export class Preview {
  private readonly words = el('output', { class: 'ds-preview-words' });
  private readonly source = el('select', { 'aria-label': 'Preview with' }, el('option', { value: 'off' }, 'no preview'), el('option', { value: 'pins' }, 'data pinned in Try out'));
  private readonly element = el('div', { class: 'ds-preview' }, this.words, this.source);
  private field: Field | null = null;
  private pressed = false;
  private listed = false;
  private never = false;
  /** Somebody chose what to preview with. */
  private chosen = false;
  private timer = 0;
  private asked = 0;

  constructor(
    private readonly session: Session,
    private readonly server: Server,
    private readonly pins: Pins,
    form: HTMLElement,
  ) {
    form.addEventListener('focusin', (e) => void this.look(e.target));
    form.addEventListener('input', (e) => e.target === this.field && this.soon());
    form.addEventListener('pointerdown', () => (this.pressed = true), { capture: true });
    form.addEventListener('pointerup', () => (this.pressed = false));
    form.addEventListener('pointercancel', () => (this.pressed = false));
    this.source.addEventListener('change', () => ((this.chosen = true), void this.evaluate()));
  }

  /** Follows the keyboard from field to field. */
  async look(target: EventTarget | null): Promise<void> {
    if (!(target instanceof HTMLElement) || this.element.contains(target)) return;
    const field = isExpression(target) ? target : null;
    if (field === this.field && this.element.isConnected) return;
    this.field = field;
    if (field) await this.list();
    await this.released();
    if (this.field !== field) return;
    this.element.remove();
    if (!field?.isConnected) return;
    (field.closest('.ds-rows') ?? field).after(this.element);
    void this.evaluate();
  }

  /** Nothing moves under a pressed pointer: a click would end elsewhere than it began. */
  private released(): Promise<void> {
    if (!this.pressed) return Promise.resolve();
    return new Promise((resolve) => addEventListener('pointerup', () => setTimeout(resolve), { once: true, capture: true }));
  }

  /** The newest execution is the first choice; without one, what is pinned. */
  private async list(): Promise<void> {
    if (this.listed) return;
    this.listed = true;
    const executions = await this.server.executions();
    this.source.append(...executions.map((e) => el('option', { value: e.id }, `execution of ${new Date(e.startedAt).toLocaleString()}`)));
    this.source.value = executions[0]?.id ?? (this.pins.empty ? 'off' : 'pins');
    this.never = executions.length === 0;
  }

  /** Why there is no value, and what would give one. */
  private reason(): string {
    if (this.source.value !== 'off' || this.chosen) return '';
    return `No value to show: ${this.never ? 'this workflow has never run' : 'no execution is chosen'}. Give an input under Try out, and choose the data pinned there.`;
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.evaluate(), evaluateAfter);
  }

  private async evaluate(): Promise<void> {
    const { field } = this;
    const ask = ++this.asked;
    const template = field?.dataset.expression === 'template';
    const expression = field?.value.trim() ?? '';
    if (!field || expression === '' || (template && !expression.includes('${{'))) return this.show('', false);
    if (!this.chosen && this.never && this.source.value === 'off' && !this.pins.empty) this.source.value = 'pins'; // pinned meanwhile
    if (this.source.value === 'off') return this.show(this.reason(), false);
    const activity = this.session.focus?.key ?? '';
    const basis = this.source.value === 'pins' ? this.pinned() : { execution: this.source.value };
    if (typeof basis === 'string') return this.show(basis, true);
    const answer = await this.server.evaluate({ expression, template, activity, ...basis });
    if (ask !== this.asked || field !== this.field) return; // a newer one is on its way
    if ('refused' in answer) return this.show(answer.refused, true);
    this.show(wordsOf(answer), answer.error !== undefined);
  }

  private pinned(): object | string {
    const given = this.pins.given((id) => this.session.node(id) !== undefined);
    return typeof given === 'string' ? given : { definition: this.session.text, ...given };
  }

  private show(words: string, failed: boolean): void {
    this.words.textContent = words;
    this.words.dataset.failed = String(failed);
    this.words.hidden = words === '';
  }
}

/** Fields that are completed as expressions. */
function isExpression(target: HTMLElement): target is Field {
  return (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && target.dataset.expression !== undefined && !target.readOnly;
}

function wordsOf({ value, kind, truncated, error }: Evaluated): string {
  if (error) return `${error.line ? `${error.line}:${error.column} ` : ''}${error.message}`;
  const text = kind === 'list' || kind === 'object' ? lineOf(value) : kind === 'text' && !truncated ? JSON.stringify(value) : typeof value === 'string' ? value : blockOf(value);
  return `= ${text.length > longest ? `${text.slice(0, longest)} …` : text}`;
}
