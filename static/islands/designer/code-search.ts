// Searching in the YAML, loaded when somebody first searches.

import { highlightSelectionMatches, openSearchPanel, searchKeymap } from '@codemirror/search';
import { StateEffect } from '@codemirror/state';
import { keymap, type EditorView } from '@codemirror/view';

const prepared = new WeakSet<EditorView>();

export function search(view: EditorView): void {
  if (!prepared.has(view)) view.dispatch({ effects: StateEffect.appendConfig.of([highlightSelectionMatches(), keymap.of(searchKeymap)]) });
  prepared.add(view);
  openSearchPanel(view);
}
