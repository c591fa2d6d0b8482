// The panel of details: the selected activity's form, or the workflow's settings.
// What no field shows is listed and left to the YAML; nothing is ever dropped.

import { typeTitle, typeTitles } from '../graph/describe';
import { el } from '../graph/dom';
import { typeIcon } from '../graph/icons';
import { hookType, isRecord, type GraphNode, type Path } from '../graph/model';
import { changeType, rename, setField } from './commands';
import { complete, type Scope } from './complete';
import { control, showProblem, type Tools } from './controls';
import { joinControl, needsControl } from './edges-form';
import { sectionsFor, settingsOf, unknownOf, unknownSettings, type Unknown } from './fields';
import type { Problem } from './problems';
import { relevant, type Field, type Language, type Section } from './schema';
import type { Origin, Session } from './session';
import { idFrom, paletteTypes } from './skeletons';
import { blockOf } from './values';

export interface FormHooks {
  /** Shows a place of the document in the YAML. */
  showInText(path: Path): void;
}

export class Form {
  readonly element = el('div', { class: 'ds-form' });
  private language: Language | null = null;
  private loading = 'The fields are on their way …';
  private shown: string | null | undefined;
  private problems: readonly Problem[] = [];

  constructor(
    private readonly session: Session,
    private readonly hooks: FormHooks,
  ) {
    this.element.addEventListener('focusout', () => session.closeGesture());
    this.element.addEventListener('submit', (e) => e.preventDefault());
  }

