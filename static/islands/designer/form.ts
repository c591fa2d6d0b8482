// The panel of details: the selected activity's form, or the workflow's settings.
// What no field shows is listed and left to the YAML; nothing is ever dropped.

import { typeTitle, typeTitles } from '../graph/describe';
import { el } from '../graph/dom';
import { typeIcon } from '../graph/icons';
import { isRecord, type GraphNode, type Path } from '../graph/model';
import { changeType, rename, setField } from './commands';
import { complete, type Scope } from './complete';
import { control, showProblem, type Tools } from './controls';
import { joinControl, needsControl } from './edges-form';
import { handledKeys, sectionsFor, workflowSections, type Field, type Section } from './fields';
import type { Problem } from './problems';
import type { Session } from './session';
import { idFrom, paletteTypes } from './skeletons';
import { blockOf } from './values';

export interface FormHooks {
  /** Shows a place of the document in the YAML. */
  showInText(path: Path): void;
}

export class Form {
  readonly element = el('div', { class: 'ds-form' });
  private shown: string | null | undefined;
  private problems: readonly Problem[] = [];

  constructor(
    private readonly session: Session,
    private readonly hooks: FormHooks,
  ) {
    this.element.addEventListener('focusout', () => session.closeGesture());
    this.element.addEventListener('submit', (e) => e.preventDefault());
  }

  /** Builds the form anew for what is selected; keeps the keyboard where it was. */
  render(): void {
    const at = document.activeElement?.closest<HTMLElement>('[data-path]')?.dataset.path;
    const had = this.element.contains(document.activeElement);
    const node = this.session.focus;
    const open = this.openSections();
    const same = this.shown === (node?.key ?? null);
    this.shown = node?.key ?? null;
    this.element.replaceChildren(...(node ? this.activity(node) : this.workflow()));
    if (same) this.reopen(open);
    this.showProblems(this.problems);
    if (had && same && at) this.element.querySelector<HTMLElement>(`[data-path="${CSS.escape(at)}"] :is(input, select, textarea)`)?.focus();
  }

  /** Puts the keyboard on the first field. */
  focusFirst(): void {
    const body = this.element.querySelector<HTMLElement>('.ds-section :is(input, select, textarea)');
    (body ?? this.element.querySelector<HTMLElement>('input'))?.focus();
  }

  focusName(): void {
    const input = this.element.querySelector<HTMLInputElement>('[data-path="name"] input');
    input?.focus();
    input?.select();
  }

  focusId(): void {
    const input = this.element.querySelector<HTMLInputElement>('[data-path="id"] input');
    input?.focus();
    input?.select();
  }

  focusField(path: Path): void {
    const wrapper = this.fieldFor(path);
    wrapper?.closest('details')?.setAttribute('open', '');
    wrapper?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  }

  showProblems(problems: readonly Problem[]): void {
    this.problems = problems;
    const node = this.session.focus;
    for (const wrapper of this.element.querySelectorAll<HTMLElement>('.ds-field')) showProblem(wrapper, null);
    const others: string[] = [];
    for (const problem of problems) {
      const path = fieldPath(problem.path, node);
      if (!path) continue;
      const words = problem.hint ? `${problem.message} (${problem.hint})` : problem.message;
      const wrapper = this.fieldFor(path);
      if (wrapper) showProblem(wrapper, words);
      else others.push(words);
    }
    this.showOthers(others);
  }

  /** Problems that belong to no single field stand at the top. */
  private showOthers(words: readonly string[]): void {
    this.element.querySelector('.ds-form-problems')?.remove();
    if (words.length === 0) return;
    this.element.querySelector('.ds-form-head')?.after(el('ul', { class: 'ds-form-problems' }, ...words.map((w) => el('li', {}, w))));
  }

  /** The field that shows a path or the value around it. */
  private fieldFor(path: Path): HTMLElement | null {
    for (let end = path.length; end > 0; end--) {
      const name = path.slice(0, end).join('.');
      const found = this.element.querySelector<HTMLElement>(`.ds-field[data-path="${CSS.escape(name)}"]`);
      if (found) return found;
    }
    return null;
  }

