// Keys that come while what they are meant for is still on its way: they are kept, and
// pressed again once it is there.

/** Takes a key out of its way; answers what presses it again, or null if it passes as ever. */
export function keep(event: KeyboardEvent, host: HTMLElement): (() => void) | null {
  const here = event.target === document.body || host.contains(event.target as Node);
  if (event.defaultPrevented || !here || event.isComposing || passing.test(event.key)) return null;
  const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
  if ((ctrlKey || metaKey) && browsers.test(key)) return null;
  event.preventDefault();
  event.stopPropagation();
  return () => press({ key, code, ctrlKey, metaKey, altKey, shiftKey, bubbles: true, cancelable: true });
}

/** Keeps the keys that come until something is done, or has failed. */
export function held<T>(host: HTMLElement, done: Promise<T>): Promise<T> {
  const [stop, kept] = [new AbortController(), [] as (() => void)[]];
  document.addEventListener('keydown', (event) => {
    const again = keep(event, host);
    if (again) kept.push(again);
  }, { signal: stop.signal, capture: true });
  return done.finally(() => {
    stop.abort();
    for (const again of kept) again();
  });
}

/** Keys that go where they always go: through the page, and to the browser. */
const passing = /^(Tab|Shift|Control|Alt|AltGraph|Meta|CapsLock|F(?!2$)\d+)$/;
const browsers = /^[cfnlprtvwx0]$/i;

/** Presses a key again; in a field it writes, as the first press would have. */
function press(key: KeyboardEventInit): void {
  const target = document.activeElement ?? document.body;
  const taken = !target.dispatchEvent(new KeyboardEvent('keydown', key));
  const writes = key.key!.length === 1 && !key.ctrlKey && !key.metaKey && !key.altKey;
  if (taken || !writes || !(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
  target.setRangeText(key.key!, target.selectionStart ?? 0, target.selectionEnd ?? 0, 'end');
  target.dispatchEvent(new InputEvent('input', { bubbles: true, data: key.key!, inputType: 'insertText' }));
}
