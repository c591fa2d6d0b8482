// How code looks, in the YAML and in fields.

import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const colours = HighlightStyle.define([
  { tag: tags.atom, color: 'var(--accent)' }, // keys
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--state-completed)' },
  { tag: [tags.number, tags.keyword], color: 'var(--state-retrying)' },
  { tag: [tags.variableName, tags.definition(tags.variableName)], color: 'var(--state-waiting)' },
  { tag: tags.meta, color: 'var(--ink-3)' },
]);

export const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12.5px', color: 'var(--ink)', backgroundColor: 'var(--paper)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontVariantLigatures: 'none', lineHeight: '1.6', overflow: 'auto' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--paper)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--sunken)' },
  '.cm-chosen': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)' },
  '.cm-unreadable': { outline: '1.5px solid var(--state-failed)', borderRadius: '3px', backgroundColor: 'color-mix(in srgb, var(--state-failed) 14%, transparent)' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-fill)', color: 'var(--on-accent)' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', whiteSpace: 'pre-wrap', maxWidth: '60ch' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--state-failed)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--state-person)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent-fill)', color: 'var(--on-accent)' },
  '.cm-panel input, .cm-panel button': { font: 'inherit' },
});
