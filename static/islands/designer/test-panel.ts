// Trying a workflow out where it is drawn: an input, pinned outputs, and the plan
// that follows from them, lit on the canvas. Nothing of it has an effect, but what
// is run for real when the person says so.

import { el } from '../graph/dom';
import { isRecord, type GraphNode } from '../graph/model';
import type { GraphView } from '../graph/view';
import type { Pins } from './pins';
import { endedAfter, litOf, mocksOf, pinsOf, statesOf, stepOf, triableBefore, withReal, wordsOf, type Plan, type PlanStep, type Tried, type TriedStep } from './plan';
import { RealRun } from './real-run';
import type { Server } from './server';
import type { Session } from './session';
import { TryInput } from './try-input';
import { blockOf, valueOfBlock } from './values';

const planAfter = 400; // ms without a change, while the panel is open

export interface TestHooks {
  view(): GraphView;
  choose(key: string): void;
  /** The panel opened: what stood in its place makes room. */
  opened(): void;
}

const button = (words: string, act: () => void, kind = '') =>
  el('button', { type: 'button', class: `ds-button ${kind}`.trim(), onclick: act }, words);

export class TestPanel {
  readonly element = el('section', { class: 'ds-test', 'aria-label': 'Try out', hidden: true });
  /** What the selected activity would be given; beside its form. */
  readonly aside = el('div', { class: 'ds-section ds-tried', hidden: true });
  private readonly input: TryInput;
  private readonly past = el('select', { id: 'ds-test-past', 'aria-label': 'Past execution to take data from' }, el('option', { value: '' }, 'Take data from a past execution …'));
  private readonly result = el('div', { class: 'ds-test-result', role: 'status' });
  private readonly unpin = button('Unpin all', () => (this.pins.clear(), this.forget(), void this.run(this.until)));
  private readonly toHere = button('Plan to the selected activity', () => void this.asked(this.session.focus?.key ?? null));
  private readonly real: RealRun;
  private plan: Plan | null = null;
  /** What was run for real since input, pins or text changed: the plan goes on from it. */
  private ran: readonly TriedStep[] = [];
  private until: string | null = null;
  private timer = 0;
  private turn = 0;
  /** What the form was made of. */
  private schema = '';
  /** The activity that the aside is about. */
  private shown: string | null = null;

  constructor(private readonly session: Session, private readonly server: Server, private readonly pins: Pins, private readonly hooks: TestHooks) {
    this.input = new TryInput({
      ask: (fields) => (fields.set('_definition', session.text), server.tryForm(fields)),
      text: () => pins.input,
      changed: (input, sensitive) => {
        const text = isRecord(input) && Object.keys(input).length > 0 ? blockOf(input) : '';
        if (text === pins.input) return;
        pins.setInput(text, sensitive);
        this.soon();
      },
      written: (text) => {
        pins.setInput(text);
        if (this.input.asYaml) this.soon();
        else void this.refill();
      },
    });
    this.real = new RealRun({
      run: (node, item, before) => this.attempt(node, item, before),
      pin: (tried) => this.pin(tried),
      pinnable: (tried) => Object.keys(mocksOf(tried, session.graph)).length,
      choose: (key) => hooks.choose(key),
      pinned: (key) => this.pins.of(key) !== '',
      step: (key) => (this.plan ? stepOf(this.plan, key) : undefined),
      before: (node) => triableBefore(session.graph, node.key),
      fields: (node) => session.fields(node),
    });
    this.past.addEventListener('change', () => void this.take(this.past.value));
    this.element.append(
      el('div', { class: 'ds-test-give' }, el('h3', {}, 'Input'), this.input.element, this.past),
      el('div', { class: 'ds-test-do' },
        el('div', { class: 'ds-test-ways' },
          el('div', { class: 'ds-way' }, el('h3', {}, 'Plan'), el('p', {}, 'Computes the path and what each activity would be given. Nothing is called, sent or stored.'),
            el('div', { class: 'ds-notice-actions' }, button('Plan', () => void this.asked(null), 'ds-primary'), this.toHere, this.unpin)),
          this.real.element,
          el('button', { type: 'button', class: 'ds-icon ds-test-close', 'aria-label': 'Close', title: 'Close', onclick: () => this.toggle(false) }, '×')),
        this.result));
    pins.changed = () => void (this.unpin.hidden = !pins.some);
    pins.changed();
    session.listen({ text: () => this.soon(), selection: () => this.showAside() });
  }

