// One attempt of the selected activity for real: made once by the server, asked for
// twice where it changes something, and its answer can be pinned.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import type { GraphNode } from '../graph/model';
import { effectOf, endedAfter, hintOf, isSafe, pinOf, type PlanStep, type Tried } from './plan';
import { blockOf } from './values';

export interface RealRunHooks {
  /** Makes the attempt; words when it was refused. */
  run(node: GraphNode, item: string | undefined): Promise<Tried | { refused: string }>;
  pin(key: string, text: string): void;
  /** What the definition says of an activity. */
  fields(node: GraphNode): Record<string, unknown>;
}

export class RealRun {
  private readonly body = el('div', {});
  readonly element = el('div', { class: 'ds-way ds-real', role: 'group', 'aria-label': 'Run for real' }, el('h3', {}, 'Run one activity for real'), this.body);
  private about: string | null | undefined;
  private step: PlanStep | undefined;

  constructor(private readonly hooks: RealRunHooks) {}

  /** Says what a run of the selected activity does; what was shown of another one goes. */
  offer(node: GraphNode | null, step: PlanStep | undefined, readonly: boolean): void {
    const planned = this.step === undefined && step !== undefined;
    this.step = step;
    const idle = this.body.querySelector('.ds-real-done, .ds-danger') === null;
    if ((node?.key ?? null) === this.about && !(planned && idle)) return;
    this.about = node?.key ?? null;
    const why = reasonAgainst(node, readonly);
    if (node && why === null) this.begin(node);
    else this.body.replaceChildren(el('p', { class: 'ds-quiet' }, why ?? ''));
  }

  /** What the activity is given: as planned, else as it is written. */
  private inputs(node: GraphNode): unknown {
    return this.step?.inputs ?? this.hooks.fields(node)[node.type === 'emit' ? 'emit' : 'inputs'];
  }

  private begin(node: GraphNode, focus = false): void {
    const safe = isSafe(node.type, this.inputs(node));
    const start = el('button', { type: 'button', class: 'ds-button', onclick: () => (safe ? void this.run(node) : this.confirm(node)) }, safe ? `Run ${node.name}` : `Run ${node.name} …`);
    this.body.replaceChildren(
      el('p', {}, `${effectOf(node.type, this.inputs(node)) ?? ''} ${safe ? 'That changes nothing there.' : 'You are asked once more.'} What comes before it is not run: it gives what is pinned.`),
      el('div', { class: 'ds-notice-actions' }, start));
    if (focus) start.focus();
  }

  private confirm(node: GraphNode): void {
    const leave = el('button', { type: 'button', class: 'ds-button', onclick: () => this.begin(node, true) }, 'Leave it');
    this.body.replaceChildren(
      el('p', {}, el('strong', {}, 'This has effects. '), `${effectOf(node.type, this.inputs(node)) ?? ''} Once, without retries, and audited.`),
      el('div', { class: 'ds-notice-actions' },
        el('button', { type: 'button', class: 'ds-button ds-danger', onclick: () => void this.run(node) }, 'Run it now'), leave));
    leave.focus();
  }

  private async run(node: GraphNode): Promise<void> {
    this.body.replaceChildren(el('p', { role: 'status', class: 'ds-real-done' }, 'It runs …'));
    const tried = await this.hooks.run(node, this.step?.item);
    if (this.about !== node.key) return; // somebody looks at another one by now
    const again = el('button', { type: 'button', class: 'ds-button', onclick: () => this.begin(node, true) }, 'Run it again …');
    const actions = el('div', { class: 'ds-notice-actions ds-real-done' });
    if ('refused' in tried) {
      this.body.replaceChildren(el('p', { class: 'ds-problem', role: 'alert' }, tried.refused), actions);
    } else {
      this.body.replaceChildren(...this.words(tried), actions);
      actions.append(el('button', { type: 'button', class: tried.error ? 'ds-button' : 'ds-button ds-primary', onclick: () => this.hooks.pin(node.key, pinOf(tried)) }, 'Pin this answer'));
    }
    actions.append(again);
    actions.querySelector('button')?.focus();
  }

  private words(tried: Tried): HTMLElement[] {
    const log = tried.log.map((l) => l.line).join('\n');
    const hint = tried.error ? hintOf(tried.error.type ?? '') : null;
    return [
      el('p', { role: 'status' }, `Ran for real: ${tried.status} ${endedAfter(tried.took)}`),
      ...(tried.error ? [el('p', { class: 'ds-problem' }, `${tried.error.type ?? ''}: ${tried.error.message ?? ''}`)] : []),
      ...(hint ? [el('p', { class: 'ds-hint' }, hint)] : []),
      ...(tried.inputs === undefined || tried.inputs === null ? [] : [el('details', {}, el('summary', {}, 'What it was given'), el('pre', { tabindex: 0, 'aria-label': 'What it was given' }, blockOf(tried.inputs)))]),
      ...(tried.error ? [] : [el('p', { class: 'ds-label' }, 'What it gave'), el('pre', { tabindex: 0, 'aria-label': 'What it gave' }, blockOf(tried.outputs ?? null))]),
      ...(log === '' ? [] : [el('details', {}, el('summary', {}, 'What it printed'), el('pre', { tabindex: 0, 'aria-label': 'Log' }, log))]),
    ];
  }
}

/** Why an activity cannot be run by itself; null when it can. */
function reasonAgainst(node: GraphNode | null, readonly: boolean): string | null {
  if (!node) return 'Select an HTTP request, SQL, script, email, AI or emit activity: it is really called, once, with the input on the left.';
  if (readonly) return 'Who may only look cannot run anything.';
  if (node.type === 'worker' || node.type === 'workflow') return `A ${typeTitle(node.type).toLowerCase()} runs in executions only: start one with Run, or pin what it gives.`;
  if (effectOf(node.type, undefined) === null) return `${node.name} is done by the engine itself: the plan shows all of it.`;
  return null;
}
