// j and k walk the rows of a list; Enter on the focused link is the browser's own.
// "/" goes to the search.

export function keys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === '/') {
      const search = document.querySelector<HTMLElement>('input[type=search]');
      if (!search) return;
      event.preventDefault();
      search.focus();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  const inDesigner = target instanceof Element && target.closest('#designer, .gv') !== null;
  return inDesigner || (target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select')));
}

function move(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-rows] .row-link')];
  if (links.length === 0) return;
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step));
  links[next]?.focus();
}
