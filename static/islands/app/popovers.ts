// A <details> as a menu closes by Escape, or when a click or the focus goes elsewhere.

export function popovers(): void {
  const open = (): HTMLDetailsElement[] => [...document.querySelectorAll<HTMLDetailsElement>('details.popover[open]')];
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector<HTMLElement>('summary')?.focus();
    }
  });
  const elsewhere = (event: Event): void => {
    for (const menu of open()) if (!menu.contains(event.target as Node)) menu.open = false;
  };
  document.addEventListener('pointerdown', elsewhere);
  document.addEventListener('focusin', elsewhere);
}
