// Asks for one word, where a picker would stand.

import { el } from '../graph/dom';
import { openBox } from './picker';

export interface Question {
  title: string;
  label: string;
  value: string;
  /** The words of the button. */
  does: string;
  /** Why a value cannot be taken; null when it can. */
  problem(value: string): string | null;
  /** Answers why it failed, null when it did not. */
  act(value: string): Promise<string | null>;
  closed(): void;
}

export function ask(question: Question): void {
  const input = el('input', { type: 'text', id: 'ds-ask', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'ds-ask-problem' });
  const problem = el('p', { class: 'ds-problem', id: 'ds-ask-problem', role: 'alert', hidden: true });
  const button = el('button', { type: 'submit', class: 'ds-button ds-primary' }, question.does);
  const form = el('form', {}, el('label', { class: 'ds-label', for: 'ds-ask' }, question.label), input, problem, button);
  const close = openBox(question.title, [form], question.closed);
  const complain = (words: string) => {
    problem.textContent = words;
    problem.hidden = words === '';
  };
  input.value = question.value;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const value = input.value.trim();
    const wrong = question.problem(value);
    if (wrong !== null) return complain(wrong);
    button.disabled = true;
    void question.act(value).then((failed) => {
      button.disabled = false;
      if (failed === null) close();
      else complain(failed);
    });
  });
  input.focus();
  input.select();
}
