// What a person does while the editor is still on its way: each gesture and each key
// is kept and done, in order, once it is there. Afterwards everything goes straight on.

import type { EditHooks } from '../graph/gestures';
import type { NoteHooks } from '../graph/notes';
import type { Designer } from './designer';
import { keep } from './held';

type Act = (designer: Designer) => void;

export class Waiting {
  private readonly stop = new AbortController();
  private designer: Designer | null = null;
  private kept: Act[] = [];

  /** `wanted` is told with each thing that waits. */
  constructor(private readonly host: HTMLElement, private readonly wanted: () => void) {
    const signal = this.stop.signal;
    // Once something waits, the keys after it are meant for what it leads to, and wait as well.
    document.addEventListener('keydown', (e) => this.kept.length > 0 && this.keepKey(e), { signal, capture: true });
    document.addEventListener('keydown', (e) => this.keepKey(e), { signal });
    document.addEventListener('copy', (e) => this.keepCopy(e), { signal });
    document.addEventListener('cut', (e) => this.keepCopy(e), { signal });
    document.addEventListener('paste', (e) => this.keepPaste(e), { signal });
  }

  do(act: Act): void {
    if (this.designer) return act(this.designer);
    this.kept.push(act);
    this.wanted();
  }

  /** A selection needs no waiting: the editor begins with that of the canvas. */
  selected(keys: readonly string[]): void {
    this.designer?.session.select(keys);
  }

  /** The editor is there; what waited is done. */
  arrived(designer: Designer): void {
    this.end();
    this.designer = designer;
    for (const act of this.kept.splice(0)) act(designer);
  }

  end(): void {
    this.stop.abort();
  }

  readonly edit: EditHooks = {
    // What cannot be connected is refused in any case when it is done.
    refusals: (from) => this.designer?.authoring.refusals(from) ?? new Map(),
    connect: (...given) => this.do((d) => d.authoring.connect(...given)),
    dropConnect: (...given) => this.do((d) => d.authoring.dropConnect(...given)),
    quickAdd: (...given) => this.do((d) => d.authoring.quickAdd(...given)),
    insert: (...given) => this.do((d) => d.authoring.insert(...given)),
    disconnect: (...given) => this.do((d) => d.authoring.disconnect(...given)),
    move: (...given) => this.do((d) => d.authoring.move(...given)),
    menu: (...given) => this.do((d) => d.authoring.menu(...given)),
    explain: (...given) => this.designer?.authoring.explain(...given),
  };

  readonly notes: NoteHooks = {
    write: (...given) => this.do((d) => d.authoring.notes.write(...given)),
    move: (...given) => this.do((d) => d.authoring.notes.move(...given)),
    remove: (...given) => this.do((d) => d.authoring.notes.remove(...given)),
  };

  private keepKey(event: KeyboardEvent): void {
    const clicks = this.kept.length === 0 && event.target instanceof HTMLButtonElement && /^(Enter| )$/.test(event.key);
    const again = clicks ? null : keep(event, this.host);
    if (again) this.do(again);
  }

  private here(event: Event): boolean {
    return event.target === document.body || this.host.contains(event.target as Node);
  }

  private keepCopy(event: ClipboardEvent): void {
    if (!this.here(event) || !getSelection()?.isCollapsed) return;
    event.preventDefault();
    this.do((d) => d.copySelection(event.type === 'cut'));
  }

  private keepPaste(event: ClipboardEvent): void {
    if (!this.here(event)) return;
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', event.clipboardData?.getData('text/plain') ?? '');
    event.preventDefault();
    this.do(() => (document.activeElement ?? document.body).dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })));
  }
}
