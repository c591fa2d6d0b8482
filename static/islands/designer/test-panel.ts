// Trying a workflow out where it is drawn: an input, pinned outputs, and the plan
// that follows from them, lit on the canvas. Nothing of it has an effect, but what
// is run for real when the person says so.

import { el } from '../graph/dom';
import type { GraphNode } from '../graph/model';
import type { Pins } from './pins';
import { litOf, pinsOf, statesOf, stepOf, wordsOf, type Plan, type PlanStep, type Tried } from './plan';
import { RealRun } from './real-run';
import type { Server } from './server';
import type { Session } from './session';
import { blockOf } from './values';
import type { GraphView } from '../graph/view';

const planAfter = 400; // ms without a change, while the panel is open

export interface TestHooks {
  view(): GraphView;
  choose(key: string): void;
  /** The panel opened: what stood in its place makes room. */
  opened(): void;
}

export class TestPanel {
  readonly element = el('section', { class: 'ds-test', 'aria-label': 'Try out', hidden: true });
  /** What the selected activity would be given; beside its form. */
  readonly aside = el('div', { class: 'ds-section ds-tried', hidden: true });
  private readonly input = el('textarea', { class: 'ds-code-input', id: 'ds-test-input', rows: 4, spellcheck: 'false', placeholder: 'amount: 5' });
  private readonly past = el('select', { id: 'ds-test-past', 'aria-label': 'Past execution to take data from' }, el('option', { value: '' }, 'Take data from a past execution …'));
  private readonly result = el('div', { class: 'ds-test-result', role: 'status' });
  private readonly real = new RealRun({
    run: (node, item) => this.attempt(node, item),
    pin: (key, text) => this.pin(key, text),
  });
  private plan: Plan | null = null;
  private until: string | null = null;
  private timer = 0;
  private asked = 0;
  /** The activity that the aside is about. */
  private shown: string | null = null;

  constructor(private readonly session: Session, private readonly server: Server, private readonly pins: Pins, private readonly hooks: TestHooks) {
    this.input.value = this.pins.input;
    this.input.addEventListener('input', () => {
      this.pins.setInput(this.input.value);
      this.soon();
    });
    this.past.addEventListener('change', () => void this.take(this.past.value));
    const button = (words: string, act: () => void, primary = false) =>
      el('button', { type: 'button', class: primary ? 'ds-button ds-primary' : 'ds-button', onclick: act }, words);
    this.element.append(
      el('div', { class: 'ds-test-give' },
        el('label', { class: 'ds-label', for: 'ds-test-input' }, 'Input (YAML)'), this.input, this.past,
        el('div', { class: 'ds-notice-actions' },
          button('Plan', () => void this.run(null), true),
          button('Plan to the selected activity', () => void this.run(this.session.focus?.key ?? null)),
          button('Unpin all', () => (this.pins.clear(), void this.run(this.until))),
          button('Close', () => this.toggle(false)))),
      this.result);
    session.listen({ text: () => this.soon(), selection: () => this.showAside() });
  }

  toggle(show = this.element.hidden, until: string | null = null): void {
    if (show !== this.element.hidden) return;
    this.element.hidden = !show;
    if (show) {
      this.hooks.opened();
      void this.listPast();
      void this.run(until);
      this.input.focus();
    } else {
      this.plan = null;
      this.show();
    }
  }

  /** Plans, up to one activity or to the end. */
  async run(until: string | null): Promise<void> {
    clearTimeout(this.timer);
    if (this.element.hidden) return this.toggle(true, until);
    this.until = until;
    const ask = ++this.asked;
    const given = this.given();
    if (typeof given === 'string') return this.complain(given);
    const plan = await this.server.plan(this.session.text, given.input, given.mocks);
    if (ask !== this.asked || this.element.hidden) return; // a newer one is on its way
    if ('refused' in plan) return this.complain(plan.refused);
    this.plan = plan;
    this.show();
  }

  private given(): { input: unknown; mocks: Record<string, unknown> } | string {
    return this.pins.given((id) => this.session.node(id) !== undefined);
  }

