// Form controls by kind of field. A control shows a value and emits another; it
// knows no YAML text, no commands and no session.

import { el } from '../graph/dom';
import { isRecord } from '../graph/model';
import { activityControl, groupControl, listControl } from './groups';
import { rowsControl } from './rows';
import { durationParts, type Field, type Kind, type Language } from './schema';
import { schemaControl } from './schema-control';
import { suggest, type Completer } from './suggest';
import { blockOf, expressionOf, lineOf, namesOf, valueOf, valueOfBlock } from './values';
import type { Path } from '../graph/model';
import type { Problem } from './problems';
import type { Session } from './session';

/** Emits a new value; undefined = not set. Nothing is emitted while the text is not a value. */
export type Emit = (value: unknown) => void;

/** A value's place in the document, and what is wrong anywhere. */
export interface About {
  session: Session;
  path: Path;
  problems: readonly Problem[];
}

export interface Tools {
  readonly: boolean;
  about(path: Path): About;
  language: Language;
  /** Completion for bare expressions and for templates. */
  expressions: Completer;
  templates: Completer;
  get(path: Path): unknown;
  set(path: Path, value: unknown): void;
  /** Like `set`, and the form is built anew: another set of fields is right now. */
  reshape(path: Path, value: unknown): void;
}

type Control = (field: Field, value: unknown, emit: Emit, tools: Tools, id: string) => HTMLElement;

const controls: Record<Kind, Control> = {
  text: (field, value, emit, tools, id) => (typeof value === 'string' && value.includes('\n') ? controls.lines(field, value, emit, tools, id)
    : line(field, lineOf(value), (t) => emit(t === '' ? undefined : valueOf(t)), tools, id, tools.templates)),
  plain: (field, value, emit, tools, id) => line(field, expressionOf(value), (t) => emit(t === '' ? undefined : t), tools, id, field.expressions ? tools.expressions : null),
  lines: (field, value, emit, tools, id) => area(field, typeof value === 'string' ? value : blockOf(value), (t) => emit(t === '' ? undefined : t), tools, id, tools.templates),
  source: sourceControl,
  expression: (field, value, emit, tools, id) => (isPlainValue(value) ? line(field, expressionOf(value), (t) => emit(t === '' ? undefined : t), tools, id, tools.expressions)
    : valueControl(field, value, emit, tools, id)),
  number: (field, value, emit, tools, id) => line(field, lineOf(value), (t) => emit(t === '' ? undefined : valueOf(t)), tools, id, tools.expressions),
  duration: durationControl,
  flag: flagControl,
  choice: choiceControl,
  choices: choicesControl,
  names: namesControl,
  map: (field, value, emit, tools, id) => rowsOf(field, value, emit, tools, id, { show: lineOf, read: valueOf }, tools.templates),
  expressions: (field, value, emit, tools, id) => rowsOf(field, value, emit, tools, id, { show: expressionOf, read: (t) => t }, tools.expressions),
  value: valueControl,
  schema: (field, value, emit, tools, id) => schemaControl(value, emit, tools.readonly, id) ?? valueControl(field, value, emit, tools, id),
  group: (field, value, emit, tools, id) => (value === undefined || isRecord(value) || typeof value === 'number' ? groupControl(field, value, tools) : valueControl(field, value, emit, tools, id)),
  rows: tableControl,
  list: (field, value, emit, tools, id) => (value === undefined || (Array.isArray(value) && value.every(isRecord)) ? listControl(field, (value ?? []) as unknown[], tools) : valueControl(field, value, emit, tools, id)),
  activity: (field, value, emit, tools, id) => (value === undefined || isRecord(value) ? activityControl(field, value, tools) : valueControl(field, value, emit, tools, id)),
};

let ids = 0;

