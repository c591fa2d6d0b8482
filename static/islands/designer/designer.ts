// The designer: one session, shown as canvas, form, outline and YAML, saved as it
// changes. This file puts the parts together and in their places.

import { drawingOf, positionsOf, type Documents } from '../graph/documents';
import { graphFromText } from '../graph/from-text';
import { el } from '../graph/dom';
import { closed, isRecord, type GraphNode, type Path } from '../graph/model';
import type { GraphView } from '../graph/view';
import { actionFor } from './actions';
import { Authoring } from './authoring';
import { copyText } from './clipboard';
import type { CodePane } from './code';
import { remove } from './commands';
import { Draft } from './draft';
import { changeBetween, placeOf } from './edit';
import { Form } from './form';
import { furnish, type Parts } from './frame';
import { held } from './held';
import { merge } from './merge';
import { Outline } from './outline';
import { Pins } from './pins';
import { Presence } from './presence';
import { badgesOf, countWords, nodeOf, problemList, problemsFrom, type Problem } from './problems';
import { codePlaces, type CodePlace, type Regions } from './regions';
import { Autosave, type Conflict } from './save';
import { Server, type Checked } from './server';
import { Session } from './session';
import { Speaker } from './speak';
import { starterText } from './starter';
import type { TestPanel } from './test-panel';

export interface DesignerData {
  name: string;
  text: string;
  etag: string | null;
  publishedText: string | null;
  publishedVersion: number | null;
  layout: Record<string, unknown> | null;
  /** What the text says, or what was last there to draw. */
  drawing: Documents | null;
}

export interface Page {
  host: HTMLElement;
  regions: Regions;
  /** The canvas; it may have been worked with before the rest was there. */
  view: GraphView;
  team: string;
  readonly: boolean;
  /** Where the save state is written; outside the designer's own element. */
  status: HTMLElement | null;
}

const checkAfter = 250; // ms without a change

export class Designer {
  readonly session: Session;
  readonly view: GraphView;
  readonly authoring: Authoring;
  readonly save: Autosave;
  private readonly form: Form;
  private readonly outline: Outline;
  private readonly speaker: Speaker;
  private readonly server: Server;
  private readonly parts: Parts;
  private readonly pins: Pins;
  private readonly stop = new AbortController();
  private code: Promise<CodePane> | null = null;
  private presence: Presence | null = null;
  private test: Promise<TestPanel> | null = null;
  private problems: Problem[] = [];
  private timer = 0;
  readonly name: string;

  constructor(private readonly page: Page, data: DesignerData) {
    this.name = data.name;
    const text = data.text || data.publishedText || starterText(data.name);
    this.session = new Session(text, page.readonly, positionsOf(isRecord(data.layout) ? data.layout : {}), data.drawing && drawingOf(data.drawing));
    this.authoring = new Authoring(this.session);
    this.form = new Form(this.session, { showInText: (path) => this.showPath(path) });
    this.outline = new Outline(this.session, (index) => this.view.notes.focus(index));
    this.server = new Server(data.name);
    this.pins = new Pins(`weftline:pins:${page.team}:${data.name}`);
    this.form.element.addEventListener('focusin', (e) => this.preview(e.target), { once: true });
    this.view = page.view;
    this.authoring.view = this.view;
    this.parts = furnish(this, page.regions, this.form.element, this.outline.element);
    this.speaker = new Speaker(page.host);
    this.save = new Autosave(this.server, {
      text: () => this.session.text,
      state: (words, trouble) => this.showState(words, trouble),
      checked: (about, checked) => this.showChecked(about, checked),
      conflict: (conflict) => void this.showConflict(conflict),
      merge: (text) => this.takeMerged(text),
    }, `weftline:draft:${page.team}:${data.name}`, data.text, data.etag);
    this.authoring.onMenu = (key, at) => this.openMenu(key, at);
    this.session.select(this.view.selection.filter((key) => this.session.node(key)));
    this.listen();
    this.redraw();
    this.placeCode(this.codePlace);
    this.restore();
    void this.check();
    if (!page.readonly) {
      this.presence = new Presence(data.name, { saved: (etag) => void this.save.follow(etag), moved: (guests) => this.view.setGuests(guests) });
      this.parts.people.replaceWith(this.presence.element);
    }
    void this.server.language().then((language) => this.form.speak(language));
  }

