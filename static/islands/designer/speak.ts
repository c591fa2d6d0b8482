// One live region for what was done, one visible line for what could not be.

import { el } from '../graph/dom';

const shownFor = 6000; // ms

export class Speaker {
  private readonly status = el('div', { class: 'ds-hidden', role: 'status', 'aria-live': 'polite' });
  private readonly notice = el('div', { class: 'ds-toast', role: 'alert', hidden: true });
  private timer = 0;

  constructor(host: HTMLElement) {
    host.append(this.status, this.notice);
  }

  say(words: string): void {
    this.status.textContent = words;
    this.notice.hidden = true;
  }

  refuse(words: string): void {
    this.notice.textContent = words;
    this.notice.hidden = false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.notice.hidden = true), shownFor);
  }
}
