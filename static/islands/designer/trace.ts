// The whole path of the selected activity, lit on demand.

import type { Designer } from './designer';

/** Lights the path of what is selected wherever the selection goes, or no longer. */
export function tracePath(d: Designer): void {
  const { session, view } = d;
  const active = d.activeNode();
  const on = view.traced === null;
  if (on && !active) return void session.refuse('Choose an activity first');
  if (on && session.selection.length === 0) session.select([active!.key]);
  view.trace(on);
  const others = (view.traced?.size ?? 0) - session.selection.length;
  session.say(on ? `The path through ${active!.name} is lit: ${others} other ${others === 1 ? 'activity' : 'activities'}` : 'The path is no longer lit');
}
