// Who else works on this draft: told by the live protocol, shown as initials. When
// somebody saved, their changes are taken over.

import { el } from '../graph/dom';
import { isRecord, isText } from '../graph/model';
import { liveClient } from '../live';

interface Editor {
  /** Of the socket: one person may have several tabs. */
  id: string;
  user: string;
}

export interface PresenceHooks {
  /** The draft has another etag than before. */
  saved(etag: string): void;
}

export class Presence {
  readonly element = el('ul', { class: 'ds-people', 'aria-label': 'Also working on this draft' });
  private readonly stop: () => void;

  constructor(workflow: string, hooks: PresenceHooks) {
    this.stop = liveClient().watch({
      topic: `workflow:${workflow}`,
      seq: -1,
      editing: true,
      changed: () => undefined,
      state: (state) => {
        if (!isRecord(state)) return;
        this.show(editorsOf(state.editing).filter((e) => e.id !== liveClient().id));
        if (isText(state.draftEtag)) hooks.saved(state.draftEtag);
      },
      live: (live) => live || this.show([]),
    });
  }

  end(): void {
    this.stop();
  }

  private show(others: readonly Editor[]): void {
    this.element.hidden = others.length === 0;
    this.element.replaceChildren(...others.map((e) => el('li', { title: `${e.user} has this draft open` },
      el('span', { 'aria-hidden': 'true' }, initials(e.user)), el('span', { class: 'ds-hidden' }, e.user))));
  }
}

function editorsOf(value: unknown): Editor[] {
  return (Array.isArray(value) ? value : []).filter((e): e is Editor => isRecord(e) && isText(e.id) && isText(e.user));
}

/** "ann.smith@example.com" → AS, "ann" → AN. */
export function initials(user: string): string {
  const words = user.split('@')[0]!.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words[0]![0]! + words.at(-1)![0]! : (words[0] ?? '?').slice(0, 2);
  return letters.toUpperCase();
}
