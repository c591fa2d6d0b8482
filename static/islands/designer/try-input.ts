// The input to try a workflow out with: the form that starts it, made by the server of
// the text being worked on, or the same input as YAML where somebody prefers that or
// the text has no readable schema.

import { el } from '../graph/dom';
import type { TryForm } from './server';

export interface TryInputHooks {
  /** The form for a value, or for what was typed. */
  ask(fields: FormData): Promise<TryForm | { refused: string }>;
  /** The input as YAML, as it was given last. */
  text(): string;
  /** Somebody changed the input; sensitive values must not be kept. */
  changed(input: unknown, sensitive: boolean): void;
  /** Somebody changed the YAML. */
  written(text: string): void;
}

export class TryInput {
  private readonly form = el('form', { class: 'ds-try-form', novalidate: true, 'aria-label': 'Input' });
  private readonly yaml = el('textarea', { class: 'ds-code-input', id: 'ds-test-input', rows: 5, spellcheck: 'false', placeholder: 'e.g. amount: 5' });
  private readonly written = el('div', { hidden: true }, el('label', { class: 'ds-label', for: 'ds-test-input' }, 'Input (YAML)'), this.yaml);
  private readonly swap = el('button', { type: 'button', class: 'ds-link', onclick: () => void this.change() }, 'Write it as YAML');
  readonly element = el('div', { class: 'ds-try-input' }, this.form, this.written, this.swap);
  private asked = 0;
  /** A question whose answer is to be drawn was overtaken: the next answer is drawn in its place. */
  private owed = false;

  constructor(private readonly hooks: TryInputHooks) {
    this.yaml.addEventListener('input', () => hooks.written(this.yaml.value));
    this.form.addEventListener('submit', (e) => {
      e.preventDefault();
      const button = (e as SubmitEvent).submitter;
      if (button instanceof HTMLButtonElement && button.name) void this.send({ [button.name]: button.value }, true);
    });
    this.form.addEventListener('input', (e) => !isFile(e.target) && void this.send({}, false));
    this.form.addEventListener('change', (e) => isFile(e.target) && void this.send({}, true));
  }

  get asYaml(): boolean {
    return !this.written.hidden;
  }

  /** Fills the form with a value; null = with examples and defaults. Answers whether a start would take it. */
  async fill(value: unknown): Promise<boolean> {
    const fields = new FormData();
    fields.set('_input', JSON.stringify(value ?? null));
    const answer = await this.ask(fields);
    if (!answer) return false;
    if ('refused' in answer) return this.fallBack();
    this.show(answer);
    this.hooks.changed(answer.input, answer.sensitive);
    return answer.complete;
  }

  /** Whether the input is complete; with `show` the person is told what is not. */
  async check(show: boolean): Promise<boolean> {
    if (this.asYaml) return true; // the plan says what it does not take
    return this.send(show ? { _show: '1' } : {}, show);
  }

  private async send(beside: Record<string, string>, redraw: boolean): Promise<boolean> {
    this.owed ||= redraw;
    const fields = new FormData(this.form);
    for (const [name, value] of Object.entries(beside)) fields.set(name, value);
    const answer = await this.ask(fields);
    if (!answer || 'refused' in answer) return answer ? this.fallBack() : false;
    if (this.owed) this.show(answer);
    this.hooks.changed(answer.input, answer.sensitive);
    return answer.complete;
  }

  /** Null when a newer question is on its way. */
  private async ask(fields: FormData): Promise<TryForm | { refused: string } | null> {
    const ask = ++this.asked;
    const answer = await this.hooks.ask(fields);
    return ask === this.asked ? answer : null;
  }

  private show(answer: TryForm): void {
    this.owed = false;
    const at = this.form.contains(document.activeElement) ? document.activeElement?.id : undefined;
    const page = new DOMParser().parseFromString(answer.html, 'text/html');
    const none = el('p', { class: 'ds-quiet' }, 'This workflow needs no input. What a start must give is said in its settings.');
    this.form.replaceChildren(...(answer.fields === 0 ? [none] : page.body.childNodes));
    const found = this.form.querySelector<HTMLElement>('[aria-invalid="true"]');
    (found ?? (at ? document.getElementById(at) : null))?.focus();
  }

  /** From the form to YAML and back, with what was given. */
  private async change(): Promise<void> {
    const asYaml = !this.asYaml;
    this.place(asYaml);
    if (asYaml) this.yaml.value = this.hooks.text();
    else this.hooks.written(this.yaml.value); // who listens fills the form with it
    this.element.querySelector<HTMLElement>(asYaml ? 'textarea' : 'input, select, textarea')?.focus();
  }

  private fallBack(): boolean {
    this.place(true);
    if (this.yaml !== document.activeElement) this.yaml.value = this.hooks.text();
    return true;
  }

  private place(asYaml: boolean): void {
    this.written.hidden = !asYaml;
    this.form.hidden = asYaml;
    this.swap.textContent = asYaml ? 'Fill it in as a form' : 'Write it as YAML';
  }
}

function isFile(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === 'file';
}
