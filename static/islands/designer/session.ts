// The document being edited, as every part of the designer sees it: one text, the
// last good graph of it, one selection, one history. Knows no DOM and no server.

import { graphFrom, parseText, type ParsedText, type TextError } from '../graph/from-text';
import type { Drawing } from '../graph/documents';
import type { Note } from '../graph/notes';
import { emptyGraph, isRecord, type Graph, type GraphNode, type Positions, type Path } from '../graph/model';
import { run, type Command } from './commands';
import { CannotEdit, Draft } from './draft';
import { applyChange as applied, type Change, type Edit } from './edit';
import { History } from './history';
import { reparse } from './reparse';

export type Origin = 'command' | 'form' | 'code' | 'undo';

export interface TextEvent {
  origin: Origin;
  /** How the text before became the text now. */
  change: Change;
}

export interface Link {
  href: string;
  words: string;
}

export interface Listener {
  text?(event: TextEvent): void;
  selection?(): void;
  /** Words for the person: what was done, or why it was not. */
  said?(words: string, failed: boolean): void;
  /** What was done where it cannot be seen from here, and where that is. */
  told?(words: string, link: Link): void;
}

/** Texts longer than this are read when typing pauses, shorter ones at each key. */
const longText = 30_000;
const readAfter = 120; // ms without a key; longer where reading itself takes long

export class Session {
  private listeners: Listener[] = [];
  private parsed: ParsedText;
  private chosen: string[] = [];
  private readonly history = new History();
  /** Typed, but not read yet. */
  private unread: Edit[] = [];
  private readingTook = 0; // ms
  private reading: ReturnType<typeof setTimeout> | undefined;
  /** The last graph that could be read; the text may be ahead of it. */
  graph: Graph = emptyGraph;
  positions: Positions = new Map();
  collapsed: ReadonlySet<string> = new Set();
  notes: readonly Note[] = [];
  /** The whole document as plain data, as of the last good text. */
  root: Record<string, unknown> = {};
  error: TextError | null = null;