  private openSections(): Set<string> {
    return new Set([...this.element.querySelectorAll<HTMLDetailsElement>('details[open]')].map((d) => d.dataset.title ?? ''));
  }

  private reopen(titles: ReadonlySet<string>): void {
    for (const d of this.element.querySelectorAll<HTMLDetailsElement>('details')) if (titles.has(d.dataset.title ?? '')) d.open = true;
  }

  private activity(node: GraphNode): HTMLElement[] {
    const fields = this.session.fields(node);
    const sections = sectionsFor(node.type);
    return [
      el('header', { class: 'ds-form-head' }, el('span', { class: 'gv-mark' }, typeIcon(node.type)),
        el('div', {}, el('h2', {}, node.name), el('p', {}, typeTitle(node.type)))),
      el('div', { class: 'ds-section' },
        this.control({ path: ['name'], label: 'Name', kind: 'text', placeholder: node.id ?? '' }, fields.name, node),
        this.idField(node), this.typeField(node)),
      ...sections.map((section) => this.section(section, fields, node)),
      ...(node.id === null ? [] : [el('div', { class: 'ds-section' }, el('h3', {}, 'Runs after'),
        needsControl(this.session, node), joinControl(this.session, node, fields.join))]),
      ...this.rest(fields, sections, node.path, node.type),
    ];
  }

  private workflow(): HTMLElement[] {
    const root = this.session.root;
    const name = isRecord(root.metadata) && typeof root.metadata.name === 'string' ? root.metadata.name : 'Workflow';
    const spec = isRecord(root.spec) ? root.spec : {};
    return [
      el('header', { class: 'ds-form-head' }, el('div', {}, el('h2', {}, name), el('p', {}, 'Settings of the workflow. Select an activity to see its own.'))),
      ...workflowSections.map((section) => this.section(section, root, null)),
      ...this.rest(spec, workflowSections, ['spec'], '', new Set(['activities'])),
    ];
  }

  private section(section: Section, fields: Record<string, unknown>, node: GraphNode | null): HTMLElement {
    const parts = section.fields.map((field) => this.control(field, valueAt(fields, field.path), node));
    if (!section.folded) {
      return el('div', { class: 'ds-section' }, section.title ? el('h3', {}, section.title) : null, ...parts);
    }
    const used = section.fields.some((field) => valueAt(fields, field.path) !== undefined);
    const details = el('details', { class: 'ds-section', open: used }, el('summary', {}, section.title), ...parts);
    details.dataset.title = section.title;
    return details;
  }

  private control(field: Field, value: unknown, node: GraphNode | null): HTMLElement {
    return control(field, value, (next) => this.emit(field, next, node), this.tools(node));
  }

  private emit(field: Field, value: unknown, node: GraphNode | null): void {
    const key = node?.key ?? null;
    const path = this.spellOut(field.path, node);
    this.session.run(setField(key, path.path, path.wrap(value)), 'form', `${key ?? 'workflow'}:${field.path.join('.')}`);
  }

  /** `retry: 3` is short for `retry: {attempts: 3}`: a second field of it needs the long form. */
  private spellOut(path: Path, node: GraphNode | null): { path: Path; wrap: (value: unknown) => unknown } {
    const short = node && path[0] === 'retry' ? this.session.fields(node).retry : undefined;
    if (typeof short !== 'number') return { path, wrap: (value) => value };
    if (path[1] === 'attempts') return { path: ['retry'], wrap: (value) => value };
    return { path: ['retry'], wrap: (value) => (value === undefined ? short : { attempts: short, [String(path[1])]: value }) };
  }

  private tools(node: GraphNode | null): Tools {
    const scope = (): Scope => ({
      graph: this.session.graph,
      root: this.session.root,
      node: node && (this.session.node(node.key) ?? node),
      fieldsOf: (n) => this.session.fields(n),
    });
    return {
      readonly: this.session.readonly,
      expressions: (before) => complete(before, scope(), false),
      templates: (before) => complete(before, scope(), true),
    };
  }

