// The words under a node while an execution runs. Pure.

import { rough } from '../app/times';

/** A state as the server sends it; instants in RFC 3339. */
export interface SentState {
  state: string;
  label: string;
  detail?: string;
  since?: string;
  until?: string;
  port?: string;
}

/** "Attempt 2 of 5, next in 8 s", "For a person, for 3 min", "Waits, 5 s left". */
export function wordsOf(sent: SentState, now: number): string {
  if (sent.until) return `${sent.label}, ${ahead(sent, Date.parse(sent.until) - now)}`;
  if (sent.since) return `${sent.label}, for ${rough(Math.max(0, now - Date.parse(sent.since)))}`;
  return sent.label;
}

function ahead(sent: SentState, left: number): string {
  if (left <= 0) return 'due now';
  return sent.state === 'retrying' ? `next in ${rough(left)}` : `${rough(left)} left`;
}
