// The execution page: its graph with live states, a timeline that grows, and one
// selection shared by graph, timeline and details. What is shown comes from the
// server's HTML; this only draws the graph and keeps it in step.

import { drawingOf, GraphView, type Documents, type GraphNode, type NodeState } from '../graph';
import { liveClient, updated } from '../live';
import { grow } from './growth';
import { wordsOf, type SentState } from './words';

function mount(page: HTMLElement): void {
  const host = page.querySelector<HTMLElement>('[data-graph]')!;
  const drawing = json<Documents>('execution-drawing');
  if (!drawing) {
    host.textContent = 'The graph cannot be drawn: this version cannot be read by this release.';
    return;
  }
  const { graph, positions, notes } = drawingOf(drawing);
  let selecting = false;
  const view = new GraphView(host, {
    mode: 'live',
    label: host.dataset.label ?? 'Graph',
    onSelect: (keys) => {
      if (!selecting && keys[0]) choose(page, keys[0]);
    },
  });
  view.setNotes(notes);
  view.setGraph({ ...graph, nodes: graph.nodes.map(withoutLimit) }, positions);

  const mark = (): void => {
    selecting = true;
    const selected = document.querySelector<HTMLElement>('.tl-row.is-selected [data-select]')?.dataset.select;
    if (selected) view.select(selected);
    const place = selected && view.layout.boxes.get(selected);
    if (place) view.viewport.reveal(place);
    selecting = false;
  };
  const draw = (): void => view.setStates(statesNow());
  draw();
  requestAnimationFrame(() => requestAnimationFrame(mark)); // after the view has found its size
  document.addEventListener(updated, draw);
  document.addEventListener(updated, mark);
  document.addEventListener(updated, announce);
  window.setInterval(() => {
    if (document.hidden) return;
    if (hasClock()) draw();
  }, 1_000);
  window.setInterval(() => {
    if (!document.hidden && grow(serverNow())) page.dispatchEvent(new Event('weftline:refresh'));
  }, 200);
  page.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLElement>('[data-select]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(page, link.dataset.select!);
    selecting = true;
    view.select(link.dataset.select!);
    selecting = false;
  });
}

/** Shows an activity's details: the page is read again with it selected. */
function choose(page: HTMLElement, activity: string): void {
  const address = new URL(page.dataset.liveSrc!, location.href);
  address.searchParams.set('activity', activity);
  page.dataset.liveSrc = address.pathname + address.search;
  history.replaceState(history.state, '', page.dataset.liveSrc);
  page.dispatchEvent(new Event('weftline:refresh'));
}

function sentStates(): Record<string, SentState> {
  return json<Record<string, SentState>>('execution-states') ?? {};
}

function statesNow(): Map<string, NodeState> {
  const now = serverNow();
  return new Map(
    Object.entries(sentStates()).map(([id, sent]) => {
      const state: NodeState = { state: sent.state, label: wordsOf(sent, now) };
      if (sent.detail) state.detail = sent.detail;
      if (sent.port) state.port = sent.port;
      return [id, state];
    }),
  );
}

/** Whether any words change by the mere passing of time. */
function hasClock(): boolean {
  return Object.values(sentStates()).some((s) => s.since || s.until);
}

let spoken = '';

/** Says once, politely, when where it stands has changed. */
function announce(): void {
  const words = document.querySelector('.standing-first .standing-text')?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  const announcer = document.getElementById('announcer');
  if (!announcer || words === spoken) return;
  spoken = words;
  announcer.textContent = words;
}

function serverNow(): number {
  return Date.now() + liveClient().clockOffset;
}

function json<T>(id: string): T | null {
  const text = document.getElementById(id)?.textContent;
  return text ? (JSON.parse(text) as T) : null;
}

/** How many attempts are allowed would read as how many were made; those stand in the state. */
function withoutLimit(node: GraphNode): GraphNode {
  return { ...node, facts: node.facts.filter((fact) => !/^×\d+$/.test(fact)) };
}

const root = document.querySelector<HTMLElement>('[data-execution]');
if (root) mount(root);
