// Form controls by kind of field. A control shows a value and emits another; it
// knows no YAML text, no commands and no session.

import { el } from '../graph/dom';
import { isRecord } from '../graph/model';
import type { Field, Kind } from './fields';
import { rowsControl } from './rows';
import { schemaControl } from './schema-control';
import { suggest, type Completer } from './suggest';
import { blockOf, expressionOf, lineOf, namesOf, valueOf, valueOfBlock } from './values';

/** Emits a new value; undefined = not set. Nothing is emitted while the text is not a value. */
export type Emit = (value: unknown) => void;

export interface Tools {
  readonly: boolean;
  /** Completion for bare expressions and for templates. */
  expressions: Completer;
  templates: Completer;
}

type Control = (field: Field, value: unknown, emit: Emit, tools: Tools, id: string) => HTMLElement;

const controls: Record<Kind, Control> = {
  text: (field, value, emit, tools, id) => line(field, lineOf(value), (t) => emit(t === '' ? undefined : valueOf(t)), tools, id, tools.templates),
  lines: (field, value, emit, tools, id) => area(field, typeof value === 'string' ? value : blockOf(value), (t) => emit(t === '' ? undefined : t), tools, id),
  expression: (field, value, emit, tools, id) => line(field, expressionOf(value), (t) => emit(t === '' ? undefined : t), tools, id, tools.expressions),
  duration: (field, value, emit, tools, id) => line(field, lineOf(value), (t) => emit(t === '' ? undefined : t), tools, id, null),
  number: numberControl,
  flag: flagControl,
  choice: choiceControl,
  names: namesControl,
  map: (field, value, emit, tools, id) => rowsOf(field, value, emit, tools, id, { show: lineOf, read: valueOf }, tools.templates),
  expressions: (field, value, emit, tools, id) => rowsOf(field, value, emit, tools, id, { show: expressionOf, read: (t) => t }, tools.expressions),
  value: valueControl,
  cases: casesControl,
  schema: (field, value, emit, tools, id) => schemaControl(value, emit, tools.readonly, id) ?? valueControl(field, value, emit, tools, id),
};

let ids = 0;

/** A labelled control with its hint and room for a message. */
export function control(field: Field, value: unknown, emit: Emit, tools: Tools): HTMLElement {
  const id = `field-${++ids}`;
  const input = controls[field.kind](field, value, emit, tools, id);
  const isGroup = input.getAttribute('role') === 'group';
  const label = isGroup ? el('span', { class: 'ds-label', id: `${id}-label` }, field.label) : el('label', { class: 'ds-label', for: id }, field.label);
  if (isGroup) input.setAttribute('aria-labelledby', `${id}-label`);
  const wrapper = el('div', { class: `ds-field ds-kind-${field.kind}`, 'data-path': field.path.join('.') }, label, input,
    field.hint ? el('p', { class: 'ds-hint', id: `${id}-hint` }, field.hint) : null,
    el('p', { class: 'ds-problem', id: `${id}-problem`, hidden: true }));
  if (!isGroup) input.setAttribute('aria-describedby', `${field.hint ? `${id}-hint ` : ''}${id}-problem`);
  return wrapper;
}

/** Shows or takes away a message under a control; what is wrong with unfinished typing stays until it is mended. */
export function showProblem(wrapper: HTMLElement, found: string | null): void {
  const place = wrapper.querySelector<HTMLElement>('.ds-problem');
  if (!place) return;
  const message = wrapper.dataset.unfinished ?? found;
  place.hidden = message === null;
  place.textContent = message ?? '';
  wrapper.querySelector('input, textarea, select')?.setAttribute('aria-invalid', String(message !== null));
}

function line(field: Field, text: string, emit: (text: string) => void, tools: Tools, id: string, completer: Completer | null): HTMLElement {
  const code = field.kind === 'expression';
  const input = el('input', { id, type: 'text', class: code ? 'ds-code-input' : null, placeholder: field.placeholder, autocomplete: 'off', spellcheck: code ? 'false' : null, readonly: tools.readonly });
  input.value = text;
  input.addEventListener('input', () => emit(input.value.trim()));
  if (completer && !tools.readonly) suggest(input, completer);
  return input;
}

