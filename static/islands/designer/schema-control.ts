// Builds the JSON Schema of an object by rows: name, type, required, and below each
// what its type can say. What it does not show of a property it keeps.

import { el } from '../graph/dom';
import { isRecord, isText } from '../graph/model';
import { lineOf, namesOf, valueOf } from './values';

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
    const retype = row.querySelector('select')!;
    let finer = more(property, readonly, changed);
    row.append(finer);
    retype.addEventListener('change', () => {
      const fresh = more(property, readonly, changed);
      fresh.open = finer.open;
      finer.replaceWith(fresh);
      finer = fresh;
    });
    if (!readonly) {
      row.querySelector('.ds-check')!.after(el('button', { type: 'button', class: 'ds-icon', 'aria-label': `Move ${property.name || 'field'} up`, title: 'Move up', onclick: () => {
        const at = properties.indexOf(property);
        if (at === 0) return;
        properties.splice(at - 1, 2, property, properties[at - 1]!);
        row.previousElementSibling?.before(row);
        changed();
      } }, '↑'), el('button', { type: 'button', class: 'ds-icon', 'aria-label': `Remove ${property.name || 'field'}`, title: 'Remove', onclick: () => {
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
  type.value = typeOf(property.schema);
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

interface Detail {
  key: string;
  label: string;
  /** The types of properties that it says something of; all without. */
  types?: readonly string[];
  /** Fixed words to choose from. */
  words?: Record<string, string>;
  example?: string;
  wide?: boolean;
  read(text: string, schema: Schema): unknown;
}

const numbers = ['integer', 'number'];

/** What a person filling in the form sees and may give; the keys of JSON Schema behind it. */
const details: readonly Detail[] = [
  { key: 'title', label: 'Label', read: text },
  { key: 'default', label: 'Default', types: ['string', 'integer', 'number', 'boolean', 'choice', 'array'], read: (t, schema) => (schema.type === 'string' ? text(t) : t === '' ? undefined : valueOf(t)) },
  { key: 'description', label: 'Help', wide: true, read: text },
  { key: 'minimum', label: 'Least', types: numbers, read: number },
  { key: 'maximum', label: 'Most', types: numbers, read: number },
  { key: 'minLength', label: 'Shortest', types: ['string'], read: number },
  { key: 'maxLength', label: 'Longest', types: ['string'], read: number },
  { key: 'minItems', label: 'Fewest entries', types: ['array'], read: number },
  { key: 'maxItems', label: 'Most entries', types: ['array'], read: number },
  { key: 'format', label: 'Kind of text', types: ['string'], words: { '': 'any', date: 'date', 'date-time': 'date and time', time: 'time', email: 'mail address', uri: 'address (URL)', uuid: 'UUID', multiline: 'several lines' }, read: text },
  { key: 'pattern', label: 'Pattern', types: ['string'], example: '^A[0-9]+$', read: text },
];

/** What a file field takes; both stand in `x-file`. */
const fileDetails: readonly Detail[] = [
  { key: 'accept', label: 'Types of file', example: 'application/pdf, image/*', wide: true, read: (t) => (t === '' ? undefined : namesOf(t)) },
  { key: 'maxSize', label: 'Largest', example: '10MiB', read: text },
];

function typeOf(schema: Schema): string {
  return schema.enum ? 'choice' : 'x-file' in schema ? 'file' : String(schema.type);
}

/** The finer points of one property, folded away until one is set. */
function more(property: Property, readonly: boolean, changed: () => void): HTMLDetailsElement {
  const put = (key: string, value: unknown) => {
    const { [key]: _, ...rest } = property.schema;
    property.schema = value === undefined ? rest : { ...rest, [key]: value };
    changed();
  };
  const type = typeOf(property.schema);
  const shown = details.filter((d) => !d.types || d.types.includes(type) || property.schema[d.key] !== undefined);
  const inputs = shown.map((d) => detailField(d, property.schema[d.key], readonly, (t) => put(d.key, d.read(t, property.schema))));
  if (type === 'file') inputs.push(...fileFields(property, readonly, put));
  const secret = el('input', { type: 'checkbox', disabled: readonly });
  secret.checked = property.schema['x-sensitive'] === true;
  secret.addEventListener('change', () => put('x-sensitive', secret.checked || undefined));
  const used = details.some((d) => property.schema[d.key] !== undefined) || secret.checked;
  return el('details', { class: 'ds-finer-box', open: used }, el('summary', {}, 'More about this field'),
    el('div', { class: 'ds-finer-grid' }, ...inputs, el('label', { class: 'ds-check' }, secret, 'sensitive: encrypted and masked')));
}

/** `x-file: true` takes any file; with a rule it is an object. */
function fileFields(property: Property, readonly: boolean, put: (key: string, value: unknown) => void): HTMLElement[] {
  return fileDetails.map((d) => {
    const rule = () => (isRecord(property.schema['x-file']) ? property.schema['x-file'] : {});
    return detailField(d, rule()[d.key], readonly, (t) => {
      const { [d.key]: _, ...rest } = rule();
      const value = d.read(t, property.schema);
      const next = value === undefined ? rest : { ...rest, [d.key]: value };
      put('x-file', Object.keys(next).length > 0 ? next : true);
    });
  });
}

function detailField(d: Detail, value: unknown, readonly: boolean, changed: (text: string) => void): HTMLElement {
  const shown = value === undefined ? '' : Array.isArray(value) && d.key === 'accept' ? value.join(', ') : lineOf(value);
  const words = d.words && (shown in d.words ? d.words : { ...d.words, [shown]: shown });
  const input = words
    ? el('select', { 'aria-label': d.label, disabled: readonly }, ...Object.entries(words).map(([v, w]) => el('option', { value: v }, w)))
    : el('input', { type: 'text', 'aria-label': d.label, placeholder: d.example ? `e.g. ${d.example}` : null, autocomplete: 'off', readonly });
  input.value = shown;
  input.addEventListener('input', () => changed(input.value.trim()));
  return el('label', { class: d.wide ? 'ds-finer ds-wide' : 'ds-finer' }, d.label, input);
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