  toggle(show = this.element.hidden, until: string | null = null): void {
    if (show !== this.element.hidden) return;
    this.element.hidden = !show;
    if (!show) {
      this.plan = null;
      this.forget();
      return this.show();
    }
    this.hooks.opened();
    this.showAside();
    void this.begin(until);
  }

  /** Fills the form with what was used last, and plans if that is enough. */
  private async begin(until: string | null): Promise<void> {
    const list = await this.listPast();
    const newest = this.pins.input === '' && list[0] ? pinsOf(await this.server.execution(list[0].id)).input : null;
    const complete = await this.refill(shownOnly(newest));
    this.element.querySelector<HTMLElement>('.ds-try-form :is(input, select, textarea)')?.focus();
    if (complete || until !== null) await this.run(until);
    else this.invite();
  }

  private invite(): void {
    this.result.replaceChildren(el('p', { class: 'ds-quiet' }, 'Fill in the input, then plan: the path lights up on the canvas. Where the plan cannot know what an activity gives, it stops and you can pin an answer.'));
  }

  /** Makes the form anew; with what is pinned, else with what is given, else with examples. */
  private async refill(otherwise: unknown = null): Promise<boolean> {
    this.schema = this.schemaNow();
    let value: unknown = otherwise;
    try {
      value = valueOfBlock(this.pins.input) ?? otherwise;
    } catch {
      // What cannot be read is shown as it was written.
    }
    return this.input.fill(value);
  }

  private schemaNow(): string {
    const { spec } = this.session.root;
    return isRecord(spec) ? JSON.stringify(spec.input ?? null) : '';
  }

  /** Plans because somebody asked for it: what is missing is said at its field. */
  private async asked(until: string | null): Promise<void> {
    this.forget();
    if (await this.input.check(true)) await this.run(until);
    else {
      this.plan = null;
      this.show();
      this.complain('The input is not complete: see beside its fields.');
    }
  }

  /** Plans, up to one activity or to the end. */
  async run(until: string | null): Promise<void> {
    clearTimeout(this.timer);
    if (this.element.hidden) return this.toggle(true, until);
    this.until = until;
    const turn = ++this.turn;
    const given = this.given();
    if (typeof given === 'string') return this.complain(given);
    const { ran } = this;
    const plan = await this.server.plan(this.session.text, given.input, { ...given.mocks, ...mocksOf(ran, this.session.graph) });
    if (turn !== this.turn || this.element.hidden) return; // a newer one is on its way
    if ('refused' in plan) return this.complain(plan.refused);
    this.plan = withReal(plan, ran);
    this.show();
  }

  private given(): { input: unknown; mocks: Record<string, unknown> } | string {
    return this.pins.given((id) => this.session.node(id) !== undefined);
  }

  private forget(): void {
    this.ran = [];
  }