/** A labelled control with its hint and room for a message. */
export function control(field: Field, tools: Tools): HTMLElement {
  const id = `field-${++ids}`;
  const write = field.governs ? tools.reshape : tools.set;
  const input = controls[field.kind](field, tools.get(field.path), (value) => write(field.path, value), tools, id);
  const isGroup = input.getAttribute('role') === 'group';
  const framed = input instanceof HTMLDetailsElement; // says its name itself
  const label = framed ? null : isGroup ? el('span', { class: 'ds-label', id: `${id}-label` }, field.label) : el('label', { class: 'ds-label', for: id }, field.label);
  if (isGroup && !framed) input.setAttribute('aria-labelledby', `${id}-label`);
  if (field.required && label) label.append(el('span', { class: 'ds-required', title: 'Required', 'aria-hidden': 'true' }, ' *'));
  const wrapper = el('div', { class: `ds-field ds-kind-${field.kind}`, 'data-path': field.path.join('.') }, label, input,
    field.hint && !framed ? el('p', { class: 'ds-hint', id: `${id}-hint` }, field.hint) : null,
    el('p', { class: 'ds-problem', id: `${id}-problem`, hidden: true }));
  if (!isGroup) (wrapper.querySelector(`#${id}`) ?? input).setAttribute('aria-describedby', `${field.hint ? `${id}-hint ` : ''}${id}-problem`);
  return wrapper;
}

/** Shows or takes away a message under a control; what is wrong with unfinished typing stays until it is mended. */
export function showProblem(wrapper: HTMLElement, found: string | null): void {
  const place = wrapper.querySelector<HTMLElement>(':scope > .ds-problem');
  if (!place) return;
  const message = wrapper.dataset.unfinished ?? found;
  place.hidden = message === null;
  place.textContent = message ?? '';
  wrapper.querySelector('input, textarea, select')?.setAttribute('aria-invalid', String(message !== null));
}

function isPlainValue(value: unknown): boolean {
  return value === undefined || typeof value !== 'object' || value === null;
}

/** What a field shows while it is empty: what applies by itself, or an example that says it is one. */
function placeholder(field: Field): string | undefined {
  return field.placeholder && field.example ? `e.g. ${field.placeholder}` : field.placeholder;
}

function line(field: Field, text: string, emit: (text: string) => void, tools: Tools, id: string, completer: Completer | null): HTMLElement {
  const code = field.kind === 'expression';
  const input = el('input', { id, type: 'text', class: code ? 'ds-code-input' : null, placeholder: placeholder(field), autocomplete: 'off', spellcheck: code ? 'false' : null, readonly: tools.readonly });
  input.value = text;
  input.addEventListener('input', () => emit(input.value.trim()));
  if (completer && !tools.readonly) suggest(input, completer);
  return input;
}

function area(field: Field, text: string, emit: (text: string) => void, tools: Tools, id: string, completer: Completer | null = null): HTMLTextAreaElement {
  const rows = (t: string) => Math.min(14, Math.max(2, t.split('\n').length));
  const input = el('textarea', { id, rows: rows(text || (placeholder(field) ?? '')), placeholder: placeholder(field), readonly: tools.readonly });
  input.value = text;
  input.addEventListener('input', () => {
    input.rows = rows(input.value);
    emit(input.value);
  });
  if (completer && !tools.readonly) suggest(input, completer);
  return input;
}

function sourceControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const input = area(field, typeof value === 'string' ? value : blockOf(value), (t) => emit(t === '' ? undefined : t), tools, id);
  input.classList.add('ds-code-input');
  input.rows = Math.max(6, input.rows);
  input.spellcheck = false;
  input.wrap = 'off';
  const language = field.path.at(-1) === 'query' ? 'sql' : String(tools.get([...field.path.slice(0, -1), 'language']));
  input.addEventListener('focus', () => void import('./code').then(({ dress }) => dress(input, language, () => tools.about(field.path))), { once: true });
  return input;
}

function flagControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const standard = field.choices !== undefined; // on by itself
  const input = el('input', { id, type: 'checkbox', disabled: tools.readonly });
  input.checked = typeof value === 'boolean' ? value : standard;
  input.addEventListener('change', () => emit(input.checked === standard ? undefined : input.checked));
  return input;
}

const units: Record<string, string> = { ms: 'ms', s: 'seconds', m: 'minutes', h: 'hours', d: 'days', w: 'weeks' };

