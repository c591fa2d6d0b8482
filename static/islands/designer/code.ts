// The YAML beside the canvas: a CodeMirror editor that shows the session's text
// and hands back what is typed. It keeps no history of its own: there is one undo.
// It lives in a shadow root, where its styles are constructed sheets, which a
// strict content security policy allows.

import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap } from '@codemirror/commands';
import { indentService, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { Annotation, EditorState, Prec, StateEffect, StateField, type Text, type TransactionSpec } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type DecorationSet, type ViewUpdate } from '@codemirror/view';
import { el } from '../graph/dom';
import { colours, theme } from './code-looks';
import { complete, indentAfter } from './complete';
import { changeBetween, type Edit } from './edit';
import type { Problem } from './problems';
import type { Session } from './session';

export { dress } from './code-field';

/** Marks changes that come from the session and must not go back to it. */
const fromSession = Annotation.define<boolean>();
const markError = StateEffect.define<{ from: number; to: number } | null>();
const markLines = StateEffect.define<{ from: number; to: number } | null>();

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    set = set.map(tr.changes);
    for (const effect of tr.effects) if (effect.is(markLines)) set = effect.value ? lineMarks(tr.state.doc, effect.value) : Decoration.none;
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The box around what cannot be read; of an empty place, around what stands before it. */
const boxed = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    set = set.map(tr.changes);
    for (const effect of tr.effects) {
      if (!effect.is(markError)) continue;
      const to = Math.min(effect.value?.to ?? 0, tr.state.doc.length);
      const from = Math.min(effect.value?.from ?? 0, Math.max(0, to - 1));
      set = to > from ? Decoration.set(Decoration.mark({ class: 'cm-unreadable' }).range(from, to)) : Decoration.none;
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function lineMarks(doc: Text, range: { from: number; to: number }): DecorationSet {
  const last = doc.lineAt(Math.min(range.to, doc.length)).number;
  const marks = [];
  for (let n = doc.lineAt(Math.min(range.from, doc.length)).number; n <= last; n++) {
    marks.push(Decoration.line({ class: 'cm-chosen' }).range(doc.line(n).from));
  }
  return Decoration.set(marks);
}

export class CodePane {
  readonly element = el('div', { class: 'ds-code' });
  private readonly view: EditorView;
  private typing = 0;
  private helped = false;

  constructor(private readonly session: Session, private readonly apply: (problem: Problem) => void) {
    const root = this.element.attachShadow({ mode: 'open' });
    this.view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({ doc: session.text, extensions: this.extensions() }),
    });
    session.listen({
      text: (event) => event.origin !== 'code' && this.follow(event.change),
      selection: () => this.showSelection(),
    });
    this.showSelection();
  }

  /** Problems of the text as it is now. */
  setProblems(problems: readonly Problem[]): void {
    const length = this.view.state.doc.length;
    const diagnostics = problems.map((p): Diagnostic => {
      const from = Math.min(this.toEditor(p.from), length);
      return {
        from,
        to: Math.max(from, Math.min(this.toEditor(p.to), length)),
        severity: p.severity,
        source: p.code,
        message: p.hint ? `${p.message}\n${p.hint}` : p.message,
        actions: p.fix.length > 0 ? [{ name: 'Apply the fix', apply: () => this.apply(p) }] : [],
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** Boxes the place where the text cannot be read; null takes the box away. */
  setError(error: { from: number; to: number } | null): void {
    if (error === null && this.view.state.field(boxed).size === 0) return;
    this.view.dispatch({ effects: markError.of(error && { from: this.toEditor(error.from), to: this.toEditor(error.to) }) });
  }

  /** Puts the cursor on a range and the keyboard into the editor. */
  reveal(from: number, to: number): void {
    const inside = (offset: number): number => Math.min(this.toEditor(offset), this.view.state.doc.length); // what is missing at the end is named behind it
    this.view.dispatch({ selection: { anchor: inside(from), head: inside(to) }, effects: EditorView.scrollIntoView(inside(from), { y: 'center' }) });
    this.view.focus();
  }

  focus(): void {
    this.view.focus();
  }

  get focused(): boolean {
    return this.view.hasFocus;
  }

  private extensions() {
    const { session } = this;
    return [
      lineNumbers(), drawSelection(), highlightActiveLine(),
      StreamLanguage.define(yaml), indentService.of((context, at) => indentAfter(context.lineAt(at, -1).text)), syntaxHighlighting(colours), marked, boxed,
      EditorView.domEventHandlers({ focus: () => this.helpTyping() }),
      Prec.highest(keymap.of([
        { key: 'Mod-z', run: () => (session.undo(), true) },
        { key: 'Mod-f', run: (view) => (void import('./code-search').then(({ search }) => search(view)), true) },
        { key: 'Mod-y', run: () => (session.redo(), true) },
        { key: 'Mod-Shift-z', run: () => (session.redo(), true) },
      ])),
      keymap.of(defaultKeymap),
      EditorView.updateListener.of((update) => this.updated(update)),
      EditorView.contentAttributes.of({ 'aria-label': 'Workflow as YAML', tabindex: '0' }),
      EditorState.readOnly.of(session.readonly),
      theme,
    ];
  }

  private helpTyping(): void {
    if (this.helped) return;
    this.helped = true;
    void import('./code-complete').then(({ help }) => help(this.view, (context) => this.completions(context)));
  }

  private completions(context: CompletionContext): CompletionResult | null {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const template = before.includes('${{');
    if (!template && !context.explicit && !/(?:inputs|vars|activities|execution|trigger)\.[\w.?]*$/.test(before)) return null;
    const { session } = this;
    const key = this.nodeAt(context.pos);
    const found = complete(before, {
      graph: session.graph, root: session.root, node: key === null ? null : (session.node(key) ?? null), fieldsOf: (n) => session.fields(n),
    }, template);
    if (!found) return null;
    return { from: line.from + found.from, options: found.options.map((o) => ({ label: o.text, detail: o.detail })), validFor: /^\w*$/ };
  }

  private updated(update: ViewUpdate): void {
    const foreign = update.transactions.some((tr) => tr.annotation(fromSession));
    if (update.docChanged && !foreign) {
      this.session.typed(this.isDos ? changeBetween(this.session.text, this.textOf(update.state)) : editsOf(update));
      clearTimeout(this.typing);
      this.typing = window.setTimeout(() => this.session.closeGesture(), 1000);
    }
    if (update.selectionSet && !foreign && this.view.hasFocus) this.selectUnderCursor();
  }

  /** The activity whose text holds the cursor becomes the selected one. */
  private selectUnderCursor(): void {
    if (this.session.error) return;
    const key = this.nodeAt(this.view.state.selection.main.head);
    if (key !== null) this.session.select([key]);
  }

  private nodeAt(position: number): string | null {
    const offset = this.fromEditor(position);
    const around = this.session.graph.nodes.filter((n) => n.range[0] <= offset && offset <= n.range[1]);
    return around.at(-1)?.key ?? null;
  }

  private showSelection(): void {
    const node = this.session.error ? null : this.session.focus; // its place in a text that cannot be read is not known
    const effects: StateEffect<unknown>[] = [markLines.of(node ? { from: this.toEditor(node.range[0]), to: this.toEditor(trimmedEnd(this.session.text, node.range)) } : null)];
    if (node && !this.view.hasFocus) effects.push(EditorView.scrollIntoView(this.toEditor(node.range[0]), { y: 'nearest', yMargin: 40 }));
    this.view.dispatch({ effects });
  }

  private follow(change: readonly Edit[]): void {
    const specs: TransactionSpec[] = this.isDos
      ? [{ changes: { from: 0, to: this.view.state.doc.length, insert: this.session.text.replace(/\r\n/g, '\n') } }]
      : change.map((e) => ({ changes: e, sequential: true }));
    this.view.dispatch(...specs, { annotations: fromSession.of(true), sequential: true });
    this.showSelection();
  }

  // The editor counts a line break as one character, whatever it is in the text.

  private get isDos(): boolean {
    return this.session.text.includes('\r\n');
  }

  private toEditor(offset: number): number {
    return this.isDos ? this.session.text.slice(0, offset).replace(/\r\n/g, '\n').length : offset;
  }

  private fromEditor(position: number): number {
    if (!this.isDos) return position;
    return this.view.state.sliceDoc(0, position).replace(/\n/g, '\r\n').length;
  }

  private textOf(state: EditorState): string {
    return state.doc.toString().replace(/\n/g, '\r\n');
  }
}

/** The editor's changes as edits in sequence: from the last to the first, so that each counts in the old text. */
function editsOf(update: ViewUpdate): Edit[] {
  const edits: Edit[] = [];
  update.changes.iterChanges((from, to, _from, _to, inserted) => edits.push({ from, to, insert: inserted.toString() }));
  return edits.reverse();
}

function trimmedEnd(text: string, range: readonly [number, number]): number {
  return range[0] + text.slice(range[0], range[1]).trimEnd().length;
}