function area(field: Field, text: string, emit: (text: string) => void, tools: Tools, id: string): HTMLTextAreaElement {
  const input = el('textarea', { id, rows: Math.min(12, Math.max(2, text.split('\n').length)), placeholder: field.placeholder, readonly: tools.readonly });
  input.value = text;
  input.addEventListener('input', () => {
    input.rows = Math.min(12, Math.max(2, input.value.split('\n').length));
    emit(input.value);
  });
  return input;
}

function numberControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  // An expression is allowed where a number is, so this is no number input.
  return line(field, lineOf(value), (t) => emit(t === '' ? undefined : valueOf(t)), tools, id, null);
}

function flagControl(_: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const input = el('input', { id, type: 'checkbox', disabled: tools.readonly });
  input.checked = value === true;
  input.addEventListener('change', () => emit(input.checked ? true : undefined));
  return input;
}

function choiceControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const choices = [...(field.choices ?? [])];
  const current = value === undefined ? (choices[0] ?? '') : String(value);
  if (!choices.includes(current)) choices.push(current);
  const select = el('select', { id, disabled: tools.readonly }, ...choices.map((c) => el('option', { value: c }, choiceWords[c] ?? c)));
  select.value = current;
  select.addEventListener('change', () => emit(select.value === '' ? undefined : (booleans[select.value] ?? select.value)));
  return select;
}

const choiceWords: Record<string, string> = { '': 'as the strategy says', true: 'yes', false: 'no' };
const booleans: Record<string, boolean> = { true: true, false: false };

function namesControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const list = Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value];
  const simple = list.every((v) => typeof v === 'string' && !v.includes(','));
  if (!simple) return valueControl(field, value, emit, tools, id);
  return line(field, list.join(', '), (t) => emit(namesOf(t).length > 0 ? namesOf(t) : undefined), tools, id, null);
}

function valueControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const input = area(field, blockOf(value), (text) => {
    const wrapper = input.closest<HTMLElement>('.ds-field')!;
    delete wrapper.dataset.unfinished;
    try {
      emit(valueOfBlock(text));
    } catch (e) {
      wrapper.dataset.unfinished = `Not taken over yet: ${(e as Error).message}`;
    }
    showProblem(wrapper, null);
  }, tools, id);
  input.classList.add('ds-code-input');
  input.spellcheck = false;
  return input;
}

function rowsOf(field: Field, value: unknown, emit: Emit, tools: Tools, id: string, words: { show(value: unknown): string; read(text: string): unknown }, completer: Completer): HTMLElement {
  if (value !== undefined && !isRecord(value)) return valueControl(field, value, emit, tools, id);
  const rows = Object.entries(value ?? {}).map(([name, v]) => [name, words.show(v)]);
  return rowsControl({
    rows, readonly: tools.readonly, add: 'Add', columns: [{ label: 'Name' }, { label: 'Value', code: true, completer }],
    changed: (now) => {
      const entries = now.filter(([name]) => name).map(([name, text]) => [name!, words.read(text!)] as const);
      emit(entries.length > 0 ? Object.fromEntries(entries) : undefined);
    },
  });
}

function casesControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const cases = Array.isArray(value) ? (value as unknown[]) : [];
  if (!cases.every(isRecord)) return valueControl(field, value, emit, tools, id);
  const rows = cases.map((c) => [lineOf(c.name), expressionOf(c.when)]);
  return rowsControl({
    rows, readonly: tools.readonly, add: 'Add a case', sortable: true, columns: [{ label: 'Port' }, { label: 'When', code: true, completer: tools.expressions }],
    changed: (now) => {
      const kept = now.filter(([name]) => name);
      emit(kept.length > 0 ? kept.map(([name, when]) => ({ name, when })) : undefined);
    },
  });
}
