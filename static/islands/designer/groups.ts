// Controls that hold other controls: a group of keys, a list of cards, an activity
// inside another. Each inner field writes its own key, so nothing beside it moves.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import { isRecord, isText } from '../graph/model';
import { control, type Tools } from './controls';
import { relevant, type Field } from './schema';
import { skeletons } from './skeletons';
import { openGroups } from './words';

export function groupControl(field: Field, value: unknown, tools: Tools): HTMLElement {
  const name = field.path.filter((p) => typeof p === 'string').join('.');
  const group = el('details', { class: 'ds-group', role: 'group', open: value !== undefined || field.required || openGroups.has(name) },
    el('summary', {}, field.label), field.hint ? el('p', { class: 'ds-hint' }, field.hint) : null,
    ...relevant(field.fields ?? [], tools.get).map((inner) => control(inner, tools)));
  group.dataset.title = name;
  return group;
}

export function listControl(field: Field, items: readonly unknown[], tools: Tools): HTMLElement {
  const set = (next: unknown[]) => tools.reshape(field.path, next.length > 0 ? next : undefined);
  const cards = items.map((item, i) => {
    const tool = (label: string, sign: string, act: () => void) =>
      el('button', { type: 'button', class: 'ds-icon', 'aria-label': `${label} ${field.label} ${i + 1}`, title: label, onclick: act }, sign);
    const head = el('div', { class: 'ds-card-head' }, el('strong', {}, titleOf(item) || String(i + 1)));
    if (!tools.readonly) {
      if (i > 0) head.append(tool('Move up', '↑', () => set(swapped(items, i - 1))));
      head.append(tool('Remove', '×', () => set(items.filter((_, at) => at !== i))));
    }
    return el('div', { class: 'ds-item', role: 'group', 'aria-label': `${field.label} ${i + 1}` }, head, ...cardFields(field.item!(i), tools));
  });
  const list = el('div', { class: 'ds-list', role: 'group' }, ...cards);
  if (!tools.readonly) list.append(el('button', { type: 'button', class: 'ds-add', onclick: () => set([...items, firstOf(field)]) }, '+ Add'));
  return list;
}

/** The fields of a card; what few people need is folded away. */
function cardFields(all: readonly Field[], tools: Tools): HTMLElement[] {
  const fields = relevant(all, tools.get);
  const seldom = fields.filter((f) => f.seldom);
  const parts = fields.filter((f) => !f.seldom).map((inner) => control(inner, tools));
  if (seldom.length === 0) return parts;
  const more = el('details', { class: 'ds-more', open: seldom.some((f) => tools.get(f.path) !== undefined) }, el('summary', {}, 'More'), ...seldom.map((inner) => control(inner, tools)));
  more.dataset.title = `${seldom[0]!.path.slice(0, -1).join('.')} more`;
  return [...parts, more];
}

/** What a new item starts with: its required keys, else its first one, with an example in them. */
function firstOf(field: Field): Record<string, unknown> {
  const fields = field.item!(0);
  const needed = fields.filter((f) => f.required);
  return Object.fromEntries((needed.length > 0 ? needed : fields.slice(0, 1)).map((f) => [String(f.path.at(-1)), starting(f)]));
}

function starting(field: Field): unknown {
  if (field.kind === 'group') return Object.fromEntries((field.fields ?? []).slice(0, 1).map((f) => [String(f.path.at(-1)), starting(f)]));
  if (field.kind === 'names') return [];
  return field.choices?.find((c) => c !== '') ?? field.placeholder ?? '';
}

function titleOf(item: unknown): string {
  if (!isRecord(item)) return '';
  return [item.name, item.path, item.cron, item.every, item.at].find(isText) ?? '';
}

function swapped(items: readonly unknown[], at: number): unknown[] {
  const next = [...items];
  [next[at], next[at + 1]] = [next[at + 1], next[at]];
  return next;
}

/** An activity inside another: its type, and then the fields of that type. */
export function activityControl(field: Field, value: Record<string, unknown> | undefined, tools: Tools): HTMLElement {
  const type = isText(value?.type) ? value.type : '';
  const select = el('select', { 'aria-label': `${field.label}: type`, disabled: tools.readonly },
    el('option', { value: '' }, 'nothing'), ...tools.language.types().map((t) => el('option', { value: t }, typeTitle(t))));
  select.value = type;
  select.addEventListener('change', () => tools.reshape(field.path, select.value === '' ? undefined : { type: select.value, ...structuredClone(skeletons[select.value]?.fields ?? {}) }));
  const box = el('div', { class: 'ds-inner', role: 'group' }, select);
  if (type === '') return box;
  const more = el('details', { class: 'ds-group' }, el('summary', {}, 'More'), ...tools.language.undo(field.path).map((inner) => control(inner, tools)));
  more.dataset.title = `${field.path.join('.')} more`;
  box.append(...relevant(tools.language.own(type, field.path), tools.get).map((inner) => control(inner, tools)), more);
  return box;
}