  private soon(): void {
    if (this.element.hidden) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.run(this.until), planAfter);
  }

  private complain(words: string): void {
    this.result.replaceChildren(el('p', { class: 'ds-problem' }, words));
  }

  private show(): void {
    const { plan, session } = this;
    const view = this.hooks.view();
    view.setStates(plan ? statesOf(plan, session.graph, this.until) : new Map());
    view.setLit(plan ? litOf(plan, session.graph) : new Map());
    this.result.replaceChildren(...(plan ? this.words(plan) : []));
    this.showAside();
  }

  private words(plan: Plan): HTMLElement[] {
    const reached = plan.steps.filter((s) => s.status !== 'pending');
    const head = plan.status === 'incomplete' ? 'The plan stops where something has to be pinned.' : `It would end as ${plan.status}${plan.duration ? ` after ${plan.duration}` : ''}.`;
    return [
      el('p', {}, el('strong', {}, head), ' Nothing was run.'),
      ...plan.problems.map((p) => el('p', { class: 'ds-problem' }, p.message ?? '')),
      el('ol', { class: 'ds-steps' }, ...reached.map((step) => el('li', {},
        el('button', { type: 'button', class: 'ds-link', onclick: () => this.hooks.choose(step.activity) }, step.item === undefined ? step.activity : `${step.activity} · ${step.item}`),
        el('span', {}, ` ${wordsOf(step)}`)))),
      ...(plan.output ? [el('p', { class: 'ds-label' }, 'Output'), el('pre', { tabindex: 0, 'aria-label': 'Output' }, blockOf(plan.output))] : []),
    ];
  }

  private showAside(): void {
    const node = this.session.focus;
    const step = node && this.plan ? stepOf(this.plan, node.key) : undefined;
    this.aside.hidden = !this.plan || !node;
    if (!this.plan || !node) return void (this.shown = null);
    const pinned = el('textarea', { class: 'ds-code-input', id: 'ds-pin', rows: 3, spellcheck: 'false', placeholder: 'status: 200' });
    pinned.value = this.pins.of(node.key);
    pinned.addEventListener('input', () => {
      this.pins.pin(node.key, pinned.value);
      this.soon();
    });
    this.real.offer(this.session.readonly ? null : node, step);
    if (this.shown === node.key) return this.refresh(step);
    this.shown = node.key;
    this.aside.replaceChildren(el('h3', {}, 'Tried out'),
      el('p', { class: 'ds-quiet ds-tried-words' }),
      el('p', { class: 'ds-label' }, 'It would be given'), el('pre', { class: 'ds-tried-inputs', tabindex: 0, 'aria-label': 'Resolved inputs' }, ''),
      el('label', { class: 'ds-label', for: 'ds-pin' }, 'Pinned: what it gives (YAML)'), pinned, this.real.element);
    this.refresh(step);
  }

  private async attempt(node: GraphNode, item: string | undefined): Promise<Tried | { refused: string }> {
    const given = this.given();
    if (typeof given === 'string') return { refused: given };
    return this.server.attempt(this.session.text, given.input, given.mocks, node.key, item);
  }

  private pin(key: string, text: string): void {
    this.pins.pin(key, text);
    this.session.say(`Pinned what ${key} gave`);
    void this.run(this.until);
  }

  /** Shows anew what is not being typed into. */
  private refresh(step: PlanStep | undefined): void {
    const field = this.aside.querySelector<HTMLTextAreaElement>('#ds-pin')!;
    if (field !== document.activeElement) field.value = this.shown === null ? '' : this.pins.of(this.shown);
    this.aside.querySelector('.ds-tried-words')!.textContent = step ? wordsOf(step) : 'not reached';
    this.aside.querySelector('.ds-tried-inputs')!.textContent = step?.inputs === undefined || step.inputs === null ? 'nothing' : blockOf(step.inputs);
  }

  private async listPast(): Promise<void> {
    const list = await this.server.executions();
    this.past.replaceChildren(this.past.options[0]!, ...list.map((e) => el('option', { value: e.id }, `${e.status}, ${new Date(e.startedAt).toLocaleString()}`)));
    this.past.hidden = list.length === 0;
  }

  /** Pins what a past execution was started with and what its activities gave. */
  private async take(id: string): Promise<void> {
    this.past.value = '';
    const execution = id ? await this.server.execution(id) : null;
    if (!execution) return;
    const { input, mocks } = pinsOf(execution);
    this.input.value = blockOf(input);
    this.pins.setInput(this.input.value);
    for (const [activity, value] of Object.entries(mocks)) this.pins.pin(activity, blockOf(value));
    await this.run(null);
  }
}
