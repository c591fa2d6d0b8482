// One node on the canvas: a card that is a button, and its ports beside it.
// The wrapper and the card live as long as the node is attached, so focus stays.

import { typeTitle } from './describe';
import { el } from './dom';
import { diffIcon, stateIcon, stateLook, typeIcon } from './icons';
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
}

export type DiffKind = 'added' | 'removed' | 'changed';

export interface Badge {
  severity: 'error' | 'warning';
  message: string;
}

/** Everything besides the node that decides how it is drawn. */
export interface NodeDress {
  state?: NodeState | undefined;
  diff?: DiffKind | undefined;
  badge?: Badge | undefined;
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
  private drawn = '';
  private dressed = '';
  private place = '';

  constructor(
    readonly key: string,
    private readonly editable: boolean,
  ) {
    this.element.dataset.key = key;
    this.element.append(this.card);
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
    const look = JSON.stringify([node.type, node.name, node.detail, node.facts, node.ports, ports]);
    const clothes = JSON.stringify(dress);
    if (look === this.drawn && clothes === this.dressed) return;
    this.drawn = look;
    this.dressed = clothes;
    this.element.dataset.type = node.type;
    this.element.style.height = `${metrics.height(node)}px`;
    this.card.replaceChildren(...this.content(node, dress));
    this.card.setAttribute('aria-label', dress.label);
    this.card.tabIndex = dress.active ? 0 : -1;
    this.card.title = dress.state?.detail ?? dress.badge?.message ?? '';
    this.element.classList.toggle('gv-selected', dress.selected);
    setData(this.element, 'tone', dress.state && stateLook(dress.state.state).tone);
    setData(this.element, 'state', dress.state?.state);
    setData(this.element, 'diff', dress.diff);
    setData(this.element, 'badge', dress.badge?.severity);
    this.drawPorts(node, ports, metrics);
  }

  private content(node: GraphNode, dress: NodeDress): Node[] {
    const parts: Node[] = [
      el('span', { class: 'gv-mark' }, typeIcon(node.type)),
      el('span', { class: 'gv-text' },
        el('span', { class: 'gv-name' }, node.name),
        el('span', { class: 'gv-detail' }, node.detail || typeTitle(node.type))),
    ];
    if (node.facts.length > 0) parts.push(el('span', { class: 'gv-facts' }, ...node.facts.map((f) => el('span', {}, f))));
    if (dress.state) {
      parts.push(el('span', { class: 'gv-state' }, stateIcon(dress.state.state), el('span', {}, dress.state.label)));
    }
    if (dress.diff) parts.push(el('span', { class: 'gv-diff' }, diffIcon(dress.diff), dress.diff));
    if (dress.badge) parts.push(el('span', { class: 'gv-badge' }, '!'));
    return parts;
  }

  private drawPorts(node: GraphNode, shown: Port[], metrics: NodeMetrics): void {
    this.element.querySelectorAll('.gv-port, .gv-in, .gv-more').forEach((old) => old.remove());
    const entry = el('span', { class: 'gv-in', 'aria-hidden': 'true' });
    entry.style.top = `${metrics.inY}px`;
    this.element.append(entry, ...shown.map((port) => this.port(node, port, metrics.portY(node, port.name))));
    const rest = node.ports.filter((port) => !shown.includes(port));
    if (this.editable && rest.length > 0) {
      this.element.append(el('span', { class: 'gv-more' }, ...rest.map((port) => this.port(node, port, null))));
    }
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

function setData(element: HTMLElement, name: string, value: string | undefined): void {
  if (value) element.dataset[name] = value;
  else delete element.dataset[name];
}
