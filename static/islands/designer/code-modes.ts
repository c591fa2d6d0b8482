// The languages of fields and how such a field is laid out, loaded when one first gets the keyboard. It is data
// alone: a second place that uses the editor's packages would split them into pieces, which weigh more.

import { javascript } from '@codemirror/legacy-modes/mode/javascript';
import { standardSQL } from '@codemirror/legacy-modes/mode/sql';

export const modes: Record<string, typeof javascript> = { javascript, node: javascript, sql: standardSQL };

export const hint = 'Tab goes on to the next field; Ctrl+] and Ctrl+[ indent.';

export const layout = {
  '&': { height: 'auto', maxHeight: '340px', minHeight: '110px', border: '1px solid var(--line-strong)', borderRadius: 'var(--radius)' },
  '.cm-scroller': { minHeight: '108px' },
  '.cm-content': { padding: '6px 2px' },
};
