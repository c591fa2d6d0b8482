// The same document as a list: each activity with what it does and where it leads.
// A full alternative to the canvas; the same keys work on it.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import { typeIcon } from '../graph/icons';
import { groupBy, type GraphNode } from '../graph/model';
import type { Session } from './session';

export class Outline {
  readonly element = el('div', { class: 'ds-outline', role: 'group', 'aria-label': 'Outline' });

  constructor(private readonly session: Session, private readonly toNote: (index: number) => void) {
    this.element.addEventListener('keydown', (e) => this.walk(e));
  }

  render(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.outline;
    const children = groupBy(this.session.graph.nodes, (n) => n.parent ?? '');
    this.element.replaceChildren(this.list(children, ''), ...this.notes());
    if (focused) this.focus(focused);
  }

  focus(key: string): void {
    this.element.querySelector<HTMLElement>(`[data-outline="${CSS.escape(key)}"]`)?.focus();
  }

  private list(children: Map<string, GraphNode[]>, parent: string): HTMLElement {
    const nodes = children.get(parent) ?? [];
    if (nodes.length === 0) return el('p', { class: 'ds-quiet' }, 'No activities yet. Press A to add the first.');
    return el('ol', {}, ...nodes.map((node) => el('li', {}, this.item(node), children.has(node.key) ? this.list(children, node.key) : null)));
  }

  /** Notes can be read and reached from here; they are written on the canvas. */
  private notes(): HTMLElement[] {
    const { notes } = this.session;
    if (notes.length === 0) return [];
    return [el('h3', {}, 'Notes'), el('ul', {}, ...notes.map((note, i) => el('li', {}, el('button', {
      type: 'button', class: 'ds-outline-item', 'data-outline': `note ${i}`, onclick: () => this.toNote(i),
    }, el('span', {}, note.text)))))];
  }

  private item(node: GraphNode): HTMLElement {
    const { graph } = this.session;
    const name = (key: string) => graph.nodes.find((n) => n.key === key)?.name ?? key;
    const next = graph.edges.filter((e) => e.from === node.key).map((e) => `${e.port === 'success' ? '' : `${e.port} → `}${name(e.to)}`);
    const chosen = this.session.selection.includes(node.key);
    return el('button', {
      type: 'button', class: 'ds-outline-item', 'data-outline': node.key, 'aria-pressed': String(chosen),
      onclick: () => this.session.select([node.key]), onfocus: () => this.session.select([node.key]),
    },
    typeIcon(node.type),
    el('span', {}, el('strong', {}, node.name), el('small', {}, `${typeTitle(node.type)} · ${node.detail}`),
      next.length > 0 ? el('small', {}, `then ${next.join(', ')}`) : null));
  }

  private walk(event: KeyboardEvent): void {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const items = [...this.element.querySelectorAll<HTMLElement>('.ds-outline-item')];
    const at = items.indexOf(event.target as HTMLElement);
    if (!step[event.key] || at < 0 || event.altKey) return;
    event.preventDefault();
    items[at + step[event.key]!]?.focus();
  }
}
