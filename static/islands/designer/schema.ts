// The language's JSON Schema as the server publishes it, read as fields of forms.
// Pure: no DOM and no server.

import { isRecord, isText, type Path } from '../graph/model';
import { blockOf } from './values';
import { longTexts, mapKeys } from './words';

/**
 * A JSON Schema node; `x-shape` names what a text is, `x-order` the canonical order of keys, `title` the label,
 * `x-seldom` what few people need, `x-types` the activities that a key means something to, `x-with` what a key
 * beside it must be.
 */
export type Schema = Readonly<Record<string, unknown>>;

export type Kind =
  | 'text' // one line; ${{ }} allowed, other YAML values too
  | 'plain' // one line that is always text
  | 'lines' // several lines; ${{ }} allowed
  | 'source' // several lines of another language
  | 'expression' // one bare expression
  | 'number' // a number, or an expression where one is allowed
  | 'duration' // a number with its unit, or whatever else gives a time
  | 'flag'
  | 'choice'
  | 'choices' // any number of fixed words
  | 'names' // list of short texts, comma separated
  | 'map' // key → text or value
  | 'expressions' // key → expression
  | 'value' // any YAML
  | 'schema' // JSON Schema of an object: rows of properties
  | 'group' // an object with known keys
  | 'rows' // a list of objects with two short keys: a table
  | 'list' // a list of objects: cards
  | 'activity'; // an activity inside another: what undoes it

export interface Field {
  path: Path;
  label: string;
  kind: Kind;
  hint?: string;
  /** What applies by itself, or with `example` what one could write. */
  placeholder?: string;
  example?: boolean;
  required: boolean;
  /** Few people need it: folded away until it is set. */
  seldom?: boolean;
  /** The types of activities that it means something to; all without. */
  types?: readonly string[];
  /** It means something only while the key beside it is one of these. */
  with?: { key: string; values: readonly string[] };
  /** Other keys beside it depend on this one. */
  governs?: boolean;
  /** For 'choice', 'choices' and a 'flag' that is on by itself. Of a choice the first is what applies when nothing is said; '' stands for that. */
  choices?: readonly string[];
  /** In a text: completion of bare expressions as well as of templates. */
  expressions?: boolean;
  /** For 'group': what is in it. */
  fields?: readonly Field[];
  /** For 'rows' and 'list': the fields of one item, paths included. */
  item?(index: number): readonly Field[];
}

/** A part of a form, with a title; folded until somebody opens it or something in it is set. */
export interface Section {
  title: string;
  fields: readonly Field[];
  /** What few people need; folded away in the section. */
  more: readonly Field[];
  folded: boolean;
}

export class Language {
  constructor(private readonly root: Schema) {}

  /** The keys of any activity, the type's own block and inputs left out. */
  common(): Field[] {
    return this.fields(this.def('activity'), [], new Set(['id', 'type', 'name', 'needs', 'join']));
  }

  /** The fields of a type's own block or inputs, in `base`. */
  own(type: string, base: Path = []): Field[] {
    const at = this.blockKey(type);
    const own = this.fields(this.def(`type.${type}`), [...base, at]);
    return type === 'workflow' ? [...own, { path: [...base, 'inputs'], label: 'Inputs', kind: 'map', required: false, hint: 'What the child starts with.' }] : own;
  }

  /** What can be said of an activity that undoes another, besides its own block. */
  undo(base: Path): Field[] {
    return this.fields(this.def('compensation'), base, new Set(['type']));
  }

  /** Where a type keeps its own settings: its inputs, or a block of its own name. */
  blockKey(type: string): string {
    const rules = this.def('activity').allOf;
    const rule = (Array.isArray(rules) ? rules : []).find((r) => isRecord(r) && typeOf(r.if) === type) as { then?: Schema } | undefined;
    const then = properties(rule?.then);
    return type in then ? type : 'inputs';
  }

  /** The types of activities that may undo another, or stand anywhere. */
  types(): string[] {
    const known = properties(this.def('activity')).type;
    return isRecord(known) && Array.isArray(known.enum) ? known.enum.filter(isText) : [];
  }