  private soon(): void {
    this.forget();
    if (this.element.hidden) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.follow(), planAfter);
  }

  /** The plan follows what is typed, as long as the input is complete. */
  private async follow(): Promise<void> {
    const other = this.schemaNow() !== this.schema && !this.input.asYaml;
    if (other ? await this.refill() : await this.input.check(false)) await this.run(this.until);
    else if (!this.plan) this.invite();
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
    const head = plan.status === 'incomplete' ? 'The plan stops where something has to be pinned.' : `It would end as ${plan.status}${plan.duration ? ` ${endedAfter(plan.duration)}` : ''}.`;
    return [
      el('p', {}, el('strong', {}, head), this.ran.length > 0 ? ` For real ran ${[...new Set(this.ran.map((t) => t.activity))].join(', ')}; the rest is planned from what they gave.` : ' Nothing was run.'),
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
    this.toHere.disabled = !node;
    this.toHere.textContent = node ? `Plan to ${node.name}` : 'Plan to the selected activity';
    this.real.offer(node, step, this.session.readonly);
    this.aside.hidden = !this.plan || !node;
    if (!this.plan || !node) return void (this.shown = null);
    if (this.shown === node.key) return this.refresh(step);
    const pinned = el('textarea', { class: 'ds-code-input', id: 'ds-pin', rows: 3, spellcheck: 'false', placeholder: 'e.g. status: 200' });
    pinned.value = this.pins.of(node.key);
    pinned.addEventListener('input', () => {
      this.pins.pin(node.key, pinned.value);
      this.soon();
    });
    this.shown = node.key;
    this.aside.replaceChildren(el('h3', {}, 'Tried out'),
      el('p', { class: 'ds-quiet ds-tried-words' }),
      el('p', { class: 'ds-label ds-tried-given' }), el('pre', { class: 'ds-tried-inputs', tabindex: 0, 'aria-label': 'Resolved inputs' }, ''),
      el('label', { class: 'ds-label', for: 'ds-pin' }, 'Pinned: what it gives (YAML)'), pinned);
    this.refresh(step);
  }

  /** Puts the keyboard on what runs the chosen activity. */
  focusReal(): void {
    this.real.element.querySelector<HTMLElement>('input, button')?.focus();
  }

  private async attempt(node: GraphNode, item: string | undefined, before: readonly string[]): Promise<Tried | { refused: string }> {
    if (!(await this.input.check(true))) return { refused: 'The input is not complete: see beside its fields.' };
    const given = this.given();
    if (typeof given === 'string') return { refused: given };
    const { text } = this.session;
    const tried = await this.server.attempt(text, given.input, given.mocks, node.key, item, before);
    if (!('refused' in tried) && text === this.session.text) {
      this.ran = [...(tried.before ?? []), ...((tried.problems ?? []).length === 0 ? [tried] : [])];
      void this.run(this.until);
    }
    return tried;
  }

  private pin(tried: readonly TriedStep[]): void {
    const answers = mocksOf(tried, this.session.graph);
    for (const [key, value] of Object.entries(answers)) this.pins.pin(key, blockOf(value));
    this.session.say(`Pinned what ${Object.keys(answers).join(', ')} gave`);
    this.forget();
    void this.run(this.until);
  }

  /** Shows anew what is not being typed into. */
  private refresh(step: PlanStep | undefined): void {
    const field = this.aside.querySelector<HTMLTextAreaElement>('#ds-pin')!;
    if (field !== document.activeElement) field.value = this.shown === null ? '' : this.pins.of(this.shown);
    this.aside.querySelector('.ds-tried-words')!.textContent = step ? wordsOf(step) : 'not reached';
    this.aside.querySelector('.ds-tried-given')!.textContent = step?.real ? 'It was given' : 'It would be given';
    this.aside.querySelector('.ds-tried-inputs')!.textContent = step?.inputs === undefined || step.inputs === null ? 'nothing' : blockOf(step.inputs);
  }

  private async listPast(): Promise<{ id: string }[]> {
    const list = await this.server.executions();
    this.past.replaceChildren(this.past.options[0]!, ...list.map((e) => el('option', { value: e.id }, `${e.status}, ${new Date(e.startedAt).toLocaleString()}`)));
    this.past.hidden = list.length === 0;
    return list;
  }

  /** Pins what a past execution was started with and what its activities gave. */
  private async take(id: string): Promise<void> {
    this.past.value = '';
    const execution = id ? await this.server.execution(id) : null;
    if (!execution) return;
    const { input, mocks } = pinsOf(execution);
    this.forget();
    this.pins.setInput(blockOf(shownOnly(input)));
    for (const [activity, value] of Object.entries(mocks)) this.pins.pin(activity, blockOf(value));
    await this.refill();
    await this.run(null);
  }
}

/** An input without the values that are only shown as ***. */
function shownOnly(input: unknown): unknown {
  if (!isRecord(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== '***'));
}
