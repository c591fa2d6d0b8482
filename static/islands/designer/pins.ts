// Data pinned for trying a workflow out: an input and what activities give. Kept in
// this browser beside the draft, never in the definition.

import { isRecord } from '../graph/model';

export class Pins {
  input = '';
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

  setInput(text: string): void {
    this.input = text;
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
    try {
      localStorage.setItem(this.key, JSON.stringify({ input: this.input, mocks: this.mocks }));
    } catch {
      // Full or switched off: the pins live as long as the page.
    }
  }
}
