// Live pages are the server's: when something changed, the page is read again and the
// parts that differ are put in place. What a person has open, typed or focused stays.

/** What the server said of a part last; scripts change parts afterwards (times, bars). */
const said = new WeakMap<Element, string>();

export const updated = 'weftline:parts';

export function remember(root: ParentNode = document): void {
  for (const part of root.querySelectorAll('[data-part]')) said.set(part, essence(part));
}

/** The session is over: nothing on the page moves any more. */
export const signedOut = 'weftline:signed-out';

/** Reads the address and updates every part of this page; answers false when it could not be read. */
export async function refresh(address: string): Promise<boolean> {
  let text: string;
  try {
    const answer = await fetch(address, { headers: { Accept: 'text/html' }, credentials: 'same-origin' });
    if (answer.redirected && new URL(answer.url).pathname === '/login') document.dispatchEvent(new CustomEvent(signedOut));
    if (!answer.ok || answer.redirected) return false;
    text = await answer.text();
  } catch {
    return false;
  }
  apply(new DOMParser().parseFromString(text, 'text/html'));
  return true;
}

function apply(page: Document): void {
  let changed = false;
  for (const fresh of page.querySelectorAll('[data-part]')) {
    const old = document.getElementById(fresh.id);
    if (old && replace(old, fresh)) changed = true;
  }
  const live = document.querySelector<HTMLElement>('[data-live-seq]');
  const seq = page.querySelector<HTMLElement>('[data-live-seq]')?.dataset.liveSeq;
  if (live && seq) live.dataset.liveSeq = seq;
  document.title = page.title;
  if (changed) document.dispatchEvent(new CustomEvent(updated));
}

function replace(old: Element, fresh: Element): boolean {
  const now = essence(fresh);
  if (said.get(old) === now || isInUse(old)) return false;
  said.set(fresh, now);
  const keep = snapshot(old);
  const placed = document.importNode(fresh, true);
  said.set(placed, now);
  old.replaceWith(placed);
  restore(placed, keep);
  return true;
}

/** Somebody types here or has a menu open: it is replaced after that. */
function isInUse(part: Element): boolean {
  const focused = document.activeElement;
  const typing = focused instanceof HTMLElement && focused.matches('input, textarea, select') && part.contains(focused);
  return typing || part.querySelector('.popover[open]') !== null;
}

/** The part without what changes by the mere passing of time. */
function essence(part: Element): string {
  return part.outerHTML.replace(/(<time[^>]*data-relative[^>]*>)[^<]*/g, '$1');
}

interface Kept {
  open: boolean[];
  focus: string | null;
  scroll: number;
}

function snapshot(part: Element): Kept {
  const focused = document.activeElement;
  return {
    open: [...part.querySelectorAll('details')].map((d) => d.open),
    focus: focused && part.contains(focused) ? nameOf(focused) : null,
    scroll: part.scrollTop,
  };
}

function restore(part: Element, kept: Kept): void {
  const details = [...part.querySelectorAll('details')];
  details.forEach((d, i) => {
    const was = kept.open[i];
    if (was !== undefined) d.open = was;
  });
  part.scrollTop = kept.scroll;
  if (kept.focus) part.querySelector<HTMLElement>(kept.focus)?.focus({ preventScroll: true });
}

/** A selector that finds the same control in the fresh part. */
function nameOf(element: Element): string | null {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const select = element.getAttribute('data-select');
  if (select) return `[data-select="${CSS.escape(select)}"]`;
  const href = element.getAttribute('href');
  return href ? `a[href="${CSS.escape(href)}"]` : null;
}
