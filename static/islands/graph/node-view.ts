// One node on the canvas: a card that is a button, and its ports beside it.
// The wrapper and the card live as long as the node is attached, so focus stays.

import { typeTitle } from './describe';
import { el, setData } from './dom';
import { becomeState, diffIcon, stateIcon, stateLook, typeIcon } from './icons';
import type { Box } from './layout';
import { isHeadPort, type NodeMetrics } from './metrics';
import type { GraphNode, Port } from './model';

export interface NodeState {
  /** A state word of the API, or "waiting_person". */
  state: string;
  /** Words beside the mark: "waits for a person since 10:42". */
  label: string;
  /** Longer words for the tooltip. */
  detail?: string;
  /** The port by which it ended; none while it goes on. */
  port?: string;
}

export type DiffKind = 'added' | 'removed' | 'changed';

export interface Badge {
  severity: 'error' | 'warning';
  message: string;
}

/** Somebody else who has a node selected. */
export interface Guest {
  user: string;
  initials: string;
  /** One of the colours of people, from 0. */
  tint: number;
}

/** Everything besides the node that decides how it is drawn. */
export interface NodeDress {
  state?: NodeState | undefined;
  diff?: DiffKind | undefined;
  badge?: Badge | undefined;
  /** Others who have it selected. */
  guests?: readonly Guest[] | undefined;
  /** On the path that is traced; undefined while none is. */
  onPath?: boolean | undefined;
  selected: boolean;
  active: boolean;
  /** The accessible name: type, name, place, neighbours. */
  label: string;
}

export class NodeView {
  readonly element = el('div', { class: 'gv-node' });
  readonly card = el('button', { type: 'button', class: 'gv-card', tabindex: -1 });
  /** The view's version that this node shows. */
  version = -1;
  private node: GraphNode | null = null;
  private ports: Port[] = [];
  private state: NodeState | undefined;
  private stateRow: HTMLElement | null = null;
  private looks = '';
  private label = '';
  private place = '';

  constructor(
    readonly key: string,
    private readonly editable: boolean,
  ) {
    this.element.dataset.key = key;
    this.element.append(this.card);
    if (!editable) return;
    for (const attention of ['pointerenter', 'focusin']) this.element.addEventListener(attention, () => this.drawMore(true));
  }

  moveTo(box: Box): void {
    const place = `translate(${box.x}px, ${box.y}px)`;
    if (place === this.place) return;
    this.place = place;
    this.element.style.transform = place;
    this.element.style.width = `${box.w}px`;
  }

  update(node: GraphNode, metrics: NodeMetrics, dress: NodeDress): void {
    const ports = metrics.ports(node);
    const looks = node === this.node && ports === this.ports ? this.looks : JSON.stringify([node.type, node.name, node.detail, node.facts, node.ports, ports]);
    this.node = node;
    this.ports = ports;
    if (looks !== this.looks) {
      this.looks = looks;
      this.element.dataset.type = node.type;
      this.element.style.height = `${metrics.height(node)}px`;
      this.drawContent(node);
      this.drawPorts(node, ports, metrics);
      this.drawMore(dress.selected);
    }
    this.drawState(dress.state);
    this.drawMark('diff', dress.diff, (diff) => el('span', { class: 'gv-diff' }, diffIcon(diff), diff));
    this.drawMark('badge', dress.badge?.severity, () => el('span', { class: 'gv-badge' }, '!'));
    this.drawMark('guests', dress.guests?.map((g) => g.user).join(), () => el('span', { class: 'gv-guests', title: `${dress.guests!.map((g) => g.user).join(', ')} here` },
      ...dress.guests!.map((g) => el('span', { 'data-tint': g.tint }, g.initials))));
    setData(this.element, 'path', dress.onPath === undefined ? undefined : dress.onPath ? 'on' : 'off');
    if (dress.label !== this.label) this.card.setAttribute('aria-label', (this.label = dress.label));
    if (this.card.tabIndex !== (dress.active ? 0 : -1)) this.card.tabIndex = dress.active ? 0 : -1;
    const title = dress.state?.detail ?? dress.badge?.message ?? '';
    if (this.card.title !== title) this.card.title = title;
    if (this.element.classList.contains('gv-selected') !== dress.selected) this.element.classList.toggle('gv-selected', dress.selected);
    if (dress.selected) this.drawMore(true);
  }

