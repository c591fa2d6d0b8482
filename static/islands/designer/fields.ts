// Which sections a form has, in which one every key of the language stands, and
// which keys of a document no form knows. Pure.

import { isRecord, type Path } from '../graph/model';
import type { Field, Language, Section } from './schema';
import { activitySections, workflowSections } from './words';

export const joinModes = ['all', 'every', 'done', 'any', 'n of m'] as const;

/** The sections of an activity's form: what its type is about first, then what means something to it, and what is set. */
export function sectionsFor(language: Language, type: string, get: (path: Path) => unknown): Section[] {
  const common = language.common().filter((f) => !f.types || f.types.includes(type) || get(f.path) !== undefined);
  const first = type === 'set' ? ['outputs'] : type === 'event' ? ['timeout'] : [];
  const led = common.filter((f) => first.includes(String(f.path[0]))).map((f) => (type === 'event' ? { ...f, label: 'Give up after', hint: 'Then the port timeout is taken.' } : f));
  const rest = common.filter((f) => !first.includes(String(f.path[0])));
  return [sectionOf('', [...language.own(type), ...led], false), ...grouped(rest, activitySections, 0)];
}

/** The sections of the workflow's own settings. */
export function settingsOf(language: Language): Section[] {
  return [sectionOf('', language.metadata(), false), ...grouped(language.spec(), workflowSections, 1)];
}

function grouped(fields: readonly Field[], sections: typeof activitySections, depth: number): Section[] {
  const placed = new Set(sections.flatMap((s) => s.keys));
  return sections
    .map((s, i) => {
      const own = fields.filter((f) => (i === sections.length - 1 ? !placed.has(String(f.path[depth])) : s.keys.includes(String(f.path[depth]))));
      return sectionOf(s.title, unwrapped(own), s.folded ?? false);
    })
    .filter((s) => s.fields.length > 0);
}

function sectionOf(title: string, fields: readonly Field[], folded: boolean): Section {
  const [often, seldom] = [fields.filter((f) => !f.seldom), fields.filter((f) => f.seldom)];
  return often.length === 0 ? { title, fields: seldom, more: [], folded } : { title, fields: often, more: seldom, folded };
}

/** A group that fills its section needs no frame of its own. */
function unwrapped(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((f) => (f.kind === 'group' && (fields.length === 1 || f.path.at(-1) === 'retry') ? f.fields! : [f]));
}

/** A part of a document that no field shows. */
export interface Unknown {
  path: Path;
  value: unknown;
}

/** Keys that are drawn as nodes and edges, or that the form shows by itself. */
const drawn = new Set(['id', 'type', 'name', 'needs', 'join', 'activities', 'activity', 'transitions', 'onError', 'onExit']);

/** What of an activity no field of its form shows. */
export function unknownOf(language: Language, type: string, activity: Record<string, unknown>): Unknown[] {
  const own = language.own(type);
  const key = language.blockKey(type);
  const block: Field = { path: [key], label: '', kind: 'group', required: false, fields: own.filter((f) => f.path.length > 1) };
  return unknownIn(language, activity, [block, ...own.filter((f) => f.path.length === 1), ...language.common()], []);
}

/** What of the workflow's settings no field shows. */
export function unknownSettings(language: Language, spec: Record<string, unknown>): Unknown[] {
  return unknownIn(language, spec, language.spec(), ['spec']);
}

function unknownIn(language: Language, map: Record<string, unknown>, fields: readonly Field[], base: Path): Unknown[] {
  return Object.entries(map).flatMap(([key, value]): Unknown[] => {
    const path = [...base, key];
    const field = fields.find((f) => f.path.at(-1) === camelKey(key));
    if (!field) return drawn.has(camelKey(key)) ? [] : [{ path, value }];
    if (field.kind === 'group' && isRecord(value)) return unknownIn(language, value, field.fields!, path);
    if (field.kind === 'activity' && isRecord(value)) return unknownOf(language, String(value.type ?? ''), value).map((u) => ({ ...u, path: [...path, ...u.path] }));
    if ((field.kind === 'list' || field.kind === 'rows') && Array.isArray(value)) {
      return value.flatMap((item: unknown, i) => (isRecord(item) ? unknownIn(language, item, field.item!(i), [...path, i]) : []));
    }
    return [];
  });
}

export function camelKey(key: string): string {
  return key === 'for_each' || key === 'n_of_m' ? key : key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
}