  metadata(): Field[] {
    return this.fields(properties(this.root).metadata, ['metadata'], new Set(['name']));
  }

  /** Everything of `spec` but the activities and edges themselves. */
  spec(): Field[] {
    return this.fields(properties(this.root).spec, ['spec'], new Set(['activities', 'transitions', 'onError', 'onExit']));
  }

  /** The fields of an object's keys, in canonical order. */
  private fields(schema: unknown, base: Path, skip: ReadonlySet<string> = new Set()): Field[] {
    const node = this.resolve(schema);
    const known = properties(node);
    const order = Array.isArray(node['x-order']) ? node['x-order'].filter(isText) : Object.keys(known);
    const required = new Set(Array.isArray(node.required) ? node.required : []);
    const { fields: made, held } = { fields: [] as Field[], held: [] as Field[] };
    for (const key of order) {
      if (!(key in known) || skip.has(key)) continue;
      const field = this.field(known[key], [...base, key], required.has(key));
      if (field) (field.required ? made : held).push(field);
    }
    const all = [...made, ...held];
    for (const field of all) {
      const governor = field.with && all.find((f) => f.path.at(-1) === field.with!.key);
      if (governor) governor.governs = true;
    }
    return all;
  }

  /** The field of a key; null where activities are drawn instead. */
  private field(schema: unknown, path: Path, required: boolean): Field | null {
    const node = this.resolve(schema);
    const key = String(path.at(-1));
    const name = path.filter((p) => typeof p === 'string').join('.');
    const field: Field = {
      path, required,
      label: isText(node.title) ? node.title : key,
      kind: 'value',
      ...(isText(node.description) ? { hint: node.description } : {}),
      ...placeholderOf(node),
      ...(node['x-seldom'] === true ? { seldom: true } : {}),
      ...(Array.isArray(node['x-types']) ? { types: node['x-types'].filter(isText) } : {}),
      ...withOf(node['x-with']),
    };
    if (this.refersTo(schema, 'compensation')) return { ...field, kind: 'activity' };
    if (this.holdsActivities(node) || this.refersTo(schema, 'body')) return null;
    return { ...field, ...this.kindOf(node, path, name) };
  }

  private kindOf(node: Schema, path: Path, name: string): Partial<Field> & { kind: Kind } {
    const key = String(path.at(-1));
    const shape = node['x-shape'];
    if (Array.isArray(node.anyOf)) return this.kindOfChoice(node, path, name);
    if (Array.isArray(node.enum)) return { kind: 'choice', choices: choicesOf(node.enum.filter(isText), node) };
    if (shape === 'schema') return { kind: 'schema' };
    if (shape === 'value') return { kind: mapKeys.has(key) ? 'map' : 'value' };
    if (shape === 'expression' || shape === 'condition') return { kind: 'expression' };
    if (shape === 'duration') return { kind: 'duration' };
    if (shape === 'delay') return { kind: 'duration', expressions: true };
    if (shape === 'moment') return { kind: isDuration(exampleOf(node)) ? 'duration' : 'plain', expressions: true };
    if (shape === 'source') return { kind: 'source' };
    if (shape === 'template') return { kind: longTexts.has(name) || longTexts.has(key) ? 'lines' : 'text' };
    switch (node.type) {
      case 'boolean':
        return { kind: 'flag', ...(node['x-default'] === 'true' ? { choices: ['true'] } : {}) };
      case 'integer':
      case 'number':
        return { kind: 'number' };
      case 'array':
        return this.kindOfList(this.resolve(node.items), path);
      case 'object':
        return this.kindOfObject(node, path);
      default:
        return Array.isArray(node.type) ? { kind: 'number' } : { kind: longTexts.has(key) ? 'lines' : 'plain' };
    }
  }

  private kindOfObject(node: Schema, path: Path): Partial<Field> & { kind: Kind } {
    if (!isRecord(node.additionalProperties)) return { kind: 'group', fields: this.fields(node, path) };
    return { kind: node.additionalProperties['x-shape'] === 'expression' ? 'expressions' : 'map' };
  }

