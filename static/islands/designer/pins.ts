// Data pinned for trying a workflow out: an input and what activities give. Kept in
// this browser beside the draft, never in the definition.

import { isRecord } from '../graph/model';
import { valueOfBlock } from './values';

export class Pins {
  input = '';
  /** Told when activities are pinned or no more. */
  changed: () => void = () => undefined;
  private sensitive = false;
  private mocks: Record<string, string> = {};

  constructor(private readonly key: string) {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
      if (isRecord(kept) && typeof kept.input === 'string') this.input = kept.input;
      if (isRecord(kept) && isRecord(kept.mocks)) this.mocks = Object.fromEntries(Object.entries(kept.mocks).filter(([, v]) => typeof v === 'string')) as Record<string, string>;
    } catch {
      // Without storage nothing was kept.
    }
  }

  /** The pinned text of an activity; "" when it is not pinned. */
  of(activity: string): string {
    return this.mocks[activity] ?? '';
  }

  get all(): Readonly<Record<string, string>> {
    return this.mocks;
  }

  /** Whether an activity is pinned. */
  get some(): boolean {
    return Object.keys(this.mocks).length > 0;
  }

  get empty(): boolean {
    return this.input === '' && !this.some;
  }

  /** Input and pins as values, or words about what cannot be read. A pin of what is gone waits for it to come back. */
  given(known: (activity: string) => boolean): { input: unknown; mocks: Record<string, unknown> } | string {
    let what = 'The input';
    try {
      const input = valueOfBlock(this.input) ?? {};
      const mocks: Record<string, unknown> = {};
      for (const [id, text] of Object.entries(this.mocks)) {
        what = `What is pinned at ${id}`;
        if (known(id)) mocks[id] = valueOfBlock(text);
      }
      return { input, mocks };
    } catch (e) {
      return `${what} cannot be read: ${(e as Error).message}`;
    }
  }

  /** Sensitive input lives as long as the page. */
  setInput(text: string, sensitive = false): void {
    this.input = text;
    this.sensitive = sensitive;
    this.keep();
  }

  pin(activity: string, text: string): void {
    if (text.trim() === '') delete this.mocks[activity];
    else this.mocks[activity] = text;
    this.keep();
  }

  clear(): void {
    this.mocks = {};
    this.keep();
  }

  private keep(): void {
    this.changed();
    try {
      localStorage.setItem(this.key, JSON.stringify({ input: this.sensitive ? '' : this.input, mocks: this.mocks }));
    } catch {
      // Full or switched off: the pins live as long as the page.
    }
  }
}
