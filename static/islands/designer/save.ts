// Autosave: the text goes to the server within two seconds, and at once to this
// browser's storage, so that a killed tab loses nothing. Somebody else's save is
// never overwritten without a person saying so.

import { decide, merge, type Merged } from './merge';
import type { Checked, Saved, Server } from './server';

const saveAfter = 900; // ms without a change
const saveWithin = 2000; // ms after the first unsaved change
const retryAfter = 5000; // ms after a failure

export interface Conflict {
  theirs: string;
  etag: string;
  /** Both sides' changes put together, with the places that both changed. */
  merged: Merged;
}

export interface SaveHooks {
  text(): string;
  /** Words for the person: "Saved", "Saving …". */
  state(words: string, trouble: boolean): void;
  checked(text: string, checked: Checked): void;
  conflict(conflict: Conflict): void;
  /** Takes over a text that holds both sides' changes, unless it would not be a workflow any more. */
  merge(text: string): boolean;
}

interface Kept {
  text: string;
  etag: string | null;
  /** The draft that the text was changed from. */
  base?: string;
}

export class Autosave {
  /** The text that the server has, as far as we know. */
  private saved: string;
  private timer = 0;
  private dirtySince = 0;
  private running: Promise<void> | null = null;
  private stopped = false;

  constructor(
    private readonly server: Server,
    private readonly hooks: SaveHooks,
    private readonly key: string,
    saved: string,
    private etag: string | null,
  ) {
    this.saved = saved;
    addEventListener('pagehide', () => this.keep());
    addEventListener('online', () => void this.flush());
  }

  /** A text that an earlier tab could not save; null when there is none. */
  kept(): (Kept & { current: boolean }) | null {
    try {
      const kept = JSON.parse(localStorage.getItem(this.key) ?? 'null') as Kept | null;
      if (!kept || typeof kept.text !== 'string' || kept.text === this.saved) return null;
      return { ...kept, current: kept.etag === this.etag };
    } catch {
      return null;
    }
  }

  forget(): void {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // No storage in this browser: there was nothing to forget.
    }
  }

  get dirty(): boolean {
    return this.hooks.text() !== this.saved;
  }

  /** The text changed: keep it here now, send it soon. */
  changed(): void {
    this.keep();
    if (!this.dirty) return this.hooks.state('Saved', false);
    if (this.stopped) return;
    this.dirtySince ||= Date.now();
    this.hooks.state('Unsaved changes', false);
    this.schedule(Math.max(0, Math.min(saveAfter, this.dirtySince + saveWithin - Date.now())));
  }

  /** Saves what is unsaved; done when the server answered, well or not. One save is under way at a time. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    while (this.running) await this.running;
    if (this.stopped || !this.dirty) return;
    this.running = this.send();
    await this.running;
  }

  private async send(): Promise<void> {
    this.dirtySince = 0;
    this.hooks.state('Saving …', false);
    const text = this.hooks.text();
    const result = await this.server.save(text, this.etag);
    this.running = null;
    this.settle(text, result);
  }

  /** Ends a conflict: from now on, changes are made to the other side's draft. */
  acceptBase(theirs: string, etag: string): void {
    this.saved = theirs;
    this.etag = etag;
    this.stopped = false;
    this.changed();
  }

  private settle(text: string, result: Saved): void {
    switch (result.kind) {
      case 'saved':
        this.saved = text;
        this.etag = result.etag;
        this.hooks.checked(text, result.checked);
        if (this.dirty) return this.changed();
        this.forget();
        return this.hooks.state('Saved', false);
      case 'stale':
        return this.clash(result.text, result.etag);
      case 'refused':
        this.stopped = false;
        return this.hooks.state(`Not saved: ${result.message}`, true);
      case 'signed out':
        this.hooks.state('Not saved: your session has ended. Your work is kept here until you have signed in again.', true);
        return this.schedule(retryAfter);
      case 'unreachable':
        this.hooks.state('Not saved: the server cannot be reached. Your work is kept in this browser.', true);
        return this.schedule(retryAfter);
    }
  }

  private clash(theirs: string, etag: string): void {
    if (theirs === this.hooks.text()) return this.acceptBase(theirs, etag);
    const merged = merge(this.saved, this.hooks.text(), theirs);
    if (merged.clashes.length === 0 && this.hooks.merge(decide(merged, []))) return this.acceptBase(theirs, etag);
    this.stopped = true;
    this.hooks.state('Not saved: the draft was changed elsewhere', true);
    this.hooks.conflict({ theirs, etag, merged });
  }

  /** Somebody else saved: takes their changes over now, rather than at the next save. */
  async follow(etag: string): Promise<void> {
    while (this.running) await this.running;
    if (this.stopped || bare(etag) === bare(this.etag)) return;
    const now = await this.server.draft();
    if (!now || this.running || this.stopped || bare(now.etag) === bare(this.etag)) return;
    this.clash(now.text, now.etag);
  }



  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.flush(), ms);
  }

  private keep(): void {
    try {
      if (this.dirty) localStorage.setItem(this.key, JSON.stringify({ text: this.hooks.text(), etag: this.etag, base: this.saved } satisfies Kept));
      else localStorage.removeItem(this.key);
    } catch {
      // Storage is full or switched off: the server's copy is all there is.
    }
  }
}

/** An etag without its quotes: headers have them, JSON has not. */
function bare(etag: string | null): string {
  return (etag ?? '').replace(/^(W\/)?"|"$/g, '');
}
