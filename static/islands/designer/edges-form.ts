// The part of the form about edges: what an activity runs after, and how edges meet.

import { el } from '../graph/dom';
import { edgeKey, isRecord, type GraphNode } from '../graph/model';
import { connect, disconnect, refusals, setField } from './commands';
import { joinModes } from './fields';
import type { Session } from './session';

/** The edges into an activity, each with its remove button, and a choice to add one. */
export function needsControl(session: Session, node: GraphNode): HTMLElement {
  const edges = session.graph.edges.filter((e) => e.to === node.key);
  const list = el('ul', { class: 'ds-edges' }, ...edges.map((edge) => {
    const from = session.node(edge.from)?.name ?? edge.from;
    const words = edge.port === 'success' ? from : `${from}, on ${edge.port}`;
    return el('li', {}, el('span', {}, words),
      session.readonly ? null : el('button', { type: 'button', class: 'ds-icon', 'aria-label': `Remove the edge from ${words}`, title: 'Remove', onclick: () => session.run(disconnect(edge.key)) }, '×'));
  }));
  if (edges.length === 0) list.append(el('li', { class: 'ds-quiet' }, 'Nothing: it starts at once'));
  return el('div', { class: 'ds-field', 'data-path': 'needs' }, list, session.readonly ? null : addNeed(session, node), el('p', { class: 'ds-problem', hidden: true }));
}

function addNeed(session: Session, node: GraphNode): HTMLElement {
  const options = session.graph.nodes
    .filter((source) => source.parent === node.parent && source.id !== null && !refusals(session.graph, source.key).has(node.key))
    .flatMap((source) => source.ports.map((port) => ({ source, port: port.name })))
    .filter(({ source, port }) => !session.graph.edges.some((e) => e.key === edgeKey(source.key, port, node.key)));
  const select = el('select', { 'aria-label': 'Add an edge from', disabled: options.length === 0 },
    el('option', { value: '' }, options.length === 0 ? 'Nothing else can come before' : 'Also after …'),
    ...options.map(({ source, port }, i) => el('option', { value: i }, port === 'success' ? source.name : `${source.name}, on ${port}`)));
  select.addEventListener('change', () => {
    const option = options[Number(select.value)];
    if (select.value !== '' && option) session.run(connect(option.source.key, option.port, node.key));
  });
  return select;
}

const joinWords: Record<string, string> = {
  all: 'all: when every edge is settled and none failed',
  every: 'every: only if every edge was taken',
  done: 'done: when all are over, however',
  any: 'any: at the first',
  'n of m': 'n of m: at the n-th',
};

/** How several edges meet; hidden as long as there is nothing to join. */
export function joinControl(session: Session, node: GraphNode, join: unknown): HTMLElement {
  const count = session.graph.edges.filter((e) => e.to === node.key).length;
  const nOfM = isRecord(join) ? join : null;
  const mode = nOfM ? 'n of m' : typeof join === 'string' ? join : 'all';
  const select = el('select', { id: 'ds-join', disabled: session.readonly }, ...joinModes.map((m) => el('option', { value: m }, joinWords[m])));
  select.value = mode;
  const set = (value: unknown) => session.run(setField(node.key, ['join'], value));
  select.addEventListener('change', () => set(select.value === 'all' ? undefined : select.value === 'n of m' ? { n_of_m: 1 } : select.value));
  const field = el('div', { class: 'ds-field', 'data-path': 'join', hidden: count < 2 && join === undefined },
    el('label', { class: 'ds-label', for: 'ds-join' }, 'Waits for'), select, el('p', { class: 'ds-problem', hidden: true }));
  if (nOfM) field.append(...countInputs(session, nOfM, set));
  return field;
}

function countInputs(session: Session, join: Record<string, unknown>, set: (value: unknown) => void): HTMLElement[] {
  const n = el('input', { type: 'number', min: 1, 'aria-label': 'Number of edges', readonly: session.readonly });
  n.value = String(join.n_of_m ?? join.nOfM ?? 1);
  n.addEventListener('change', () => set({ ...join, n_of_m: Math.max(1, Number(n.value) || 1) }));
  const cancel = el('input', { type: 'checkbox', disabled: session.readonly });
  cancel.checked = join.cancelRest === true;
  cancel.addEventListener('change', () => {
    const { cancelRest: _, ...rest } = join;
    set(cancel.checked ? { ...rest, cancelRest: true } : rest);
  });
  return [n, el('label', { class: 'ds-check' }, cancel, 'then cancel the rest')];
}