  constructor(
    private current: string,
    readonly readonly: boolean,
    /** Places kept outside the text; those in the text win. */
    private readonly outsidePositions: Positions = new Map(),
    /** What was last there to draw, for a text that begins broken. */
    lastGood: Drawing | null = null,
  ) {
    this.parsed = parseText(current);
    this.read();
    if (this.error && lastGood) this.show(lastGood);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  get text(): string {
    return this.current;
  }

  get selection(): readonly string[] {
    return this.chosen;
  }

  /** The one selected activity, if it is one. */
  get focus(): GraphNode | null {
    return this.chosen.length === 1 ? (this.node(this.chosen[0]!) ?? null) : null;
  }

  node(key: string): GraphNode | undefined {
    return this.graph.nodes.find((n) => n.key === key);
  }

  /** The activity's fields as plain data. */
  fields(node: GraphNode): Record<string, unknown> {
    let value: unknown = this.root;
    for (const step of node.path) value = isRecord(value) || Array.isArray(value) ? (value as Record<string | number, unknown>)[step] : undefined;
    return isRecord(value) ? value : {};
  }

  /** The source of the value at a path; null where there is none that can be read. */
  rangeOf(path: Path): { from: number; to: number } | null {
    return this.error ? null : new Draft(this.current, this.parsed).rangeOf(path);
  }

  select(keys: readonly string[]): void {
    this.history.close();
    this.choose(keys);
  }

  private choose(keys: readonly string[]): void {
    if (keys.length === this.chosen.length && keys.every((k, i) => k === this.chosen[i])) return;
    this.chosen = [...keys];
    for (const l of this.listeners) l.selection?.();
  }

  /** Runs a command as one step, or as part of a gesture; false and words if it cannot be done. */
  run(command: Command, origin: Origin = 'command', gesture: string | null = null): boolean {
    if (this.readonly) return this.refuse('This workflow is open for reading only');
    this.catchUp();
    let done: ReturnType<typeof run>;
    try {
      done = run(this.current, command, this.parsed);
    } catch (e) {
      if (e instanceof CannotEdit) return this.refuse(e.message);
      throw e;
    }
    const after = done.select ?? this.chosen;
    this.history.push(this.current, { said: done.said, change: done.change, selectedBefore: this.chosen, selectedAfter: after, gesture });
    this.become(done.change, origin, done.tree);
    if (done.select) this.choose(done.select);
    if (origin !== 'form') this.say(done.said);
    return true;
  }

  /** Takes over what was typed into the code editor. */
  typed(change: Change): void {
    this.history.push(this.current, { said: 'Typed', change, selectedBefore: this.chosen, selectedAfter: this.chosen, gesture: 'typing' });
    if (this.current.length < longText) return this.become(change, 'code');
    this.current = applied(this.current, change);
    this.unread.push(...change);
    clearTimeout(this.reading);
    this.reading = setTimeout(() => this.catchUp(), Math.max(readAfter, 2 * this.readingTook));
  }

  /** Reads what was typed into a long text; everything but typing begins with it. */
  catchUp(): void {
    clearTimeout(this.reading);
    const change = this.unread;
    if (change.length === 0) return;
    this.unread = [];
    const started = performance.now();
    this.parsed = reparse(this.parsed, this.current);
    this.settle(change, 'code');
    this.readingTook = Math.min(1000, performance.now() - started);
  }

  /** Replaces the whole text, as one step that can be undone. */
  replaceText(text: string, said: string): void {
    this.applyChange([{ from: 0, to: this.current.length, insert: text }], said);
  }

  /** Applies a ready-made change as one step. */
  applyChange(change: Change, said: string): void {
    if (this.readonly) return void this.refuse('This workflow is open for reading only');
    this.catchUp();
    this.history.push(this.current, { said, change, selectedBefore: this.chosen, selectedAfter: this.chosen, gesture: null });
    this.become(change, 'command');
    this.say(said);
  }

  closeGesture(): void {
    this.history.close();
  }

  undo(): void {
    this.catchUp();
    const step = this.history.undo();
    if (!step) return void this.refuse('There is nothing to undo');
    this.become(step.inverse, 'undo');
    this.select(step.selectedBefore.filter((key) => this.node(key)));
    this.say(`Undone: ${step.said}`);
  }

  redo(): void {
    this.catchUp();
    const step = this.history.redo();
    if (!step) return void this.refuse('There is nothing to redo');
    this.become(step.change, 'undo');
    this.select(step.selectedAfter.filter((key) => this.node(key)));
    this.say(`Done again: ${step.said}`);
  }

  get canUndo(): boolean {
    return this.history.canUndo;
  }

  get canRedo(): boolean {
    return this.history.canRedo;
  }

  say(words: string): void {
    for (const l of this.listeners) l.said?.(words, false);
  }

  tell(words: string, link: Link): void {
    for (const l of this.listeners) l.told?.(words, link);
  }

  refuse(words: string): false {
    for (const l of this.listeners) l.said?.(words, true);
    return false;
  }

  private become(change: Change, origin: Origin, tree?: ParsedText): void {
    if (change.length === 0) return;
    this.current = applied(this.current, change);
    this.parsed = tree ?? reparse(this.parsed, this.current);
    this.settle(change, origin);
  }

  private settle(change: Change, origin: Origin): void {
    this.read();
    this.chosen = this.chosen.filter((key) => this.node(key));
    for (const l of this.listeners) l.text?.({ origin, change });
  }

  /** Invalid text keeps the last good graph. */
  private read(): void {
    const read = graphFrom(this.parsed);
    this.error = read.error;
    if (!read.error) this.show(read);
  }

  private show(drawing: Drawing): void {
    this.graph = drawing.graph;
    this.positions = new Map([...this.outsidePositions, ...drawing.positions]);
    this.collapsed = drawing.collapsed;
    this.notes = drawing.notes;
    this.root = drawing.root;
  }
}
