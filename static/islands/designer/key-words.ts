// Keys as a person reads them: on a Mac the command key stands for Ctrl.

const isMac = () => /Mac|iPhone|iPad/.test(navigator.platform);
const words: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ContextMenu: 'Menu key', Escape: 'Esc' };

export function shown(keys: string): string {
  return keys.split('+').map((k) => (k === 'Ctrl' && isMac() ? '⌘' : (words[k] ?? k))).join('+') || '+';
}
