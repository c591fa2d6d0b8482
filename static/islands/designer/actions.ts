// Every command with its words and its key. The keys, the command palette, the
// toolbar's tooltips and the key sheet are all made from this one table.

import type { Arrangement } from './arrange';
import { move, remove, tidy, toggleClosed } from './commands';
import type { Designer } from './designer';
import { shown } from './key-words';

export interface Action {
  id: string;
  title: string;
  /** As shown: "Ctrl+Z"; on a Mac the command key stands for Ctrl. */
  keys?: readonly string[];
  /** 'canvas': only while the keyboard is on the canvas or the outline. */
  where: 'canvas' | 'anywhere';
  /** Stands in the menu of an activity; what does not is in that of the canvas. */
  ofActivity?: boolean;
  /** Changes the document; not offered when it is open for reading only. */
  edits?: boolean;
  run(d: Designer): void;
}

/** Runs with the active activity, or says that one is needed. */
function onNode(act: (d: Designer, node: NonNullable<ReturnType<Designer['activeNode']>>) => void): (d: Designer) => void {
  return (d) => {
    const node = d.activeNode();
    if (node) act(d, node);
    else d.session.refuse('Choose an activity first');
  };
}

const step = 10;
const stride = 120; // px

function pan(dx: number, dy: number): (d: Designer) => void {
  return (d) => d.view.viewport.panBy(dx * stride, dy * stride);
}

function nudge(dx: number, dy: number): (d: Designer) => void {
  return onNode((d, node) => {
    const keys = d.session.selection.length > 0 ? d.session.selection : [node.key];
    const places = new Map(keys.map((key) => {
      const box = d.view.layout.boxes.get(key)!;
      const origin = d.view.originOf(key);
      return [key, [box.x - origin.x + dx * step, box.y - origin.y + dy * step] as const];
    }));
    d.session.run(move(places), 'command', 'nudge');
  });
}

function line(how: Arrangement): (d: Designer) => void {
  return (d) => void d.seldom((s) => s.lineUp(d, how));
}