/** A number with its unit. What is no plain duration (1h30m, an instant, an expression) is written as it is. */
function durationControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const text = lineOf(value);
  const [given, usual] = [durationParts(text), durationParts(field.placeholder ?? '')];
  const shown = usual ? { ...field, placeholder: usual.amount } : field;
  const unit = el('select', { 'aria-label': `${field.label}: unit`, disabled: tools.readonly }, ...Object.entries(units).map(([u, words]) => el('option', { value: u }, words)));
  unit.value = given?.unit ?? usual?.unit ?? 's';
  const put = (written: string) => {
    const plain = durationParts(written);
    if (plain) unit.value = plain.unit;
    const bare = /^\d+(\.\d+)?$/.test(written);
    unit.hidden = written !== '' && !plain && !bare;
    emit(written === '' ? undefined : bare ? written + unit.value : written);
  };
  const amount = line(shown, given?.amount ?? text, put, tools, id, field.expressions ? tools.expressions : null) as HTMLInputElement;
  unit.hidden = text !== '' && !given;
  amount.addEventListener('change', () => (amount.value = durationParts(amount.value)?.amount ?? amount.value));
  unit.addEventListener('change', () => amount.value.trim() !== '' && put(amount.value.trim()));
  return el('div', { class: 'ds-duration' }, amount, unit);
}

function choiceControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const choices = [...(field.choices ?? [])];
  const current = value === undefined ? (choices[0] ?? '') : String(value);
  if (!choices.includes(current)) choices.push(current);
  const nothing = field.placeholder && !choices.includes(field.placeholder) ? field.placeholder : field.required ? 'choose …' : 'not set';
  const select = el('select', { id, disabled: tools.readonly }, ...choices.map((c) => el('option', { value: c }, c === '' ? nothing : (choiceWords[c] ?? c))));
  select.value = current;
  select.addEventListener('change', () => emit(select.value === '' ? undefined : (booleans[select.value] ?? select.value)));
  return select;
}

const choiceWords: Record<string, string> = { true: 'yes', false: 'no' };
const booleans: Record<string, boolean> = { true: true, false: false };

function choicesControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const chosen = new Set(Array.isArray(value) ? (value as unknown[]) : []);
  if (value !== undefined && !Array.isArray(value)) return valueControl(field, value, emit, tools, id);
  const boxes = (field.choices ?? []).map((choice) => {
    const box = el('input', { type: 'checkbox', disabled: tools.readonly, value: choice });
    box.checked = chosen.has(choice);
    return box;
  });
  const group = el('div', { class: 'ds-checks', role: 'group', id }, ...boxes.map((box) => el('label', { class: 'ds-check' }, box, box.value)));
  group.addEventListener('change', () => {
    const now = boxes.filter((b) => b.checked).map((b) => b.value);
    emit(now.length > 0 ? now : undefined);
  });
  return group;
}

/** A list in one line; a single text that is no list, which may be an expression, stays one. */
function namesControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  if (typeof value === 'string') return line({ ...field, kind: 'expression' }, value, (t) => emit(t === '' ? undefined : t), tools, id, tools.expressions);
  const list = Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value];
  const simple = list.every((v) => (typeof v === 'string' && !v.includes(',')) || typeof v === 'number');
  if (!simple) return valueControl(field, value, emit, tools, id);
  const read = (name: string): unknown => (list.some((v) => typeof v === 'number') || field.path.at(-1) === 'status' ? valueOf(name) : name);
  return line(field, list.join(', '), (t) => emit(namesOf(t).length > 0 ? namesOf(t).map(read) : undefined), tools, id, null);
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
  }, tools, id, tools.templates);
  input.classList.add('ds-code-input');
  input.spellcheck = false;
  input.placeholder ||= 'YAML';
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

/** A table of two columns; a list whose items hold more is shown as cards. */
function tableControl(field: Field, value: unknown, emit: Emit, tools: Tools, id: string): HTMLElement {
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const [first, second] = field.item!(0) as [Field, Field];
  const keys = [first, second].map((f) => String(f.path.at(-1))) as [string, string];
  if (value !== undefined && !(Array.isArray(value) && items.every(isRecord))) return valueControl(field, value, emit, tools, id);
  if (items.some((item) => Object.keys(item as object).some((key) => !keys.includes(key)))) return listControl(field, items, tools);
  const rows = items.map((item) => keys.map((key) => expressionOf((item as Record<string, unknown>)[key])));
  return rowsControl({
    rows, readonly: tools.readonly, add: 'Add', sortable: true, stacked: true,
    columns: [{ label: first.label }, { label: second.label, code: true, completer: tools.expressions }],
    changed: (now) => {
      const kept = now.filter(([name]) => name);
      emit(kept.length > 0 ? kept.map(([a, b]) => ({ [keys[0]]: a, [keys[1]]: b })) : undefined);
    },
  });
}