  private drawContent(node: GraphNode): void {
    const text = el('span', { class: 'gv-text' },
      el('span', { class: 'gv-name' }, node.name),
      el('span', { class: 'gv-detail' }, node.detail || typeTitle(node.type)));
    const facts = node.facts.length > 0 ? el('span', { class: 'gv-facts' }, ...node.facts.map((f) => el('span', {}, f))) : null;
    const marks = [...this.card.querySelectorAll(':scope > :is(.gv-state, .gv-diff, .gv-badge, .gv-guests)')];
    this.card.replaceChildren(el('span', { class: 'gv-mark' }, typeIcon(node.type)), text, ...(facts ? [facts] : []), ...marks);
  }

  /** Only what changed of a state is drawn anew: states come in bursts. */
  private drawState(state: NodeState | undefined): void {
    if (state?.state === this.state?.state && state?.label === this.state?.label) return;
    this.state = state;
    const tone = state && stateLook(state.state).tone;
    setData(this.element, 'state', state?.state);
    setData(this.element, 'tone', tone);
    if (!state) {
      this.stateRow?.remove();
      this.stateRow = null;
      return;
    }
    this.stateRow ??= this.card.appendChild(el('span', { class: 'gv-state' }, el('span', { class: 'gv-said' }, stateIcon(state.state), el('span', {}, state.label))));
    const [mark, words] = this.stateRow.firstElementChild!.children;
    becomeState(mark as SVGSVGElement, state.state);
    const text = words!.firstChild as Text | null;
    if (!text) words!.textContent = state.label;
    else if (text.data !== state.label) text.data = state.label;
  }

  private drawMark<T extends string>(name: 'diff' | 'badge' | 'guests', value: T | undefined, make: (value: T) => HTMLElement): void {
    if (this.element.dataset[name] === value) return;
    setData(this.element, name, value);
    this.card.querySelector(`:scope > .gv-${name}`)?.remove();
    if (value) this.card.append(make(value));
  }

  private drawPorts(node: GraphNode, shown: Port[], metrics: NodeMetrics): void {
    this.element.querySelectorAll('.gv-port, .gv-in, .gv-more').forEach((old) => old.remove());
    const entry = el('span', { class: 'gv-in', 'aria-hidden': 'true' });
    entry.style.top = `${metrics.inY}px`;
    this.element.append(entry, ...shown.map((port) => this.port(node, port, metrics.portY(node, port.name))));
  }

  /** Ports that nothing uses yet, made when the node first gets attention. */
  private drawMore(wanted: boolean): void {
    const { node, ports } = this;
    const rest = node && this.editable ? node.ports.filter((port) => !ports.includes(port)) : [];
    if (!wanted || rest.length === 0 || this.element.querySelector(':scope > .gv-more')) return;
    this.element.append(el('span', { class: 'gv-more' }, ...rest.map((port) => this.port(node!, port, null))));
  }

  private port(node: GraphNode, port: Port, y: number | null): HTMLElement {
    const label = isHeadPort(port) ? '' : port.name;
    const props = { class: 'gv-port', 'data-port': port.name, 'data-kind': port.kind };
    const parts = [label ? el('span', { class: 'gv-port-name' }, label) : null, el('span', { class: 'gv-dot' })];
    const element = this.editable
      ? el('button', { ...props, type: 'button', tabindex: -1, 'aria-label': `Add after ${node.name}, ${port.name}` }, ...parts)
      : el('span', props, ...parts);
    if (y !== null) element.style.top = `${y}px`;
    return element;
  }
}
