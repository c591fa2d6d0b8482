// What helps while somebody types in the YAML, loaded when the editor first gets the keyboard.

import { autocompletion, closeBrackets, type CompletionSource } from '@codemirror/autocomplete';
import { StateEffect } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

export function help(view: EditorView, source: CompletionSource): void {
  view.dispatch({ effects: StateEffect.appendConfig.of([closeBrackets(), autocompletion({ override: [source] })]) });
}
