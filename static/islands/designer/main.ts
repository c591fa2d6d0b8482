// Mounts the designer on its page, and takes it away when the page goes (htmx may
// swap it out without a reload).

import { Designer, type DesignerData } from './designer';

let mounted: { host: HTMLElement; designer: Designer } | null = null;

function mount(): void {
  const host = document.getElementById('designer');
  if (mounted && mounted.host !== host) {
    mounted.designer.destroy();
    mounted = null;
  }
  const data = document.getElementById('designer-data');
  if (!host || mounted || !data) return;
  const designer = new Designer({
    host,
    team: host.dataset.team ?? '',
    readonly: host.dataset.readonly === 'true',
    status: document.getElementById('designer-status'),
  }, JSON.parse(data.textContent ?? '{}') as DesignerData);
  mounted = { host, designer };
}

mount();
document.addEventListener('htmx:afterSettle', mount);
document.addEventListener('htmx:historyRestore', mount);
