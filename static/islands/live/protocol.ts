// The rules of the live protocol for one topic, without a socket: what a frame does to
// how far we are. Pure.

export interface Cursor {
  epoch: string;
  seq: number;
}

export type Frame =
  | { type: 'welcome'; connId: string; epoch: string; now: string; pingSeconds: number; pointers?: boolean }
  | { type: 'snap'; sid: string; seq: number; state: unknown }
  | { type: 'ev'; sid: string; prev: number; seq: number; events: unknown[] }
  | { type: 'lag'; sid: string; head: number }
  | { type: 'resync'; sid: string; reason: string }
  | { type: 'err'; sid?: string; code: string }
  | { type: 'bye'; code: number; retryMs: number }
  | { type: 'ping'; t: string; heads: Record<string, number> }
  | { type: 'authreq'; by: string };

/** What a frame means for a topic that has come as far as `seq`. */
export type Effect =
  | { kind: 'apply'; seq: number }
  | { kind: 'ignore' }
  /** Something is missing: read the state over HTTP, then go on from there. */
  | { kind: 'gap'; head: number };

export function effectOf(frame: Frame, sid: string, seq: number): Effect {
  switch (frame.type) {
    case 'snap':
      return frame.seq > seq ? { kind: 'apply', seq: frame.seq } : { kind: 'ignore' };
    case 'ev':
      if (frame.seq <= seq) return { kind: 'ignore' };
      return frame.prev === seq ? { kind: 'apply', seq: frame.seq } : { kind: 'gap', head: frame.seq };
    case 'lag':
      return { kind: 'gap', head: frame.head };
    case 'ping': {
      const head = frame.heads[sid] ?? 0;
      return head > seq ? { kind: 'gap', head } : { kind: 'ignore' };
    }
    default:
      return { kind: 'ignore' };
  }
}

/** How long to wait before the n-th try to connect again: doubling, with jitter, at most 15 s. */
export function retryDelay(tries: number, dice: number): number {
  const longest = Math.min(15_000, 500 * 2 ** Math.min(tries, 10));
  return longest / 2 + (longest / 2) * dice;
}

export const authExpired = 4401; // close code: the session or token is over

/** Closed for good: asking again would not help. */
export function isFinal(code: number): boolean {
  return code === 4403 || code === 4404;
}
