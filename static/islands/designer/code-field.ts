// An editor in the place of a field for code, once that has the keyboard. The
// field stays behind it and holds the value: what is typed goes through it, so there is
// one undo, the session's. Tab leaves the editor as it leaves any field.

import { defaultKeymap } from '@codemirror/commands';
import { StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState, StateEffect } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import { el } from '../graph/dom';
import { colours, theme } from './code-looks';
import type { About } from './controls';
import { within } from './scalar';

const fromField = Annotation.define<boolean>();

/** Where the cursor of each field was: the form is made anew around it. */
const cursors = new Map<string, number>();

export function dress(field: HTMLTextAreaElement, language: string, about: () => About): void {
  const wrapper = field.closest<HTMLElement>('.ds-field');
  if (!wrapper) return; // the form was made anew meanwhile
  const name = wrapper.dataset.path ?? '';
  const had = document.activeElement === field;
  const host = el('div', { class: 'ds-code-field' });
  const root = host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root, root,
    state: EditorState.create({
      doc: field.value,
      selection: { anchor: Math.min(cursors.get(name) ?? field.selectionStart, field.value.length) },
      extensions: [
        drawSelection(), EditorView.lineWrapping,
        syntaxHighlighting(colours), keymap.of(defaultKeymap),
        EditorState.readOnly.of(field.readOnly), theme,
        EditorView.contentAttributes.of({ 'aria-label': wrapper.querySelector('label')?.textContent ?? 'Code', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.selectionSet || update.docChanged) cursors.set(name, update.state.selection.main.head);
          if (!update.docChanged || update.transactions.some((tr) => tr.annotation(fromField))) return;
          field.value = update.state.doc.toString();
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }),
      ],
    }),
  });
  field.addEventListener('input', () => {
    if (field.value !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: field.value }, annotations: fromField.of(true) });
  });
  field.addEventListener('focus', () => view.focus());
  const mark = (): void => {
    const { session, path, problems } = about();
    const wrong = problems.filter((p) => p.path.join() === path.join());
    const range = wrong.length > 0 ? session.rangeOf(path) : null;
    const source = range ? session.text.slice(range.from, range.to) : '';
    view.dispatch(setDiagnostics(view.state, !range ? [] : wrong.map((p) => ({
      ...within(source, view.state.doc.toString(), p.from - range.from, p.to - range.from), severity: p.severity, message: p.message,
    }))));
  };
  const form = wrapper.closest('.ds-form');
  const told = (): void => (host.isConnected ? mark() : form?.removeEventListener('ds-problems', told));
  form?.addEventListener('ds-problems', told);
  void import('./code-modes').then(({ modes, layout, hint }) => {
    view.dispatch({ effects: StateEffect.appendConfig.of([EditorView.theme(layout), modes[language] ? StreamLanguage.define(modes[language]) : []]) });
    host.after(el('p', { class: 'ds-hint' }, hint));
  });
  field.tabIndex = -1;
  field.classList.add('ds-hidden');
  field.after(host);
  mark();
  if (had) view.focus();
}
