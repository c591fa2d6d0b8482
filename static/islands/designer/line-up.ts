// Lining up what is selected.

import { arrange, type Arrangement } from './arrange';
import { move } from './commands';
import type { Designer } from './designer';

/** Aligns or distributes what is selected. */
export function lineUp(d: Designer, how: Arrangement): void {
  const boxes = new Map(d.session.selection.map((key) => [key, d.view.layout.boxes.get(key)!]));
  const places = arrange(boxes, how);
  if (places.size === 0) return void d.session.refuse(`Choose ${how === 'across' || how === 'down' ? 'three' : 'two'} activities or more first`);
  d.session.run(move(new Map([...places].map(([key, [x, y]]) => {
    const origin = d.view.originOf(key);
    return [key, [x - origin.x, y - origin.y] as const];
  }))));
}
