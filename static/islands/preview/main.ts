// Graphs that only show: a workflow as it is, and what changes between two versions.

import { drawingOf, GraphView, mergeForDiff, type Documents } from '../graph';

for (const host of document.querySelectorAll<HTMLElement>('[data-graph-preview]')) preview(host);
for (const host of document.querySelectorAll<HTMLElement>('[data-graph-diff]')) compare(host);

function preview(host: HTMLElement): void {
  const drawing = documents('preview-drawing');
  if (!drawing) return undrawn(host);
  const { graph, positions, notes } = drawingOf(drawing);
  const view = new GraphView(host, { mode: 'still', label: host.dataset.graphPreview!, minimap: false });
  view.setNotes(notes);
  view.setGraph(graph, positions);
}

function compare(host: HTMLElement): void {
  const [from, to] = [documents('diff-from'), documents('diff-to')];
  if (!from || !to) return undrawn(host);
  const after = drawingOf(to);
  const { graph, kinds } = mergeForDiff(drawingOf(from).graph, after.graph, changedActivities());
  const view = new GraphView(host, {
    mode: 'diff',
    label: host.dataset.graphDiff!,
    minimap: false,
    onSelect: (keys) => document.querySelector(`[data-activity="${CSS.escape(keys[0] ?? '')}"]`)?.scrollIntoView({ block: 'nearest' }),
  });
  view.setNotes(after.notes);
  view.setGraph(graph, after.positions);
  view.setDiff(kinds);
}

/** Activities with changed fields, as the list by activity names them. */
function changedActivities(): Set<string> {
  const rows = document.querySelectorAll<HTMLElement>('.change-changed[data-activity]');
  return new Set([...rows].map((row) => row.dataset.activity!));
}

/** What the server read of a text; null where it could not. */
function documents(id: string): Documents | null {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null') as Documents | null;
}

function undrawn(host: HTMLElement): void {
  host.classList.add('graph-undrawn');
  host.textContent = 'There is no graph while the text cannot be read. The designer shows where the error is.';
}