  private kindOfList(items: Schema, path: Path): Partial<Field> & { kind: Kind } {
    if (Array.isArray(items.enum)) return { kind: 'choices', choices: items.enum.filter(isText) };
    if (items.type === 'string') return { kind: 'names' };
    if (items.type !== 'object') return { kind: 'value' };
    const item = (index: number) => this.fields(items, [...path, index]);
    const fields = item(0);
    const short = fields.length === 2 && fields.every((f) => f.kind === 'plain' || f.kind === 'expression');
    return { kind: short ? 'rows' : 'list', item };
  }

  /** Several shapes: the one that most people use is the one with a control. */
  private kindOfChoice(node: Schema, path: Path, name: string): Partial<Field> & { kind: Kind } {
    const parts = (node.anyOf as unknown[]).map((p) => this.resolve(p));
    const words = parts.find((p) => Array.isArray(p.enum));
    if (words) return { kind: 'choice', choices: choicesOf((words.enum as unknown[]).filter(isText), node) };
    const object = parts.find((p) => p.type === 'object');
    if (object) return { kind: 'group', fields: this.fields(object, path) };
    if (parts.some((p) => p.type === 'integer') && parts.length === 2) return { kind: 'number' };
    if (name.endsWith('for_each.items')) return { kind: 'expression' };
    return { kind: 'names' };
  }

  private holdsActivities(node: Schema): boolean {
    return node.type === 'array' && this.refersTo(node.items, 'activity');
  }

  private refersTo(schema: unknown, name: string): boolean {
    return isRecord(schema) && schema.$ref === `#/$defs/${name}`;
  }

  /** The schema behind a reference; what stands beside the reference wins. */
  private resolve(schema: unknown): Schema {
    if (!isRecord(schema)) return {};
    if (!isText(schema.$ref)) return schema;
    const { $ref, ...beside } = schema;
    return { ...this.def(($ref as string).replace('#/$defs/', '')), ...beside };
  }

  private def(name: string): Schema {
    const found = isRecord(this.root.$defs) ? this.root.$defs[name] : undefined;
    return isRecord(found) ? found : {};
  }
}

function properties(schema: unknown): Record<string, unknown> {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
}

function typeOf(condition: unknown): unknown {
  const type = properties(condition).type;
  return isRecord(type) ? type.const : undefined;
}

/** The words of a choice, what applies by itself first. */
function choicesOf(words: readonly string[], node: Schema): string[] {
  const standard = node['x-default'];
  return isText(standard) && words.includes(standard) ? [standard, ...words.filter((w) => w !== standard)] : ['', ...words];
}

/** What applies by itself, else an example. */
function placeholderOf(node: Schema): { placeholder?: string; example?: boolean } {
  const example = exampleOf(node);
  if (isText(node['x-default'])) return { placeholder: node['x-default'] };
  if (typeof example === 'string') return example === 'text' ? {} : { placeholder: example, example: true };
  if (Array.isArray(example) && example.every((e) => typeof e === 'string') && node['x-shape'] !== 'value') return { placeholder: example.join(', '), example: true };
  if (typeof example === 'object' && example !== null) return { placeholder: blockOf(example), example: true };
  return {};
}

function withOf(node: unknown): Pick<Field, 'with'> {
  if (!isRecord(node) || !isText(node.key) || !Array.isArray(node.values)) return {};
  return { with: { key: node.key, values: node.values.filter(isText) } };
}

/** The amount and the unit of a plain duration; null for any other text. */
export function durationParts(text: string): { amount: string; unit: string } | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? [];
  return amount && unit ? { amount, unit } : null;
}

function isDuration(value: unknown): boolean {
  return isText(value) && durationParts(value) !== null;
}

function exampleOf(node: Schema): unknown {
  return Array.isArray(node.examples) ? node.examples[0] : undefined;
}

/** The fields that mean something with what is set, or are set themselves. */
export function relevant(fields: readonly Field[], get: (path: Path) => unknown): Field[] {
  return fields.filter((field) => {
    if (!field.with || get(field.path) !== undefined) return true;
    const governor = fields.find((f) => f.path.at(-1) === field.with!.key);
    const value = governor && (get(governor.path) ?? governor.choices?.[0]);
    return isText(value) && field.with.values.includes(value);
  });
}