  private idField(node: GraphNode): HTMLElement {
    const input = el('input', { type: 'text', class: 'ds-code-input', id: 'ds-id', autocomplete: 'off', spellcheck: 'false', readonly: this.session.readonly });
    input.value = node.id ?? '';
    input.addEventListener('change', () => {
      if (!this.session.run(rename(node.key, idFrom(input.value)))) input.value = node.id ?? '';
    });
    return el('div', { class: 'ds-field', 'data-path': 'id' }, el('label', { class: 'ds-label', for: 'ds-id' }, 'Id'), input,
      el('p', { class: 'ds-hint' }, 'A new id is followed everywhere it is used.'), el('p', { class: 'ds-problem', hidden: true }));
  }

  private typeField(node: GraphNode): HTMLElement {
    const known = [...new Set([...paletteTypes, node.type])];
    const select = el('select', { id: 'ds-type', disabled: this.session.readonly }, ...known.map((t) => el('option', { value: t }, typeTitles[t] ?? t)));
    select.value = node.type;
    select.addEventListener('change', () => this.session.run(changeType(node.key, select.value)));
    return el('div', { class: 'ds-field', 'data-path': 'type' }, el('label', { class: 'ds-label', for: 'ds-type' }, 'Type'), select, el('p', { class: 'ds-problem', hidden: true }));
  }

  /** Keys without a field, as they stand in the text. */
  private rest(fields: Record<string, unknown>, sections: readonly Section[], base: Path, type: string, skip: ReadonlySet<string> = new Set()): HTMLElement[] {
    const offset = base.length === 1 ? 1 : 0;
    const covered = new Set(sections.flatMap((s) => s.fields.map((field) => field.path.slice(offset).join('.'))));
    const left = leftOver(fields, covered, type).filter(([path]) => !(offset === 0 && handledKeys.has(path[0]!)) && !skip.has(path[0]!));
    if (left.length === 0) return [];
    return [el('div', { class: 'ds-section ds-rest' }, el('h3', {}, 'Only in the YAML'),
      ...left.map(([path, value]) => el('div', { class: 'ds-rest-item' },
        el('div', {}, el('code', {}, path.join('.')), el('pre', {}, blockOf(value))),
        el('button', { type: 'button', class: 'ds-link', onclick: () => this.hooks.showInText([...base, ...path]) }, 'Edit in YAML'))))];
  }
}

/** Fields that no control covers: whole keys, or parts of the type's block. */
function leftOver(fields: Record<string, unknown>, covered: ReadonlySet<string>, type: string): [string[], unknown][] {
  const starts = (name: string) => [...covered].some((c) => c === name || c.startsWith(`${name}.`));
  const left: [string[], unknown][] = [];
  const visit = (map: Record<string, unknown>, path: string[]) => {
    for (const [key, value] of Object.entries(map)) {
      const here = [...path, camelKey(key)];
      const name = here.join('.');
      if (covered.has(name) || (type === 'for_each' && (name === 'for_each.activities' || name === 'for_each.activity'))) continue;
      if (starts(name) && isRecord(value)) visit(value, here);
      else if (!(name === 'retry' && typeof value === 'number')) left.push([here, value]);
    }
  };
  visit(fields, []);
  return left;
}

function camelKey(key: string): string {
  return key === 'for_each' ? key : key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
}

function valueAt(fields: Record<string, unknown>, path: Path): unknown {
  if (path[0] === 'retry' && typeof fields.retry === 'number') return path[1] === 'attempts' ? fields.retry : undefined;
  let value: unknown = fields;
  for (const step of path) {
    if (!isRecord(value)) return undefined;
    const snake = String(step).replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
    value = value[step] ?? value[snake];
  }
  return value;
}

/** A problem's path counted from what the form shows; null when it lies elsewhere. */
function fieldPath(path: Path, node: GraphNode | null): Path | null {
  if (!node) return path[0] === 'spec' && path[1] === 'activities' ? null : path;
  const inside = node.path.every((step, i) => String(step) === String(path[i]));
  return inside ? path.slice(node.path.length) : null;
}
