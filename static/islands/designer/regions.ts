// The places of the designer's page, before anything stands in them: they are there
// with the first paint, so that the canvas does not move when the rest arrives.

import { el } from '../graph/dom';

export type CodePlace = 'below' | 'beside' | 'off';
export const codePlaces: readonly CodePlace[] = ['below', 'beside', 'off'];

export interface Regions {
  bar: HTMLElement;
  tabs: HTMLElement;
  notices: HTMLElement;
  /** Where the palette goes. */
  side: HTMLElement;
  outline: HTMLElement;
  canvas: HTMLElement;
  problems: HTMLElement;
  code: HTMLElement;
  details: HTMLElement;
}

export function layRegions(host: HTMLElement, readonly: boolean): Regions {
  const regions: Regions = {
    bar: el('div', { class: 'ds-bar', role: 'toolbar', 'aria-label': 'Designer' }),
    tabs: el('div', { class: 'ds-tabs', role: 'tablist', 'aria-label': 'Panes' }),
    notices: el('div', { class: 'ds-notices' }),
    side: el('aside', { class: 'ds-palette', hidden: readonly }),
    outline: el('aside', { class: 'ds-side', 'aria-label': 'Outline', hidden: true }),
    canvas: el('section', { class: 'ds-canvas', 'aria-label': 'Canvas' }),
    problems: el('section', { class: 'ds-problem-panel', id: 'ds-problems', 'aria-label': 'Problems', hidden: true }),
    code: el('section', { class: 'ds-text', 'aria-label': 'YAML' }),
    details: el('aside', { class: 'ds-details', 'aria-label': 'Details' }),
  };
  const { bar, tabs, notices, side, outline, canvas, problems, code, details } = regions;
  host.replaceChildren(bar, tabs, notices,
    el('div', { class: 'ds-work' }, side, outline, el('div', { class: 'ds-middle' }, canvas, problems, code), details));
  host.classList.add('ds');
  host.dataset.pane = 'canvas';
  host.dataset.code = rememberedPlace();
  return regions;
}

function rememberedPlace(): CodePlace {
  const kept = readSetting('weftline:code') as CodePlace | null;
  if (kept && codePlaces.includes(kept)) return kept;
  return innerWidth < 900 ? 'off' : 'below';
}

function readSetting(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
