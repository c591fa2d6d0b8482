// The theme switch and copy buttons: small things that need a script.

const yearSeconds = 365 * 24 * 3_600;

export function themeToggle(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-theme-toggle]');
  if (!button) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    const looks = location.protocol === 'https:' ? ['__Host-theme', '; secure'] : ['theme', '']; // as keep() in pages_settings.go
    document.cookie = `${looks[0]}=${root.dataset.theme}; path=/; max-age=${yearSeconds}; samesite=lax${looks[1]}`;
  });
}

export function copyButtons(): void {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy ?? '');
      button.textContent = 'Copied';
    });
  }
}