  private listen(): void {
    const signal = this.stop.signal;
    this.session.listen({
      text: (event) => {
        this.redraw(event.origin !== 'form');
        if (!this.page.readonly) this.save.changed();
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.check(), checkAfter);
      },
      selection: () => this.showSelection(),
      told: (words, link) => this.speaker.tell(words, link),
      said: (words, failed) => (failed ? this.speaker.refuse(words) : this.speaker.say(words)),
    });
    document.addEventListener('keydown', (e) => this.onKey(e), { signal });
    document.addEventListener('copy', (e) => this.onCopy(e, false), { signal });
    document.addEventListener('cut', (e) => this.onCopy(e, true), { signal });
    document.addEventListener('paste', (e) => this.onPaste(e), { signal });
    document.addEventListener('click', (e) => this.onLink(e), { signal });
    this.parts.canvas.addEventListener('dragover', (e) => dragged(e) && e.preventDefault(), { signal });
    this.parts.canvas.addEventListener('drop', (e) => this.onDrop(e), { signal });
    addEventListener('beforeunload', (e) => {
      if (this.save.dirty && !this.page.readonly) e.preventDefault();
    }, { signal });
  }

  /** The activity that keys act on: the one with the keyboard, else the selected one. */
  activeNode(): GraphNode | null {
    const key = this.session.selection.at(-1) ?? (this.onCanvas(document.activeElement) ? this.view.activeKey : null);
    return key === null || key === undefined ? null : (this.session.node(key) ?? null);
  }

  /** Where the canvas has the keyboard, it goes on to what is selected now. */
  followFocus(): void {
    const key = this.session.selection.at(-1);
    if (key !== undefined && this.parts.canvas.contains(document.activeElement)) this.view.focus(key);
  }

  openForm(field: 'first' | 'name' | 'id' = 'first'): void {
    const active = this.activeNode();
    if (active) this.session.select([active.key]);
    this.showPane('details');
    if (field === 'name') this.form.focusName();
    else if (field === 'id') this.form.focusId();
    else this.form.focusFirst();
  }

  /** Selects an activity and brings it into view. */
  choose(key: string): void {
    this.session.select([key]);
    this.view.reveal(key);
  }

  /** Opens or closes what tries the workflow out; with a key, it is planned up to there. */
  async tryOut(until?: string, real = false): Promise<void> {
    this.test ??= import('./test-panel').then(({ TestPanel }) => {
      const panel = new TestPanel(this.session, this.server, this.pins, {
        view: () => this.view,
        choose: (key) => this.choose(key),
        opened: () => this.toggleProblems(false),
      });
      this.parts.problems.after(panel.element);
      this.form.element.before(panel.aside);
      return panel;
    });
    const panel = await held(this.page.host, this.test);
    if (until === undefined) panel.toggle();
    else await panel.run(until);
    if (real) panel.focusReal();
  }

  /** Moves the selection into a workflow of its own. */
  async moveOut(): Promise<void> {
    await this.seldom((s) => s.moveOut(this.session, this.name, () => this.view.focus()));
  }

  /** Adds the activities of a text; false when it holds none. */
  async paste(text: string): Promise<boolean> {
    return await this.seldom((s) => this.session.run(s.paste(text))) ?? false;
  }

  async duplicate(): Promise<void> {
    await this.seldom((s) => this.session.run(s.duplicate(this.session.selection)));
  }

  /** Does something of what is loaded when first wanted; keys that come meanwhile wait, being meant for what it leads to. */
  seldom<T>(does: (part: typeof import('./seldom')) => T | Promise<T>): Promise<T | void> {
    const lost = () => void this.session.refuse('This could not be loaded: look at the connection, then try again');
    return held(this.page.host, import('./seldom').then(does, lost));
  }

  /** Previews begin with the first field that gets the keyboard. */
  private preview(first: EventTarget | null): void {
    void import('./preview').then(({ Preview }) => new Preview(this.session, this.server, this.pins, this.form.element).look(first));
  }

  openCommands(): void {
    void this.seldom((s) => s.openCommands(this));
  }

  /** The menu of an activity, or of the canvas. */
  openMenu(key: string | null, at?: { x: number; y: number }): void {
    if (key !== null) this.session.select(this.session.selection.includes(key) ? this.session.selection : [key]);
    const box = key === null ? undefined : this.view.layout.boxes.get(key);
    const place = at ?? (box && this.view.viewport.toClient({ x: box.x + box.w, y: box.y }));
    void this.seldom((s) => s.openMenu(this, key !== null, place));
  }

  openKeys(): void {
    void this.seldom((s) => s.openKeys(this));
  }

  toggleOutline(): void {
    const show = this.parts.outline.hidden;
    this.parts.outline.hidden = !show;
    if (show) this.outline.render();
    this.parts.palette.hidden = show;
    this.parts.outlineButton.setAttribute('aria-pressed', String(show));
    if (show) this.showPane('outline');
    else if (this.page.host.dataset.pane === 'outline') this.showPane('canvas');
    const key = this.session.selection.at(-1) ?? this.view.activeKey;
    if (show && key !== null && key !== undefined) this.outline.focus(key);
    else this.view.focus();
  }

  toggleProblems(show = this.parts.problems.hidden): void {
    if (show) void this.test?.then((panel) => panel.toggle(false));
    this.parts.problems.hidden = !show;
    this.parts.problemsButton.setAttribute('aria-expanded', String(show));
  }

  cycleCode(): void {
    const next = codePlaces[(codePlaces.indexOf(this.codePlace) + 1) % codePlaces.length]!;
    this.placeCode(next);
    remember(next);
  }

  showPane(name: string): void {
    this.page.host.dataset.pane = name;
    for (const tab of this.parts.tabs) tab.setAttribute('aria-selected', String(tab.dataset.tab === name));
    if (name === 'code' && this.codePlace === 'off') this.placeCode('below');
  }

  /** Shows a range of the text in the YAML. */
  async showText(from: number, to: number): Promise<void> {
    if (this.codePlace === 'off') this.placeCode('below');
    this.showPane('code');
    (await this.loadCode()).reveal(from, to);
  }

  async pickCode(place: CodePlace): Promise<void> {
    this.placeCode(place);
    remember(place);
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.stop.abort();
    this.presence?.end();
    void this.save.flush();
    this.view.destroy();
    this.authoring.destroy();
  }

  private get codePlace(): CodePlace {
    return (this.page.host.dataset.code as CodePlace | undefined) ?? 'off';
  }

  private placeCode(place: CodePlace): void {
    this.page.host.dataset.code = place;
    this.parts.codeChoice.value = place;
    if (place !== 'off') void this.loadCode();
  }

  private loadCode(): Promise<CodePane> {
    this.code ??= import('./code').then(({ CodePane }) => {
      const pane = new CodePane(this.session, (problem) => this.applyFix(problem));
      this.parts.code.replaceChildren(pane.element);
      pane.setProblems(this.problems);
      pane.setError(this.session.error);
      return pane;
    });
    return this.code;
  }

  private redraw(withForm = true): void {
    const { session, parts } = this;
    this.view.setNotes(session.notes);
    this.view.setGraph(closed(session.graph, session.collapsed), session.positions);
    this.view.setBadges(badgesOf(session.graph, this.problems));
    if (!parts.outline.hidden) this.outline.render();
    if (withForm) this.form.render();
    parts.undo.disabled = !session.canUndo;
    parts.redo.disabled = !session.canRedo;
    parts.empty.hidden = session.graph.nodes.length > 0 || session.error !== null;
    this.showError();
    this.showSelection(false);
  }

  /** Says where the text cannot be read, with a jump there; the code editor boxes the place. */
  private showError(): void {
    const { session, parts } = this;
    const { error } = session;
    parts.stale.hidden = error === null;
    void this.code?.then((pane) => pane.setError(this.session.error));
    if (!error) return;
    const { line, column } = placeOf(session.text, error.from);
    parts.stale.replaceChildren(
      `The YAML cannot be read: line ${line}, column ${column}: ${error.message}. ${session.graph.nodes.length > 0 ? 'The canvas shows what could be read last. ' : 'There is nothing to draw yet. '}`,
      el('button', { type: 'button', class: 'ds-link', onclick: () => void this.showText(error.from, error.to) }, `Go to line ${line}`));
  }

  private showSelection(withForm = true): void {
    const keys = this.session.selection;
    this.presence?.point(keys.at(-1) ?? '');
    if (keys.join() !== this.view.selection.join()) {
      this.view.select(keys.length > 0 ? keys : null);
      if (keys.length > 0) this.view.reveal(keys.at(-1)!);
    }
    if (withForm) {
      this.form.render();
      if (!this.parts.outline.hidden) this.outline.render();
    }
  }

  private async check(): Promise<void> {
    const text = this.session.text;
    const checked = await this.server.validate(text);
    if (checked) this.showChecked(text, checked);
  }

  private showChecked(about: string, checked: Checked): void {
    if (about !== this.session.text) return; // a newer answer is on its way
    this.problems = problemsFrom(about, [...checked.errors, ...checked.warnings]).sort((a, b) => a.from - b.from);
    this.view.setBadges(badgesOf(this.session.graph, this.problems));
    this.form.showProblems(this.problems);
    this.parts.problemsButton.textContent = countWords(this.problems);
    this.parts.problemsButton.dataset.severity = this.problems.some((p) => p.severity === 'error') ? 'error' : this.problems.length > 0 ? 'warning' : 'none';
    this.parts.problemList.replaceChildren(problemList(this.session.graph, this.problems, {
      show: (p) => void this.showProblem(p),
      apply: (p) => this.applyFix(p),
    }));
    void this.code?.then((pane) => pane.setProblems(this.problems));
  }

  private async showProblem(problem: Problem): Promise<void> {
    const key = nodeOf(this.session.graph, problem);
    if (key !== null) this.choose(key);
    await this.showText(problem.from, problem.to);
  }

  private applyFix(problem: Problem): void {
    if (this.problems.includes(problem)) this.session.applyChange(problem.fix, `Applied: ${problem.hint || problem.message}`);
  }

  private showPath(path: Path): void {
    const range = new Draft(this.session.text).rangeOf(path);
    if (range) void this.showText(range.from, range.to);
  }

  private showState(words: string, trouble: boolean): void {
    const place = this.page.status ?? this.parts.state;
    if (place.textContent !== words) place.textContent = words;
    place.dataset.state = trouble ? 'trouble' : words === 'Saved' ? 'saved' : 'busy';
  }

  private async showConflict(conflict: Conflict): Promise<void> {
    const { conflictNotice } = await import('./conflict');
    this.parts.notices.replaceChildren(conflictNotice(conflict, {
      mine: () => this.session.text,
      use: (text, said) => {
        if (text !== this.session.text) this.session.replaceText(text, said);
        this.save.acceptBase(conflict.theirs, conflict.etag);
      },
    }));
  }

  /** Their changes apart from ours join in as one step; not if the text would be broken by it. */
  private takeMerged(text: string): boolean {
    if (this.session.error === null && graphFromText(text).error !== null) return false;
    if (text !== this.session.text) this.session.applyChange(changeBetween(this.session.text, text), 'Merged with changes made elsewhere');
    return true;
  }

  /** Brings back what a killed tab could not save. */
  private restore(): void {
    if (this.page.readonly) return this.showState('Open for reading only', false);
    this.showState(this.save.dirty ? 'Not saved yet' : 'Saved', false);
    const kept = this.save.kept();
    if (!kept) return;
    if (kept.current) return this.session.replaceText(kept.text, 'Brought back changes that had not been saved. Undo takes them away.');
    const theirs = this.session.text;
    this.session.replaceText(kept.text, 'Brought back changes that had not been saved');
    void this.showConflict({ theirs, etag: this.page.host.dataset.etag ?? '', merged: merge(kept.base ?? theirs, kept.text, theirs) });
  }

  private onCanvas(element: Element | null): boolean {
    return element !== null && (this.parts.canvas.contains(element) || this.parts.outline.contains(element) || element === document.body);
  }

  private onKey(event: KeyboardEvent): void {
    // While something is dragged, the keys wait: what they would act on is in the air.
    if (event.defaultPrevented || this.view.busy || document.querySelector('dialog[open]')) return;
    const action = actionFor(event, this.onCanvas(event.target as Element));
    const onButton = event.key === 'Enter' && event.target instanceof HTMLButtonElement && !event.target.classList.contains('ds-outline-item');
    if (!action || onButton || (action.edits && this.page.readonly)) return;
    event.preventDefault();
    action.run(this);
  }

  /** A link away is followed once the work is saved; if it cannot be saved, the page stays and says why. */
  private onLink(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
    const elsewhere = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || link?.target === '_blank';
    if (!link || elsewhere || this.page.readonly || !this.save.dirty) return;
    event.preventDefault();
    void this.save.flush().then(() => {
      if (!this.save.dirty) location.assign(link.href);
    });
  }

  private onCopy(event: ClipboardEvent, cut: boolean): void {
    const keys = this.session.selection;
    if (!this.onCanvas(document.activeElement) || keys.length === 0 || !getSelection()?.isCollapsed) return;
    event.preventDefault();
    event.clipboardData?.setData('text/plain', copyText(new Draft(this.session.text), keys));
    this.copied(keys, cut);
  }

  /** Copies or cuts the selection after the browser's own moment for it has passed. */
  copySelection(cut: boolean): void {
    const keys = this.session.selection;
    if (keys.length === 0) return;
    void navigator.clipboard?.writeText(copyText(new Draft(this.session.text), keys));
    this.copied(keys, cut);
  }

  private copied(keys: readonly string[], cut: boolean): void {
    if (cut) this.session.run(remove(keys));
    else this.session.say(keys.length === 1 ? `Copied ${keys[0]}` : `Copied ${keys.length} activities`);
  }

  private onDrop(event: DragEvent): void {
    const files = dragged(event); // gone after this event
    if (!files) return;
    event.preventDefault();
    void this.seldom((s) => s.addFrom(this, files));
  }

  private onPaste(event: ClipboardEvent): void {
    if (!this.onCanvas(document.activeElement)) return;
    event.preventDefault();
    void this.paste(event.clipboardData?.getData('text/plain') ?? '').then((pasted) => pasted && this.followFocus());
  }
}

function remember(place: CodePlace): void {
  try {
    localStorage.setItem('weftline:code', place);
  } catch {
    // Without storage the place is not remembered.
  }
}

/** The files that are dragged, no names yet until they are dropped; anything else is left to others. */
function dragged(event: DragEvent): FileList | null {
  return event.dataTransfer?.types.includes('Files') ? event.dataTransfer.files : null;
}
