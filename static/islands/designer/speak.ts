// One live region for what was done, one visible line for what could not be, and one
// for what was done elsewhere.

import { el } from '../graph/dom';
import type { Link } from './session';

const shownFor = 6000; // ms
/** With a link to follow, and more to read. */
const linkShownFor = 12_000; // ms

export class Speaker {
  private readonly status = el('div', { class: 'ds-hidden', role: 'status', 'aria-live': 'polite' });
  private readonly refusal = el('div', { class: 'ds-toast', role: 'alert', hidden: true });
  private readonly news = el('div', { class: 'ds-news', hidden: true });
  private timer = 0;

  constructor(host: HTMLElement) {
    host.append(this.status, this.refusal, this.news);
  }

  say(words: string): void {
    this.status.textContent = words;
    this.show(null);
  }

  refuse(words: string): void {
    this.refusal.textContent = words;
    this.show(this.refusal, shownFor);
  }

  tell(words: string, link: Link): void {
    this.status.textContent = words;
    this.news.replaceChildren(`${words} `, el('a', { href: link.href }, link.words));
    this.show(this.news, linkShownFor);
  }

  /** At most one line is visible; for as long as somebody is in it, it stays. */
  private show(line: HTMLElement | null, time = 0): void {
    clearTimeout(this.timer);
    for (const one of [this.refusal, this.news]) one.hidden = one !== line;
    if (!line) return;
    const away = (): void => {
      if (line.matches(':hover, :focus-within')) this.timer = window.setTimeout(away, shownFor);
      else line.hidden = true;
    };
    this.timer = window.setTimeout(away, time);
  }
}
