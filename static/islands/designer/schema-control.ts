// Builds the JSON Schema of an object by rows: name, type, required. What it does
// not show of a property (title, limits, …) it keeps.

import { el } from '../graph/dom';
import { isRecord, isText } from '../graph/model';
import { namesOf, valueOf } from './values';

type Schema = Record<string, unknown>;

const types: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  choice: 'choice',
  array: 'list',
  object: 'object',
  file: 'file',
};

interface Property {
  name: string;
  required: boolean;
  schema: Schema;
}

/** A control for an object schema; null if it says more than rows can show. */
export function schemaControl(value: unknown, emit: (value: unknown) => void, readonly: boolean, id: string): HTMLElement | null {
  const properties = readProperties(value);
  if (!properties) return null;
  const base: Schema = isRecord(value) ? value : { type: 'object', additionalProperties: false };
  const body = el('div', { class: 'ds-rows-body' });
  const group = el('div', { class: 'ds-rows ds-schema', role: 'group', id }, body);
  const changed = () => emit(writeSchema(base, properties));

  const addRow = (property: Property): HTMLElement => {
    const row = el('div', { class: 'ds-row' }, ...cells(property, readonly, changed));
    row.append(more(property, readonly, changed));
    if (!readonly) {
      row.querySelector('.ds-check')!.after(el('button', { type: 'button', class: 'ds-icon', 'aria-label': `Remove ${property.name || 'field'}`, title: 'Remove', onclick: () => {
        properties.splice(properties.indexOf(property), 1);
        row.remove();
        changed();
      } }, '×'));
    }
    body.append(row);
    return row;
  };

  properties.forEach(addRow);
  if (!readonly) {
    group.append(el('button', { type: 'button', class: 'ds-add', onclick: () => {
      const property = { name: '', required: true, schema: { type: 'string' } };
      properties.push(property);
      addRow(property).querySelector('input')!.focus();
    } }, '+ Add a field'));
  }
  return group;
}

function cells(property: Property, readonly: boolean, changed: () => void): HTMLElement[] {
  const name = el('input', { type: 'text', 'aria-label': 'Name', placeholder: 'name', autocomplete: 'off', readonly });
  name.value = property.name;
  name.addEventListener('input', () => ((property.name = name.value.trim()), changed()));

  const choices = el('input', { type: 'text', class: 'ds-choices', 'aria-label': 'Choices', placeholder: 'small, large', autocomplete: 'off', readonly });
  choices.value = Array.isArray(property.schema.enum) ? property.schema.enum.join(', ') : '';
  choices.hidden = !property.schema.enum;
  choices.addEventListener('input', () => ((property.schema = { ...property.schema, enum: namesOf(choices.value) }), changed()));

  const type = el('select', { 'aria-label': 'Type', disabled: readonly }, ...Object.entries(types).map(([k, words]) => el('option', { value: k }, words)));
  type.value = property.schema.enum ? 'choice' : 'x-file' in property.schema ? 'file' : String(property.schema.type);
  type.addEventListener('change', () => {
    choices.hidden = type.value !== 'choice';
    property.schema = retyped(property.schema, type.value, namesOf(choices.value));
    changed();
  });

  const required = el('input', { type: 'checkbox', disabled: readonly });
  required.checked = property.required;
  required.addEventListener('change', () => ((property.required = required.checked), changed()));
  return [el('div', { class: 'ds-cell' }, name), el('div', { class: 'ds-cell' }, type), el('label', { class: 'ds-check' }, required, 'required'), choices];
}

/** What a person filling in the form sees and may give; the keys of JSON Schema behind it. */
const details: readonly (readonly [key: string, label: string, read: (text: string, schema: Schema) => unknown])[] = [
  ['title', 'Label', text],
  ['description', 'Help', text],
  ['default', 'Default', (t, schema) => (schema.type === 'string' ? text(t) : t === '' ? undefined : valueOf(t))],
  ['minimum', 'Least', number],
  ['maximum', 'Most', number],
  ['minLength', 'Shortest', number],
  ['maxLength', 'Longest', number],
  ['pattern', 'Pattern', text],
  ['format', 'Format', text],
];

/** The finer points of one property, folded away until one is set. */
function more(property: Property, readonly: boolean, changed: () => void): HTMLElement {
  const put = (key: string, value: unknown) => {
    const { [key]: _, ...rest } = property.schema;
    property.schema = value === undefined ? rest : { ...rest, [key]: value };
    changed();
  };
  const inputs = details.map(([key, label, read]) => {
    const input = el('input', { type: 'text', 'aria-label': label, placeholder: label.toLowerCase(), autocomplete: 'off', readonly });
    input.value = property.schema[key] === undefined ? '' : String(property.schema[key]);
    input.addEventListener('input', () => put(key, read(input.value.trim(), property.schema)));
    return el('label', { class: 'ds-finer' }, label, input);
  });
  const secret = el('input', { type: 'checkbox', disabled: readonly });
  secret.checked = property.schema['x-sensitive'] === true;
  secret.addEventListener('change', () => put('x-sensitive', secret.checked || undefined));
  const used = details.some(([key]) => property.schema[key] !== undefined) || secret.checked;
  return el('details', { class: 'ds-finer-box', open: used }, el('summary', {}, 'More about this field'),
    el('div', { class: 'ds-finer-grid' }, ...inputs, el('label', { class: 'ds-check' }, secret, 'sensitive: encrypted and masked')));
}

function text(value: string): string | undefined {
  return value === '' ? undefined : value;
}

function number(value: string): number | undefined {
  return value === '' || Number.isNaN(Number(value)) ? undefined : Number(value);
}

/** The schema of a field of another type; a file is an object that stands for it. */
export function retyped(schema: Schema, type: string, choices: string[]): Schema {
  const { enum: _, 'x-file': file, ...rest } = schema;
  if (type === 'file') return { ...rest, type: 'object', 'x-file': file ?? true };
  return type === 'choice' ? { ...rest, type: 'string', enum: choices } : { ...rest, type };
}

/** Rows for an object schema; null when it is of another shape. */
export function readProperties(value: unknown): Property[] | null {
  if (value === undefined || value === null) return [];
  if (!isRecord(value) || (value.type !== undefined && value.type !== 'object')) return null;
  if (value.properties !== undefined && !isRecord(value.properties)) return null;
  const required = Array.isArray(value.required) ? value.required : [];
  const list: Property[] = [];
  for (const [name, schema] of Object.entries(value.properties ?? {})) {
    if (!isRecord(schema) || !isText(schema.type) || !(schema.type in types)) return null;
    if (schema.enum !== undefined && !(Array.isArray(schema.enum) && schema.enum.every((v) => typeof v === 'string' && !v.includes(',')))) return null;
    list.push({ name, schema, required: required.includes(name) });
  }
  return list;
}

/** The schema for the rows; unnamed rows are not written yet. */
export function writeSchema(base: Schema, properties: readonly Property[]): Schema | undefined {
  const named = properties.filter((p) => p.name !== '');
  const required = named.filter((p) => p.required).map((p) => p.name);
  const { required: _, properties: __, ...rest } = base;
  if (named.length === 0) return Object.keys(rest).some((k) => k !== 'type' && k !== 'additionalProperties') ? rest : undefined;
  const { type, ...others } = rest;
  return {
    type: type ?? 'object',
    ...(required.length > 0 ? { required } : {}),
    ...others,
    properties: Object.fromEntries(named.map((p) => [p.name, p.schema])),
  };
}
