// Who else works on this draft: told by the live protocol, shown as initials. When
// somebody saved, their changes are taken over.

import { el } from '../graph/dom';
import { isRecord, isText } from '../graph/model';
import type { Guest } from '../graph/node-view';
import { liveClient } from '../live';
import type { Watch } from '../live/client';

interface Editor {
  /** Of the socket: one person may have several tabs. */
  id: string;
  user: string;
  /** The id of the activity that is selected there. */
  activity?: string;
}

const tints = 6;
const pointAfter = 200; // ms without another selection

export interface PresenceHooks {
  /** The draft has another etag than before. */
  saved(etag: string): void;
  /** Who else has which activity selected, by its id. */
  moved(guests: ReadonlyMap<string, readonly Guest[]>): void;
}

export class Presence {
  readonly element = el('ul', { class: 'ds-people', 'aria-label': 'Also working on this draft' });
  private readonly stop: () => void;
  private readonly watch: Watch;
  private pointing = 0;

  constructor(workflow: string, private readonly hooks: PresenceHooks) {
    this.watch = {
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
    };
    this.stop = liveClient().watch(this.watch);
  }

  /** Tells the others what is selected here; "" for nothing. */
  point(activity: string): void {
    if ((this.watch.at ?? '') === activity) return;
    this.watch.at = activity;
    clearTimeout(this.pointing);
    this.pointing = window.setTimeout(() => liveClient().point(this.watch), pointAfter);
  }

  end(): void {
    clearTimeout(this.pointing);
    this.stop();
  }

  private show(others: readonly Editor[]): void {
    this.element.hidden = others.length === 0;
    this.element.replaceChildren(...others.map((e) => {
      const words = e.user + (e.activity ? ` at ${e.activity}` : '');
      return el('li', { title: words, 'data-tint': tintOf(e.user) }, el('span', { 'aria-hidden': 'true' }, initials(e.user)), el('span', { class: 'ds-hidden' }, words));
    }));
    this.hooks.moved(guestsOf(others));
  }
}

/** Who is where: a person with several tabs at one activity is there once. */
export function guestsOf(others: readonly Editor[]): Map<string, Guest[]> {
  const guests = new Map<string, Guest[]>();
  for (const { user, activity } of others) {
    if (!activity) continue;
    const here = guests.get(activity) ?? [];
    if (!here.some((g) => g.user === user)) guests.set(activity, [...here, { user, initials: initials(user), tint: tintOf(user) }]);
  }
  return guests;
}

/** The same person has the same colour everywhere. */
function tintOf(user: string): number {
  return [...user].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % tints;
}

function editorsOf(value: unknown): Editor[] {
  return (Array.isArray(value) ? value : []).filter((e): e is Editor => isRecord(e) && isText(e.id) && isText(e.user) && (e.activity === undefined || isText(e.activity)));
}

/** "ann.smith@example.com" → AS, "ann" → AN. */
export function initials(user: string): string {
  const words = user.split('@')[0]!.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words[0]![0]! + words.at(-1)![0]! : (words[0] ?? '?').slice(0, 2);
  return letters.toUpperCase();
}
