// One attempt of the selected activity for real: asked for twice, made once by the
// server, and its answer can be pinned.

import { el } from '../graph/dom';
import type { GraphNode } from '../graph/model';
import { effectOf, pinOf, type PlanStep, type Tried } from './plan';
import { blockOf } from './values';

export interface RealRunHooks {
  /** Makes the attempt; words when it was refused. */
  run(node: GraphNode, item: string | undefined): Promise<Tried | { refused: string }>;
  pin(key: string, text: string): void;
}

export class RealRun {
  readonly element = el('div', { class: 'ds-real', role: 'group', 'aria-label': 'Run for real', hidden: true });
  private about: string | null = null;
  private step: PlanStep | undefined;

  constructor(private readonly hooks: RealRunHooks) {}

  /** Offers a run of an activity that a worker does; what was shown of another one goes. */
  offer(node: GraphNode | null, step: PlanStep | undefined): void {
    this.step = step;
    const can = node !== null && effectOf(node.type, step?.inputs) !== null;
    this.element.hidden = !can;
    if (!can) this.about = null;
    if (!can || node.key === this.about) return;
    this.about = node.key;
    this.begin(node);
  }

  private begin(node: GraphNode, focus = false): void {
    const start = el('button', { type: 'button', class: 'ds-button', onclick: () => this.confirm(node) }, 'Run it for real …');
    this.element.replaceChildren(start);
    if (focus) start.focus();
  }

  private confirm(node: GraphNode): void {
    const leave = el('button', { type: 'button', class: 'ds-button', onclick: () => this.begin(node, true) }, 'Leave it');
    this.element.replaceChildren(
      el('p', {}, el('strong', {}, 'This has effects. '), `${effectOf(node.type, this.step?.inputs) ?? ''} Once, without retries, and audited. What comes before it is not run: it gives what is pinned.`),
      el('div', { class: 'ds-notice-actions' },
        el('button', { type: 'button', class: 'ds-button ds-danger', onclick: () => void this.run(node) }, 'Run it now'), leave));
    leave.focus();
  }

  private async run(node: GraphNode): Promise<void> {
    this.element.replaceChildren(el('p', { role: 'status' }, 'It runs …'));
    const tried = await this.hooks.run(node, this.step?.item);
    if (this.about !== node.key) return; // somebody looks at another one by now
    const again = el('button', { type: 'button', class: 'ds-button', onclick: () => this.confirm(node) }, 'Run it again …');
    const actions = el('div', { class: 'ds-notice-actions' });
    if ('refused' in tried) {
      this.element.replaceChildren(el('p', { class: 'ds-problem', role: 'alert' }, tried.refused), actions);
    } else {
      this.element.replaceChildren(...this.words(tried), actions);
      actions.append(el('button', { type: 'button', class: 'ds-button ds-primary', onclick: () => this.hooks.pin(node.key, pinOf(tried)) }, 'Pin this answer'));
    }
    actions.append(again);
    actions.querySelector('button')?.focus();
  }

  private words(tried: Tried): HTMLElement[] {
    const failed = tried.error ? `: ${tried.error.type ?? ''} ${tried.error.message ?? ''}` : '';
    const log = tried.log.map((l) => l.line).join('\n');
    return [
      el('p', { class: tried.error ? 'ds-problem' : '', role: 'status' }, `Ran for real: ${tried.status} after ${tried.took}${failed}`),
      ...(tried.error ? [] : [el('pre', { tabindex: 0, 'aria-label': 'What it gave' }, blockOf(tried.outputs ?? null))]),
      ...(log === '' ? [] : [el('details', {}, el('summary', {}, 'What it printed'), el('pre', { tabindex: 0, 'aria-label': 'Log' }, log))]),
    ];
  }
}