export const actions: readonly Action[] = [
  { id: 'append', title: 'Add after this activity', keys: ['A'], where: 'canvas', ofActivity: true, edits: true, run: (d) => d.authoring.append(d.activeNode()?.key ?? null) },
  { id: 'append-port', title: 'Add after this activity, choosing the port', keys: ['Shift+A'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d, node) => d.authoring.appendAt(node)) },
  { id: 'insert', title: 'Insert before this activity', keys: ['I'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d, node) => d.authoring.insertBefore(node)) },
  { id: 'connect', title: 'Connect to another activity', keys: ['C'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d, node) => d.authoring.connectFrom(node)) },
  { id: 'disconnect', title: 'Remove an edge', keys: ['X'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d, node) => d.authoring.disconnectAt(node)) },
  { id: 'new', title: 'Add an activity that is not connected', keys: ['N'], where: 'canvas', edits: true, run: (d) => d.authoring.addLoose() },
  { id: 'extract', title: 'Move the selection into a workflow of its own', keys: ['E'], where: 'canvas', ofActivity: true, edits: true, run: (d) => void d.moveOut() },
  { id: 'note', title: 'Add a note', keys: ['Shift+N'], where: 'canvas', edits: true, run: (d) => d.authoring.addNote(d.session.selection.at(-1) ?? null) },
  { id: 'delete', title: 'Delete, and close the gap', keys: ['Delete', 'Backspace'], where: 'canvas', ofActivity: true, edits: true, run: (d) => deleteChosen(d) },
  { id: 'open', title: 'Go to the form', keys: ['Enter'], where: 'canvas', ofActivity: true, run: (d) => d.openForm() },
  { id: 'rename', title: 'Change the name', keys: ['F2'], where: 'canvas', ofActivity: true, edits: true, run: (d) => d.openForm('name') },
  { id: 'rename-id', title: 'Change the id, everywhere', keys: ['Shift+F2'], where: 'canvas', ofActivity: true, edits: true, run: (d) => d.openForm('id') },
  { id: 'duplicate', title: 'Duplicate', keys: ['Ctrl+D'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d) => void d.duplicate()) },
  { id: 'select-all', title: 'Select everything', keys: ['Ctrl+A'], where: 'canvas', run: (d) => d.session.select(d.session.graph.nodes.map((n) => n.key)) },
  { id: 'left', title: 'Move left', keys: ['Alt+ArrowLeft'], where: 'canvas', ofActivity: true, edits: true, run: nudge(-1, 0) },
  { id: 'right', title: 'Move right', keys: ['Alt+ArrowRight'], where: 'canvas', ofActivity: true, edits: true, run: nudge(1, 0) },
  { id: 'up', title: 'Move up', keys: ['Alt+ArrowUp'], where: 'canvas', ofActivity: true, edits: true, run: nudge(0, -1) },
  { id: 'down', title: 'Move down', keys: ['Alt+ArrowDown'], where: 'canvas', ofActivity: true, edits: true, run: nudge(0, 1) },
  { id: 'tidy', title: 'Lay out everything again', keys: ['T'], where: 'canvas', edits: true, run: (d) => d.session.run(tidy(null)) },
  { id: 'tidy-selection', title: 'Lay out the selected ones again', where: 'anywhere', edits: true, run: (d) => d.session.run(tidy(d.session.selection)) },
  { id: 'align-left', title: 'Align the left edges', where: 'anywhere', edits: true, run: line('left') },
  { id: 'align-centre', title: 'Align the centres, one above the other', where: 'anywhere', edits: true, run: line('centre') },
  { id: 'align-right', title: 'Align the right edges', where: 'anywhere', edits: true, run: line('right') },
  { id: 'align-top', title: 'Align the top edges', keys: ['Alt+T'], where: 'canvas', edits: true, run: line('top') },
  { id: 'align-middle', title: 'Align the middles, side by side', where: 'anywhere', edits: true, run: line('middle') },
  { id: 'align-bottom', title: 'Align the bottom edges', where: 'anywhere', edits: true, run: line('bottom') },
  { id: 'across', title: 'Distribute from left to right', where: 'anywhere', edits: true, run: line('across') },
  { id: 'down-even', title: 'Distribute from top to bottom', where: 'anywhere', edits: true, run: line('down') },
  { id: 'close', title: 'Close or open a loop', keys: ['L'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d, node) => (d.session.run(toggleClosed(node.key)), d.followFocus())) },
  { id: 'on-error', title: 'Add what runs when it fails', where: 'anywhere', edits: true, run: (d) => d.authoring.addHook('onError') },
  { id: 'on-exit', title: 'Add what runs at every end', where: 'anywhere', edits: true, run: (d) => d.authoring.addHook('onExit') },
  { id: 'menu', title: 'Show the menu', keys: ['Shift+F10', 'ContextMenu'], where: 'canvas', run: onNode((d, node) => d.openMenu(node.key)) },
  { id: 'clear', title: 'Select nothing: show the settings of the workflow', keys: ['Escape'], where: 'canvas', run: (d) => d.session.select([]) },
  { id: 'undo', title: 'Undo', keys: ['Ctrl+Z'], where: 'anywhere', edits: true, run: (d) => (d.session.undo(), d.followFocus()) },
  { id: 'redo', title: 'Redo', keys: ['Ctrl+Shift+Z', 'Ctrl+Y'], where: 'anywhere', edits: true, run: (d) => (d.session.redo(), d.followFocus()) },
  { id: 'find', title: 'Find an activity or a note', keys: ['/'], where: 'canvas', run: (d) => d.authoring.find() },
  { id: 'fit', title: 'Fit the whole graph', keys: ['1'], where: 'canvas', run: (d) => d.view.fit() },
  { id: 'fit-selection', title: 'Fit what is selected', keys: ['2'], where: 'canvas', ofActivity: true, run: (d) => d.view.fitTo(d.session.selection) },
  { id: 'trace', title: 'Light the whole path, or no longer', keys: ['H'], where: 'canvas', ofActivity: true, run: (d) => void d.seldom((s) => s.tracePath(d)) },
  { id: 'pan-left', title: 'Look further left', keys: ['Ctrl+ArrowLeft'], where: 'canvas', run: pan(1, 0) },
  { id: 'pan-right', title: 'Look further right', keys: ['Ctrl+ArrowRight'], where: 'canvas', run: pan(-1, 0) },
  { id: 'pan-up', title: 'Look further up', keys: ['Ctrl+ArrowUp'], where: 'canvas', run: pan(0, 1) },
  { id: 'pan-down', title: 'Look further down', keys: ['Ctrl+ArrowDown'], where: 'canvas', run: pan(0, -1) },
  { id: 'zoom-in', title: 'Zoom in', keys: ['+'], where: 'canvas', run: (d) => d.view.viewport.zoomBy(1.25) },
  { id: 'zoom-out', title: 'Zoom out', keys: ['-'], where: 'canvas', run: (d) => d.view.viewport.zoomBy(0.8) },
  { id: 'outline', title: 'Show or hide the outline', keys: ['O'], where: 'canvas', run: (d) => d.toggleOutline() },
  { id: 'code', title: 'Show, move or hide the YAML', keys: ['Y'], where: 'canvas', run: (d) => d.cycleCode() },
  { id: 'line', title: 'Go to this activity in the YAML', keys: ['G'], where: 'canvas', ofActivity: true, run: onNode((d, node) => void d.showText(node.range[0], node.range[0])) },
  { id: 'settings', title: 'Settings of the workflow', where: 'anywhere', run: (d) => (d.session.select([]), d.openForm()) },
  { id: 'problems', title: 'Show or hide the problems', keys: ['P'], where: 'canvas', run: (d) => d.toggleProblems() },
  { id: 'plan', title: 'Try out: plan the path with pinned data', keys: ['R'], where: 'canvas', run: (d) => void d.tryOut() },
  { id: 'plan-to', title: 'Try out up to this activity', keys: ['Shift+R'], where: 'canvas', ofActivity: true, run: onNode((d, node) => (d.session.select([node.key]), void d.tryOut(node.key))) },
  { id: 'run-to', title: 'Run up to this activity for real', where: 'anywhere', ofActivity: true, edits: true, run: onNode((d, node) => (d.session.select([node.key]), void d.tryOut(node.key, true))) },
  { id: 'canvas', title: 'Go to the canvas', keys: ['Ctrl+Shift+G'], where: 'anywhere', run: (d) => d.view.focus() },
  { id: 'save', title: 'Save now', keys: ['Ctrl+S'], where: 'anywhere', edits: true, run: (d) => void d.save.flush() },
  { id: 'copy-all', title: 'Copy the selection as YAML', keys: ['Ctrl+C'], where: 'canvas', ofActivity: true, run: onNode((d) => d.copySelection(false)) },
  { id: 'cut', title: 'Cut the selection as YAML', keys: ['Ctrl+X'], where: 'canvas', ofActivity: true, edits: true, run: onNode((d) => d.copySelection(true)) },
  { id: 'paste', title: 'Paste activities from YAML', keys: ['Ctrl+V'], where: 'canvas', edits: true, run: (d) => void d.seldom((s) => s.pasteFromClipboard(d)) },
  { id: 'download', title: 'Download as a YAML file', where: 'anywhere', run: (d) => void d.seldom((s) => s.download(d.session.text, d.name)) },
  { id: 'from-file', title: 'Add activities from a YAML file', where: 'anywhere', edits: true, run: (d) => void d.seldom((s) => s.addFromFile(d)) },
  { id: 'commands', title: 'All commands', keys: ['Ctrl+K'], where: 'anywhere', run: (d) => d.openCommands() },
  { id: 'keys', title: 'Keys', keys: ['?'], where: 'canvas', run: (d) => d.openKeys() },
];

