// Mounts the designer on its page, and takes it away when the page goes (htmx may
// swap it out without a reload). The canvas comes first, drawn from what the server
// read of the text: it can be walked, panned, zoomed and worked on. What edits texts
// is several times as large and follows once the canvas is on the screen, or as soon
// as somebody asks for it.

import { drawingOf, type Documents } from '../graph/documents';
import { closed } from '../graph/model';
import { GraphView } from '../graph/view';
import type { Designer, DesignerData } from './designer';
import { layRegions } from './regions';
import { Waiting } from './waiting';

interface Mounted {
  host: HTMLElement;
  destroy(): void;
}

let mounted: Mounted | null = null;

function mount(): void {
  const host = document.getElementById('designer');
  if (mounted && mounted.host !== host) {
    mounted.destroy();
    mounted = null;
  }
  const data = document.getElementById('designer-data');
  if (!host || mounted || !data) return;
  mounted = begin(host, JSON.parse(data.textContent ?? '{}') as DesignerData);
}

function begin(host: HTMLElement, data: DesignerData): Mounted {
  const readonly = host.dataset.readonly === 'true';
  const regions = layRegions(host, readonly);
  let designer: Promise<Designer | null> | null = null;
  let gone = false;
  const status = document.getElementById('designer-status');
  const bring = () => (designer ??= import('./designer').then((module) => {
    if (gone) return null;
    const made = new module.Designer({ host, regions, view, team: host.dataset.team ?? '', readonly, status }, data);
    waiting.arrived(made);
    return made;
  }).catch((e: unknown) => {
    if (status) [status.textContent, status.dataset.state] = ['The editor could not be loaded: load the page again', 'trouble'];
    throw e;
  }));
  const waiting = new Waiting(host, () => void bring());
  const view = new GraphView(regions.canvas, {
    mode: 'edit',
    label: `Graph of ${data.name}. Arrow keys walk along the edges, A adds, question mark shows all keys.`,
    onSelect: (keys) => waiting.selected(keys),
    onOpen: () => waiting.do((d) => d.openForm()),
    ...(readonly ? {} : { edit: waiting.edit, notes: waiting.notes }),
  });
  if (data.drawing) draw(view, data.drawing);
  // The first frame goes out before the rest is even asked for.
  requestAnimationFrame(() => setTimeout(bring));
  return {
    host,
    destroy() {
      gone = true;
      waiting.end();
      if (designer) void designer.then((d) => d?.destroy());
      else view.destroy();
    },
  };
}

function draw(view: GraphView, documents: Documents): void {
  const { graph, positions, collapsed, notes } = drawingOf(documents);
  view.setNotes(notes);
  view.setGraph(closed(graph, collapsed), positions);
}

mount();
document.addEventListener('htmx:afterSettle', mount);
document.addEventListener('htmx:historyRestore', mount);
