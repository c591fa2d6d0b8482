// Keeps "3 min ago" true, and gives the exact instant in the viewer's own zone.

import { liveClient } from '../live';

/** How far an instant lies from now, in the words the server uses too. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms > -1_000 && ms < 5_000) return 'just now';
  return ms < 0 ? `in ${rough(-ms)}` : `${rough(ms)} ago`;
}

export function rough(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
let ticking = 0;

export function freshTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const at = Date.parse(time.dateTime);
    if (!Number.isNaN(at)) time.title = exact.format(at);
  }
  tick();
  ticking ||= window.setInterval(() => !document.hidden && tick(), 1_000);
}

function tick(): void {
  const now = Date.now() + liveClient().clockOffset;
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
    const text = ago(Date.parse(time.dateTime), now);
    if (time.textContent !== text) time.textContent = text;
  }
}
