// The selected activity for real, and those before it that the person ticks: each tried
// once by the server, asked for twice where something changes, and the answers can be
// pinned. What is not ticked gives what is pinned or planned.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import type { GraphNode } from '../graph/model';
import { effectOf, endedAfter, hintOf, isSafe, type PlanStep, type Tried, type TriedStep } from './plan';
import { blockOf } from './values';

export interface RealRunHooks {
  /** Makes the attempts; words when they were refused. */
  run(node: GraphNode, item: string | undefined, before: readonly string[]): Promise<Tried | { refused: string }>;
  /** Pins what attempts gave. */
  pin(tried: readonly TriedStep[]): void;
  /** Whether anything of these can be pinned. */
  pinnable(tried: readonly TriedStep[]): number;
  choose(key: string): void;
  pinned(key: string): boolean;
  /** What the plan says of an activity. */
  step(key: string): PlanStep | undefined;
  /** Those before it that can be run for real. */
  before(node: GraphNode): readonly GraphNode[];
  /** What the definition says of an activity. */
  fields(node: GraphNode): Record<string, unknown>;
}

const button = (words: string, act: () => void, kind = '') => el('button', { type: 'button', class: `ds-button ${kind}`.trim(), onclick: act }, words);

export class RealRun {
  private readonly body = el('div', {});
  readonly element = el('div', { class: 'ds-way ds-real', role: 'group', 'aria-label': 'Run for real' }, el('h3', {}, 'Run for real'), this.body);
  private about: string | null | undefined;
  /** What the selected activity stands in. */
  private within: string | null = null;
  private step: PlanStep | undefined;
  /** Those before it that are ticked. */
  private chosen: GraphNode[] = [];
  /** What the person ticked and unticked, by key. */
  private readonly ticked = new Map<string, boolean>();
  /** What the choice was made of. */
  private made = '';

  constructor(private readonly hooks: RealRunHooks) {}

  /** Says what a run of the selected activity does; what was shown of another one goes. */
  offer(node: GraphNode | null, step: PlanStep | undefined, readonly: boolean): void {
    this.step = step;
    const before = node ? this.hooks.before(node) : [];
    const made = JSON.stringify([...before, ...(node ? [node] : [])].map((n) => [n.key, n.name, this.inputs(n), this.hooks.pinned(n.key)]));
    const other = (node?.key ?? null) !== this.about;
    const busy = this.body.querySelector('.ds-real-done, .ds-danger') !== null;
    if (!other && (busy || made === this.made)) return;
    if (other) this.ticked.clear();
    this.about = node?.key ?? null;
    this.made = made;
    const why = reasonAgainst(node, readonly, before.length > 0);
    if (!node || why !== null) return this.body.replaceChildren(el('p', { class: 'ds-quiet' }, why ?? ''));
    this.chosen = before.filter((n) => this.ticked.get(n.key) ?? (!this.hooks.pinned(n.key) && this.isSafe(n)));
    const at = this.controls().indexOf(document.activeElement as HTMLElement);
    this.begin(node);
    this.controls()[at]?.focus();
  }

  private controls(): HTMLElement[] {
    return [...this.body.querySelectorAll<HTMLElement>('input, button')];
  }

  /** What an activity is given: as planned, else as it is written. */
  private inputs(node: GraphNode): unknown {
    return this.hooks.step(node.key)?.inputs ?? this.hooks.fields(node)[node.type === 'emit' ? 'emit' : 'inputs'];
  }

  private isSafe(node: GraphNode): boolean {
    return effectOf(node.type, undefined) === null || isSafe(node.type, this.inputs(node));
  }

  private begin(node: GraphNode, focus = false): void {
    this.within = node.parent;
    const before = this.hooks.before(node);
    const words = el('p', {});
    const start = button('', () => (this.harmless(node) ? void this.run(node) : this.confirm(node)));
    const say = (): void => {
      const rest = before.length > this.chosen.length ? ' What is not ticked is not run: it gives what is pinned.' : '';
      const effect = effectOf(node.type, this.inputs(node));
      const safe = this.harmless(node);
      words.textContent = `${effect ?? 'The engine does it by itself.'} ${safe ? 'That changes nothing there.' : 'You are asked once more.'}${before.length > 0 ? rest : ' Nothing before it is run.'}`;
      start.textContent = `Run ${this.chosen.length > 0 ? `up to ${node.name}` : node.name}${safe ? '' : ' …'}`;
      start.disabled = effect === null && this.chosen.length === 0;
    };
    say();
    this.body.replaceChildren(
      ...(before.length > 0 ? [el('fieldset', { class: 'ds-real-before' }, el('legend', {}, 'Before it, for real too'), ...before.map((n) => this.tick(n, say)))] : []),
      words, el('div', { class: 'ds-notice-actions' }, start));
    if (focus) start.focus();
  }

  private tick(node: GraphNode, changed: () => void): HTMLElement {
    const box = el('input', { type: 'checkbox' });
    box.checked = this.chosen.includes(node);
    box.addEventListener('change', () => {
      this.ticked.set(node.key, box.checked);
      this.chosen = box.checked ? [...this.chosen, node] : this.chosen.filter((n) => n !== node);
      changed();
    });
    return el('label', { class: 'ds-check' }, box, `${node.name}: ${effectOf(node.type, this.inputs(node)) ?? ''}${node.parent === null || node.parent === this.within ? '' : ` For each item of ${node.parent}.`}${this.hooks.pinned(node.key) ? ' Pinned.' : ''}`);
  }

