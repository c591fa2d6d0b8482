// The workflow's text as a file, and activities out of one: chosen, or dropped onto the canvas. Loaded when first used.

import { el } from '../graph/dom';
import type { Designer } from './designer';
import { shown } from './key-words';

const longest = 1 << 20; // bytes: no definition is longer

/** Gives the text to the browser to keep, problems and all. */
export function download(text: string, workflow: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  el('a', { href: url, download: `${workflow}.yaml` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a busy browser reads it later than the click
}

/** Asks for a file, and adds the activities in it. */
export function addFromFile(d: Designer): void {
  const chooser = el('input', { type: 'file', accept: '.yaml,.yml,.json,.txt' });
  chooser.addEventListener('change', () => void addFrom(d, chooser.files));
  chooser.click();
}

/** Adds the activities in a file that was chosen or dropped. */
export async function addFrom(d: Designer, files: FileList | null): Promise<void> {
  if (files?.length !== 1) return void d.session.refuse('One file at a time');
  const file = files[0]!;
  if (file.size > longest) return void d.session.refuse(`${file.name} is longer than any workflow`);
  if (await d.paste(await file.text())) d.followFocus();
}

/** The browser may keep the clipboard to itself; the key always works. */
export async function pasteFromClipboard(d: Designer): Promise<void> {
  try {
    await d.paste(await navigator.clipboard.readText());
    d.followFocus();
  } catch {
    d.session.refuse(`The browser does not let the clipboard be read from here: press ${shown('Ctrl+V')} on the canvas`);
  }
}
