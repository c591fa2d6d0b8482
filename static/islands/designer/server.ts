// The designer's calls to the server: the draft and the validator.

import { renewSession } from '../app/session';
import type { Plan, Tried } from './plan';
import type { ServerProblem } from './problems';
import { Language, type Schema } from './schema';

export interface Checked {
  valid: boolean;
  errors: ServerProblem[];
  warnings: ServerProblem[];
}

/** What an expression gives, or why it gives nothing. */
export interface Evaluated {
  value: unknown;
  kind?: string;
  truncated?: boolean;
  error?: { message: string; hint?: string; line?: number; column?: number };
}

/** The form of a workflow's input, and what it comes to. */
export interface TryForm {
  html: string;
  fields: number;
  input: unknown;
  complete: boolean;
  sensitive: boolean;
}

export type Saved =
  | { kind: 'saved'; etag: string; checked: Checked }
  | { kind: 'stale'; text: string; etag: string }
  | { kind: 'refused'; message: string }
  | { kind: 'signed out' }
  | { kind: 'unreachable' };

export class Server {
  private readonly base = '/api/v1/workflows';

  constructor(private readonly name: string) {}

  /** Saves the draft if it is still the one that was read; null etag = there is none yet. */
  async save(text: string, etag: string | null): Promise<Saved> {
    const condition: Record<string, string> = etag === null ? { 'If-None-Match': '*' } : { 'If-Match': quoted(etag) };
    try {
      const answer = await send(this.draftPath, 'PUT', text, condition);
      if (answer.status === 401) return { kind: 'signed out' };
      if (answer.status === 412) return await this.stale(answer);
      const body = (await answer.json().catch(() => ({}))) as Partial<Checked> & { etag?: string; detail?: string; title?: string };
      if (!answer.ok) return { kind: 'refused', message: body.detail ?? body.title ?? `The server answered ${answer.status}` };
      return { kind: 'saved', etag: body.etag ?? answer.headers.get('ETag') ?? '', checked: checkedOf(body) };
    } catch {
      return { kind: 'unreachable' };
    }
  }

  /** What the validator says; null when it cannot be asked now. */
  async validate(text: string): Promise<Checked | null> {
    try {
      const answer = await send(`${this.base}/validate`, 'POST', text);
      return answer.ok ? checkedOf((await answer.json()) as Partial<Checked>) : null;
    } catch {
      return null;
    }
  }

  /** What would happen, without any effect. */
  async plan(definition: string, input: unknown, mocks: Record<string, unknown>): Promise<Plan | { refused: string }> {
    const answer = await this.ask<Partial<Plan>>('plan', { definition, input, mocks });
    return 'refused' in answer ? answer : ({ status: '', steps: [], edges: [], problems: [], ...answer } as Plan);
  }

  /** One attempt of an activity and of some before it, with their effects. */
  async attempt(definition: string, input: unknown, mocks: Record<string, unknown>, activity: string, item: string | undefined, before: readonly string[]): Promise<Tried | { refused: string }> {
    return this.ask<Tried>('try', { definition, input, mocks, activity, item, before, effects: true });
  }

  /** The form of the input, made of the text in the fields. */
  async tryForm(fields: FormData): Promise<TryForm | { refused: string }> {
    try {
      const answer = await fetch(`/workflows/${encodeURIComponent(this.name)}/try-form`, { method: 'POST', body: fields, headers: { 'X-CSRF-Token': csrf() } });
      return answer.ok ? ((await answer.json()) as TryForm) : { refused: `The server answered ${answer.status}` };
    } catch {
      return { refused: 'The server cannot be reached.' };
    }
  }

  /** What an expression gives, on a past execution or on pinned data. */
  async evaluate(request: object): Promise<Evaluated | { refused: string }> {
    return this.ask<Evaluated>('evaluate', request);
  }

  private async ask<T extends object>(what: string, request: object): Promise<T | { refused: string }> {
    try {
      const answer = await send(`${this.base}/${encodeURIComponent(this.name)}/${what}`, 'POST', JSON.stringify(request), { 'Content-Type': 'application/json' });
      const body = (await answer.json()) as T & { detail?: string; title?: string; errors?: { message?: string; line?: number; path?: string }[] };
      if (answer.ok) return body;
      const first = body.errors?.[0];
      return { refused: [body.detail ?? body.title ?? `The server answered ${answer.status}`, first && `${first.path ?? ''} ${first.message ?? ''}`.trim()].filter(Boolean).join(': ') };
    } catch {
      return { refused: 'The server cannot be reached.' };
    }
  }

  /** The newest executions of this workflow. */
  async executions(): Promise<{ id: string; status: string; startedAt: string }[]> {
    return (await this.read<{ items?: { id: string; status: string; startedAt: string }[] }>(`/api/v1/executions?workflow=${encodeURIComponent(this.name)}&limit=20`))?.items ?? [];
  }

  async execution(id: string): Promise<unknown> {
    return this.read(`/api/v1/executions/${encodeURIComponent(id)}`);
  }

  private async read<T>(address: string): Promise<T | null> {
    try {
      const answer = await fetch(address);
      return answer.ok ? ((await answer.json()) as T) : null;
    } catch {
      return null;
    }
  }

  /** The fields that forms are made of; null when they cannot be had. */
  async language(): Promise<Language | null> {
    try {
      const answer = await fetch('/api/v1/schema/workflow.json');
      return answer.ok ? new Language((await answer.json()) as Schema) : null;
    } catch {
      return null;
    }
  }

  private get draftPath(): string {
    return `${this.base}/${encodeURIComponent(this.name)}/draft`;
  }

  private async stale(answer: Response): Promise<Saved> {
    const body = (await answer.json().catch(() => ({}))) as { text?: string; etag?: string };
    if (typeof body.text === 'string' && body.etag) return { kind: 'stale', text: body.text, etag: body.etag };
    const now = await this.draft();
    return { kind: 'stale', text: now?.text ?? '', etag: now?.etag ?? '' };
  }

  /** The draft as it is saved now; null when it cannot be had. */
  async draft(): Promise<{ text: string; etag: string } | null> {
    try {
      const answer = await fetch(this.draftPath, { headers: { Accept: 'application/yaml' } });
      return answer.ok ? { text: await answer.text(), etag: answer.headers.get('ETag') ?? '' } : null;
    } catch {
      return null;
    }
  }
}

/** Sends a write; once more when the person has signed in again meanwhile. */
async function send(path: string, method: string, text: string, headers: Record<string, string> = {}): Promise<Response> {
  const answer = await write(path, method, text, headers);
  return (answer.status === 401 || answer.status === 403) && (await renewSession()) ? write(path, method, text, headers) : answer;
}

function write(path: string, method: string, text: string, headers: Record<string, string>): Promise<Response> {
  return fetch(path, { method, body: text, headers: { 'Content-Type': 'application/yaml', 'X-CSRF-Token': csrf(), ...headers } });
}

function csrf(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? '';
}

function checkedOf(body: Partial<Checked>): Checked {
  return { valid: body.valid ?? false, errors: body.errors ?? [], warnings: body.warnings ?? [] };
}

function quoted(etag: string): string {
  return /^(W\/)?"/.test(etag) ? etag : `"${etag}"`;
}
