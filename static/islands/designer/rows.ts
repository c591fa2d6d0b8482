// A small table of text inputs with add, remove and, where order matters, move up.

import { el } from '../graph/dom';
import { suggest, type Completer } from './suggest';

export interface Column {
  label: string;
  code?: boolean;
  completer?: Completer;
}

export interface RowsOptions {
  rows: string[][];
  columns: Column[];
  /** Words of the button that adds a row. */
  add: string;
  sortable?: boolean;
  /** The second column below the first: it holds long texts. */
  stacked?: boolean;
  readonly: boolean;
  changed(rows: string[][]): void;
}

export function rowsControl(options: RowsOptions): HTMLElement {
  const body = el('div', { class: 'ds-rows-body' });
  const group = el('div', { class: options.stacked ? 'ds-rows ds-stacked' : 'ds-rows', role: 'group' }, body);
  const lines = () => [...body.children] as HTMLElement[];
  const emit = () => options.changed(lines().map((l) => [...l.querySelectorAll('input')].map((i) => i.value.trim())));

  const addRow = (values: string[]): HTMLElement => {
    const inputs = options.columns.map((column, i) => cell(column, values[i] ?? '', options.readonly, emit));
    const row = el('div', { class: 'ds-row' }, ...inputs);
    if (!options.readonly) row.append(...buttons(row));
    body.append(row);
    return row;
  };

  const buttons = (row: HTMLElement): HTMLElement[] => {
    const up = el('button', { type: 'button', class: 'ds-icon', 'aria-label': 'Move up', title: 'Move up', onclick: () => {
      row.previousElementSibling?.before(row);
      emit();
    } }, '↑');
    const remove = el('button', { type: 'button', class: 'ds-icon', 'aria-label': 'Remove', title: 'Remove', onclick: () => {
      const next = (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('input') ?? group.querySelector<HTMLElement>('.ds-add');
      row.remove();
      next?.focus();
      emit();
    } }, '×');
    return options.sortable ? [up, remove] : [remove];
  };

  for (const row of options.rows) addRow(row);
  if (!options.readonly) {
    group.append(el('button', { type: 'button', class: 'ds-add', onclick: () => addRow([]).querySelector('input')!.focus() }, `+ ${options.add}`));
  }
  return group;
}

function cell(column: Column, value: string, readonly: boolean, changed: () => void): HTMLElement {
  const input = el('input', { type: 'text', 'aria-label': column.label, placeholder: column.label.toLowerCase(), class: column.code ? 'ds-code-input' : null, autocomplete: 'off', readonly });
  input.value = value;
  input.addEventListener('input', changed);
  const box = el('div', { class: 'ds-cell' }, input);
  if (column.completer && !readonly) suggest(input, column.completer);
  return box;
}