/** The keys of an action in words: "Ctrl+Shift+Z or Ctrl+Y". */
export function keyWords(action: Pick<Action, 'keys'>): string {
  return (action.keys ?? []).map(shown).join(' or ');
}

/** What a button that stands for an action is called, and what its tooltip says. */
export function wordsOf(id: string): { title: string; hint: string } {
  const action = actions.find((a) => a.id === id)!;
  return { title: action.title, hint: action.keys ? `${action.title} (${keyWords(action)})` : action.title };
}

/** Keys that the browser turns into clipboard events; those are listened to instead. */
const clipboardKeys: ReadonlySet<string> = new Set(['Ctrl+C', 'Ctrl+X', 'Ctrl+V']);

function deleteChosen(d: Designer): void {
  const edge = d.view.edgeSelection;
  if (edge !== null) return d.authoring.disconnect(edge);
  const keys = d.session.selection.length > 0 ? d.session.selection : [d.activeNode()?.key].filter((k) => k !== undefined);
  if (keys.length === 0) return void d.session.refuse('Choose an activity first');
  d.session.run(remove(keys));
  d.view.focus(d.session.selection.at(-1) ?? null);
}

/** The action for a key press; null when the key belongs to somebody else. */
export function actionFor(event: KeyboardEvent, onCanvas: boolean): Action | null {
  const name = keyName(event);
  if (clipboardKeys.has(name)) return null;
  const typing = isTyping(event.composedPath()[0]);
  return actions.find((a) => a.keys?.includes(name) && (a.where === 'canvas' ? onCanvas && !typing : !typing || /Ctrl|F\d/.test(name))) ?? null;
}

/** "Ctrl+Shift+Z", "A", "?"; Shift is named only where the key itself does not show it. */
export function keyName(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const letter = /^[a-z]$/i.test(event.key);
  const key = letter ? event.key.toUpperCase() : event.key === ' ' ? 'Space' : event.key;
  const shift = event.shiftKey && (letter || event.key.length > 1);
  return [event.ctrlKey || event.metaKey ? 'Ctrl' : '', event.altKey ? 'Alt' : '', shift ? 'Shift' : '', key].filter(Boolean).join('+');
}

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
