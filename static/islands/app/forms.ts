// Forms: buttons that only change the form (add a row, give it as JSON) swap it in
// place instead of loading the page; a form under way is not sent twice.

type Htmx = typeof import('htmx.org').default;

export function editForms(htmx: Htmx): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || !button.hasAttribute('data-form-edit') || !form.id) return;
    event.preventDefault();
    void htmx
      .ajax('post', form.action, {
        source: form,
        target: form,
        select: `#${form.id}`,
        swap: 'outerHTML',
        values: { [button.name]: button.value },
      })
      .then(() => focusLast(form.id, button));
  });
}

/** After adding a row its first field has the focus; after removing one, the list's button. */
function focusLast(formID: string, button: HTMLButtonElement): void {
  const form = document.getElementById(formID);
  if (button.name === '_add') {
    const again = form?.querySelector(`button[name="_add"][value="${CSS.escape(button.value)}"]`);
    const row = again?.previousElementSibling; // the last one
    const field = ':is(input:not([type=hidden]), select, textarea)';
    row?.querySelector<HTMLElement>(field)?.focus();
  } else {
    form?.querySelector<HTMLElement>(':is(input:not([type=hidden]), select, textarea)')?.focus();
  }
}

export function guardSubmits(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (event.defaultPrevented || form.method !== 'post') return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = 'true';
    event.submitter?.setAttribute('aria-busy', 'true');
  });
  window.addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll<HTMLFormElement>('form[data-sent]')) delete form.dataset.sent;
    for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
  });
}