  private harmless(node: GraphNode): boolean {
    return [...this.chosen, node].every((n) => this.isSafe(n));
  }

  private confirm(node: GraphNode): void {
    const leave = button('Leave it', () => this.begin(node, true));
    const effects = [...this.chosen, node].filter((n) => !this.isSafe(n)).map((n) => (this.chosen.length > 0 ? `${n.name}: ` : '') + (effectOf(n.type, this.inputs(n)) ?? ''));
    this.body.replaceChildren(
      el('p', {}, el('strong', {}, 'This has effects. '), `${effects.join(' ')} Once each, without retries, and audited.`),
      el('div', { class: 'ds-notice-actions' }, button('Run it now', () => void this.run(node), 'ds-danger'), leave));
    leave.focus();
  }

  private async run(node: GraphNode): Promise<void> {
    this.body.replaceChildren(el('p', { role: 'status', class: 'ds-real-done' }, 'It runs …'));
    const tried = await this.hooks.run(node, this.step?.item, this.chosen.map((n) => n.key));
    if (this.about !== node.key) return; // somebody looks at another one by now
    const actions = el('div', { class: 'ds-notice-actions ds-real-done' });
    if ('refused' in tried) {
      this.body.replaceChildren(el('p', { class: 'ds-problem', role: 'alert' }, tried.refused), actions);
    } else {
      const broken = brokenBefore(tried);
      const answers = gaveOf(tried);
      const pinned = this.hooks.pinnable(answers);
      this.body.replaceChildren(...(tried.before ?? []).map((t) => el('details', { class: 'ds-real-step' }, el('summary', {}, `${t.activity}${t.item === undefined ? '' : ` · ${t.item}`}: ${t.error?.type ?? t.status} ${endedAfter(t.took)}`), ...wordsOf(t))),
        el('p', { role: 'status' }, broken ? `${broken.activity} failed: ${failureOf(broken)} ` : '', broken ? button(`Show ${broken.activity}`, () => this.hooks.choose(broken.activity), 'ds-link') : head(tried)),
        ...(broken ? [el('p', {}, head(tried))] : (tried.problems ?? []).map((p) => el('p', { class: 'ds-problem' }, p.message ?? ''))),
        ...(reached(tried) ? wordsOf(tried) : []), actions);
      if (!reached(tried)) actions.append(button('Run it again …', () => this.begin(node, true), 'ds-primary'));
      else if (pinned > 0) actions.append(button(pinned > 1 ? 'Pin these answers' : 'Pin this answer', () => this.hooks.pin(answers), tried.error ? '' : 'ds-primary'));
    }
    if (actions.lastElementChild?.textContent !== 'Run it again …') actions.append(button('Run it again …', () => this.begin(node, true)));
    actions.querySelector('button')?.focus();
  }
}

/** What can be pinned: what the chosen activity came to, and of those before it what did not fail. */
function gaveOf(tried: Tried): TriedStep[] {
  return reached(tried) ? [...(tried.before ?? []).filter((t) => !t.error), tried] : [];
}

function reached(tried: Tried): boolean {
  return (tried.problems ?? []).length === 0;
}

/** What failed on the way, so that the chosen activity was not reached. */
function brokenBefore(tried: Tried): TriedStep | undefined {
  return reached(tried) ? undefined : [...(tried.before ?? [])].reverse().find((t) => t.error);
}

function failureOf(tried: TriedStep): string {
  return `${tried.error?.type ?? ''}: ${tried.error?.message ?? ''}`;
}

function head(tried: Tried): string {
  if (!reached(tried)) return `${tried.activity} was not reached.`;
  return `Ran for real: ${tried.status} ${endedAfter(tried.took)}`;
}

function wordsOf(tried: TriedStep): HTMLElement[] {
  const log = tried.log.map((l) => l.line).join('\n');
  const hint = tried.error ? hintOf(tried.error.type ?? '') : null;
  return [
    ...(tried.error ? [el('p', { class: 'ds-problem' }, failureOf(tried))] : []),
    ...(hint ? [el('p', { class: 'ds-hint' }, hint)] : []),
    ...(tried.inputs === undefined || tried.inputs === null ? [] : [el('details', {}, el('summary', {}, 'What it was given'), el('pre', { tabindex: 0, 'aria-label': 'What it was given' }, blockOf(tried.inputs)))]),
    ...(tried.error ? [] : [el('p', { class: 'ds-label' }, 'What it gave'), el('pre', { tabindex: 0, 'aria-label': 'What it gave' }, blockOf(tried.outputs ?? null))]),
    ...(log === '' ? [] : [el('details', {}, el('summary', {}, 'What it printed'), el('pre', { tabindex: 0, 'aria-label': 'Log' }, log))]),
  ];
}

/** Why an activity cannot be run; null when it can, or when what leads to it can. */
function reasonAgainst(node: GraphNode | null, readonly: boolean, leads: boolean): string | null {
  if (!node) return 'Select an HTTP request, SQL, script, email, AI or emit activity: it is really called, once, with the input on the left.';
  if (readonly) return 'Who may only look cannot run anything.';
  if (leads) return null;
  if (node.type === 'worker' || node.type === 'workflow') return `A ${typeTitle(node.type).toLowerCase()} runs in executions only: start one with Run, or pin what it gives.`;
  if (effectOf(node.type, undefined) === null) return `${node.name} is done by the engine itself: the plan shows all of it.`;
  return null;
}
