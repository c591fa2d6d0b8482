// What pages and islands use of the live protocol: one client, and pages that follow it.

import { LiveClient } from './client';
import { refresh, remember } from './parts';

export { refresh, updated } from './parts';

let shared: LiveClient | null = null;

export function liveClient(): LiveClient {
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  shared ??= new LiveClient(`${scheme}//${location.host}/api/v1/live`);
  return shared;
}

/** One read at a time; what changes meanwhile causes one more. */
export class Refresher {
  private running = false;
  private again = false;

  constructor(private readonly address: () => string) {}

  async run(): Promise<void> {
    this.again = true;
    if (this.running) return;
    this.running = true;
    while (this.again) {
      this.again = false;
      await refresh(this.address());
    }
    this.running = false;
  }
}

/** Follows every element with data-live: topic, address of the page, seq if the topic has one. */
export function follow(root: ParentNode = document): void {
  remember(root);
  for (const element of root.querySelectorAll<HTMLElement>('[data-live]')) {
    const refresher = new Refresher(() => element.dataset.liveSrc ?? location.href);
    element.addEventListener('weftline:refresh', () => void refresher.run());
    liveClient().watch({
      topic: element.dataset.live!,
      seq: Number(element.dataset.liveSeq ?? -1),
      // Also for the first state of a list: something may have moved since the page was made.
      changed: () => void refresher.run(),
      live: (live) => showStale(element, !live),
    });
  }
}

function showStale(element: HTMLElement, stale: boolean): void {
  const notice = document.getElementById('stale-notice');
  if (notice && !notice.dataset.signedOut) notice.hidden = !stale;
  element.toggleAttribute('data-is-stale', stale);
}