  /** Takes the fields of the language; null when they cannot be had now. */
  speak(language: Language | null): void {
    this.language = language;
    this.loading = 'The fields could not be read from the server. Everything can be edited in the YAML.';
    this.render();
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
    for (let box = wrapper?.closest('details'); box; box = box.parentElement?.closest('details')) box.open = true;
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
    this.element.dispatchEvent(new Event('ds-problems'));
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

  private hook(node: GraphNode): HTMLElement[] {
    return [
      el('header', { class: 'ds-form-head' }, el('span', { class: 'gv-mark' }, typeIcon(node.type)), el('div', {}, el('h2', {}, node.name), el('p', {}, node.detail))),
      el('div', { class: 'ds-section' }, el('p', { class: 'ds-quiet' }, 'The activities in this frame are not part of the graph: they have edges among themselves only, and cannot change how the execution ended. Press A to add one.')),
    ];
  }

  private activity(node: GraphNode): HTMLElement[] {
    if (node.type === hookType) return this.hook(node);
    const fields = this.session.fields(node);
    return [
      el('header', { class: 'ds-form-head' }, el('span', { class: 'gv-mark' }, typeIcon(node.type)),
        el('div', {}, el('h2', {}, node.name), el('p', {}, typeTitle(node.type)))),
      el('div', { class: 'ds-section' }, this.nameField(fields.name, node), this.idField(node), this.typeField(node)),
      ...this.sections((language, get) => sectionsFor(language, node.type, get), node),
      ...(node.id === null ? [] : [el('div', { class: 'ds-section' }, el('h3', {}, 'Runs after'),
        needsControl(this.session, node), joinControl(this.session, node, fields.join))]),
      ...this.rest((language) => unknownOf(language, node.type, fields), node.path),
    ];
  }

  private workflow(): HTMLElement[] {
    const root = this.session.root;
    const name = isRecord(root.metadata) && typeof root.metadata.name === 'string' ? root.metadata.name : 'Workflow';
    const spec = isRecord(root.spec) ? root.spec : {};
    return [
      el('header', { class: 'ds-form-head' }, el('div', {}, el('h2', {}, name), el('p', {}, 'Settings of the workflow. Select an activity to see its own.'))),
      ...this.sections(settingsOf, null),
      ...this.rest((language) => unknownSettings(language, spec), []),
    ];
  }

  private sections(of: (language: Language, get: Tools['get']) => Section[], node: GraphNode | null): HTMLElement[] {
    if (!this.language) return [el('p', { class: 'ds-section ds-quiet', role: 'status' }, this.loading)];
    const tools = this.tools(node, this.language);
    return of(this.language, tools.get).map((section) => this.section(section, tools));
  }

  private section(section: Section, tools: Tools): HTMLElement {
    const all = relevant([...section.fields, ...section.more], tools.get);
    const parts = all.filter((f) => section.fields.includes(f)).map((field) => control(field, tools));
    const seldom = all.filter((f) => section.more.includes(f));
    if (seldom.length > 0) parts.push(this.more(section, seldom, tools));
    // One field below a title of the same words says them once.
    if (parts.length === 1 && section.fields[0]?.label === section.title) parts[0]!.classList.add('ds-bare');
    if (!section.folded) return el('div', { class: 'ds-section' }, section.title ? el('h3', {}, section.title) : null, ...parts);
    return this.folded('ds-section', section.title, section.title, isUsed(all, tools), parts);
  }

  private more(section: Section, fields: readonly Field[], tools: Tools): HTMLElement {
    return this.folded('ds-more', 'More', `${section.title} more`, isUsed(fields, tools), fields.map((field) => control(field, tools)));
  }

  private folded(kind: string, words: string, title: string, open: boolean, parts: readonly HTMLElement[]): HTMLElement {
    const details = el('details', { class: kind, open }, el('summary', {}, words), ...parts);
    details.dataset.title = title;
    return details;
  }

  private tools(node: GraphNode | null, language: Language): Tools {
    const scope = (): Scope => ({
      graph: this.session.graph,
      root: this.session.root,
      node: node && (this.session.node(node.key) ?? node),
      fieldsOf: (n) => this.session.fields(n),
    });
    const values = () => (node ? this.session.fields(this.session.node(node.key) ?? node) : this.session.root);
    const write = (path: Path, value: unknown, origin: Origin) => {
      const spelled = spellOut(values(), path, value);
      this.session.run(setField(node?.key ?? null, spelled.path, spelled.value), origin, `${node?.key ?? 'workflow'}:${path.join('.')}`);
    };
    return {
      readonly: this.session.readonly,
      language,
      expressions: Object.assign((before: string) => complete(before, scope(), false), { in: 'bare' as const }),
      templates: Object.assign((before: string) => complete(before, scope(), true), { in: 'template' as const }),
      about: (path) => ({ session: this.session, path: [...(node?.path ?? []), ...path], problems: this.problems }),
      get: (path) => valueAt(values(), path),
      set: (path, value) => write(path, value, 'form'),
      reshape: (path, value) => write(path, value, 'command'),
    };
  }

  private nameField(name: unknown, node: GraphNode): HTMLElement {
    const input = el('input', { type: 'text', id: 'ds-name', autocomplete: 'off', placeholder: node.id ?? '', readonly: this.session.readonly });
    input.value = typeof name === 'string' ? name : '';
    input.addEventListener('input', () => this.session.run(setField(node.key, ['name'], input.value.trim() || undefined), 'form', `${node.key}:name`));
    return el('div', { class: 'ds-field', 'data-path': 'name' }, el('label', { class: 'ds-label', for: 'ds-name' }, 'Name'), input, el('p', { class: 'ds-problem', hidden: true }));
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
  private rest(of: (language: Language) => Unknown[], base: Path): HTMLElement[] {
    const left = this.language ? of(this.language) : [];
    if (left.length === 0) return [];
    return [el('div', { class: 'ds-section ds-rest' }, el('h3', {}, 'Only in the YAML'),
      ...left.map(({ path, value }) => el('div', { class: 'ds-rest-item' },
        el('div', {}, el('code', {}, path.join('.')), el('pre', {}, blockOf(value))),
        el('button', { type: 'button', class: 'ds-link', onclick: () => this.hooks.showInText([...base, ...path]) }, 'Edit in YAML'))))];
  }
}

function isUsed(fields: readonly Field[], tools: Tools): boolean {
  return fields.some((field) => tools.get(field.path) !== undefined);
}

/** The value at a path, keys in snake_case found as well; `retry: 3` is read as attempts. */
function valueAt(fields: Record<string, unknown>, path: Path): unknown {
  let value: unknown = fields;
  for (const [i, step] of path.entries()) {
    if (typeof value === 'number' && path[i - 1] === 'retry') return step === 'attempts' ? value : undefined;
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isRecord(value)) value = value[step] ?? value[String(step).replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)];
    else return undefined;
  }
  return value;
}

/** `retry: 3` is short for `retry: {attempts: 3}`: a second field of it needs the long form. */
function spellOut(fields: Record<string, unknown>, path: Path, value: unknown): { path: Path; value: unknown } {
  const at = path.lastIndexOf('retry');
  const short = at < 0 || at !== path.length - 2 ? undefined : valueAt(fields, path.slice(0, -1));
  if (typeof short !== 'number') return { path, value };
  const retry = path.slice(0, -1);
  const key = String(path.at(-1));
  if (key === 'attempts') return { path: retry, value };
  return { path: retry, value: value === undefined ? short : { attempts: short, [key]: value } };
}

/** A problem's path counted from what the form shows; null when it lies elsewhere. */
function fieldPath(path: Path, node: GraphNode | null): Path | null {
  if (!node) return path[0] === 'spec' && ['activities', 'onError', 'onExit'].includes(String(path[1])) ? null : path;
  const inside = node.path.every((step, i) => String(step) === String(path[i]));
  return inside ? path.slice(node.path.length) : null;
}
