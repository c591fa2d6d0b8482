// One socket a page, shared by whatever is live on it. Without a socket the page asks
// over HTTP every few seconds and says that it is stale.

import { signedOut } from './parts';
import { authExpired, effectOf, isFinal, retryDelay, type Frame } from './protocol';

export interface Watch {
  topic: string;
  /** How far the page is. Whoever reads over HTTP sets it from what was read. */
  seq: number;
  /** Something changed up to `seq`: read it and show it. */
  changed(seq: number): void;
  /** The state itself, for topics whose frames carry it. */
  state?(state: unknown): void;
  /** Tells others of the team that this workflow is being worked on here. */
  editing?: boolean;
  /** With editing: the id of the activity that is selected here, "" for none. */
  at?: string;
  /** Whether the page is live; called on every change of that. */
  live?(live: boolean): void;
}

/** Short breaks are not worth a notice. */
const graceMs = 2_000;
const pollMs = 4_000;

export class LiveClient {
  private readonly watches = new Map<string, Watch>();
  private socket: WebSocket | null = null;
  private tries = 0;
  private next = 0;
  private polling = 0;
  private grace = 0;
  private closed = false;
  private pointers = false;
  /** Of the socket, as the server names it; "" without one. */
  id = '';
  /** Milliseconds that the server's clock is ahead of ours. */
  clockOffset = 0;

  constructor(private readonly address: string) {
    document.addEventListener('visibilitychange', () => this.send({ type: 'visible', visible: !document.hidden }));
    window.addEventListener('online', () => this.connect());
    window.addEventListener('pagehide', () => this.close());
    window.addEventListener('pageshow', (e) => e.persisted && this.reopen());
  }

  watch(watch: Watch): () => void {
    const sid = `s${++this.next}`;
    this.watches.set(sid, watch);
    if (this.isOpen()) this.subscribe(sid, watch);
    else this.connect();
    return () => {
      this.watches.delete(sid);
      this.send({ type: 'unsub', sid });
    };
  }

  private isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  private connect(): void {
    if (this.closed || this.socket) return;
    this.socket = new WebSocket(this.address, 'weftline.v1');
    this.socket.addEventListener('open', () => this.opened());
    this.socket.addEventListener('message', (e) => this.receive(JSON.parse(String(e.data)) as Frame));
    this.socket.addEventListener('close', (e) => this.lost(e.code));
  }

  private opened(): void {
    this.tries = 0;
    this.send({ type: 'hello' });
    if (document.hidden) this.send({ type: 'visible', visible: false });
    for (const [sid, watch] of this.watches) this.subscribe(sid, watch);
    this.fresh();
  }

  private subscribe(sid: string, watch: Watch): void {
    this.send({ type: 'sub', sid, topic: watch.topic, from: null, ...(watch.editing ? { editing: true } : {}) });
  }

  /** Tells the others what a watch has selected; a server that does not know the frame would hang up. */
  point(watch: Watch): void {
    if (this.pointers) for (const [sid, each] of this.watches) if (each === watch) this.send({ type: 'at', sid, at: watch.at ?? '' });
  }

  private receive(frame: Frame): void {
    if (frame.type === 'welcome') {
      this.id = frame.connId;
      this.pointers = frame.pointers === true;
      for (const watch of this.watches.values()) if (watch.at) this.point(watch);
    }
    if (frame.type === 'welcome') this.clockOffset = Date.parse(frame.now) - Date.now();
    if (frame.type === 'ping') this.send({ type: 'pong' });
    for (const [sid, watch] of this.watches) {
      if ('sid' in frame && frame.sid !== sid) continue;
      const effect = effectOf(frame, sid, watch.seq);
      if (effect.kind === 'apply') watch.seq = effect.seq;
      if (effect.kind === 'apply' && frame.type === 'snap') watch.state?.(frame.state);
      if (effect.kind === 'apply') watch.changed(effect.seq);
      if (effect.kind === 'gap') watch.changed(effect.head);
    }
  }

  private lost(code: number): void {
    this.socket = null;
    if (code === authExpired) document.dispatchEvent(new CustomEvent(signedOut));
    if (this.closed || isFinal(code)) return;
    this.grace ||= window.setTimeout(() => this.stale(), graceMs);
    window.setTimeout(() => this.connect(), retryDelay(this.tries++, Math.random()));
  }

  /** No socket for a while: say so, and ask over HTTP meanwhile. */
  private stale(): void {
    for (const watch of this.watches.values()) watch.live?.(false);
    this.polling ||= window.setInterval(() => {
      for (const watch of this.watches.values()) watch.changed(watch.seq);
    }, pollMs);
  }

  private fresh(): void {
    window.clearTimeout(this.grace);
    window.clearInterval(this.polling);
    this.grace = this.polling = 0;
    for (const watch of this.watches.values()) watch.live?.(true);
  }

  private send(frame: unknown): void {
    if (this.isOpen()) this.socket!.send(JSON.stringify(frame));
  }

  private close(): void {
    this.closed = true;
    this.socket?.close();
    this.socket = null;
  }

  /** The page came back from the browser's cache. */
  private reopen(): void {
    this.closed = false;
    this.connect();
    for (const watch of this.watches.values()) watch.changed(watch.seq);
  }
}
