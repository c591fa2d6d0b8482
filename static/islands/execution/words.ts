// The words under a node while an execution runs. Pure.

import { rough } from '../app/times';

/** A state as the server sends it; instants in RFC 3339. */
export interface SentState {
  state: string;
  label: string;
  detail?: string;
  since?: string;
  until?: string;
}

/** "Attempt 2 of 5, next in 8 s", "Waiting for a person since 3 min". */
export function wordsOf(sent: SentState, now: number): string {
  const parts = [sent.label];
  if (sent.until) {
    const left = Date.parse(sent.until) - now;
    const ahead = sent.state === 'retrying' ? 'next in' : 'for another';
    parts.push(left > 0 ? `${ahead} ${rough(left)}` : 'due now');
  } else if (sent.since) {
    parts.push(`since ${rough(Math.max(0, now - Date.parse(sent.since)))}`);
  }
  return parts.join(sent.state === 'retrying' ? ', ' : ' ');
}
