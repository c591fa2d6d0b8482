// Keeps "3 min ago" true, and gives the exact instant in the viewer's own zone.

import { liveClient } from '../live';

/** How far an instant lies from now, in the words the server uses too. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms > -1_000 && ms < 5_000) return 'just now';
  return ms < 0 ? `in ${rough(-ms)}` : `${rough(ms)} ago`;
}

/** The same with milliseconds for what was a moment ago, as the server's AgoPrecisely. */
export function agoPrecisely(at: number, now: number): string {
  return now - at < 60_000 ? `${duration(now - at)} ago` : ago(at, now);
}

export function rough(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 3_570) return `${Math.round(seconds / 60)} min`;
  if (seconds < 171_000) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** A length of time as precise as a person needs: "840 ms", "12.4 s", "3 min 20 s", as the server writes it. */
export function duration(ms: number): string {
  if (ms < 0) return '0 ms';
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < 3_600_000) return two(ms, 60_000, 'min', 1_000, 's');
  if (ms < 86_400_000) return two(ms, 3_600_000, 'h', 60_000, 'min');
  return two(ms, 86_400_000, 'd', 3_600_000, 'h');
}

function two(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeUnit}` + (rest > 0 ? ` ${rest} ${smallUnit}` : '');
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
let ticking = 0;

export function freshTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    time.title = exact.format(at);
    if (time.hasAttribute('data-exact')) time.textContent = time.title;
  }
  tick();
  ticking ||= window.setInterval(() => !document.hidden && tick(), 1_000);
}

/** An empty field for a zone takes the viewer's own. */
export function ownZone(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-zone]')) {
    field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

function tick(): void {
  const now = Date.now() + liveClient().clockOffset;
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
    const words = time.dataset.relative === 'precise' ? agoPrecisely : ago;
    const text = words(Date.parse(time.dateTime), now);
    if (time.textContent !== text) time.textContent = text;
  }
}
