// Graphs that only show: a workflow as it is, and what changes between two versions.

import { GraphView, graphFromText, mergeForDiff } from '../graph';

for (const host of document.querySelectorAll<HTMLElement>('[data-graph-preview]')) preview(host);
for (const host of document.querySelectorAll<HTMLElement>('[data-graph-diff]')) compare(host);

function preview(host: HTMLElement): void {
  const { graph, positions, notes, error } = graphFromText(text('preview-definition'));
  if (error) {
    host.textContent = `The graph cannot be drawn: ${error.message}`;
    return;
  }
  const view = new GraphView(host, { mode: 'live', label: host.dataset.graphPreview!, minimap: false });
  view.setNotes(notes);
  view.setGraph(graph, positions);
}

function compare(host: HTMLElement): void {
  const before = graphFromText(text('diff-from'));
  const after = graphFromText(text('diff-to'));
  if (after.error) {
    host.textContent = `The graph cannot be drawn: ${after.error.message}`;
    return;
  }
  const { graph, kinds } = mergeForDiff(before.graph, after.graph, changedActivities());
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

function text(id: string): string {
  const raw = document.getElementById(id)?.textContent;
  return raw ? (JSON.parse(raw) as string) : '';
}
