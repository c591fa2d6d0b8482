// A page may be older than its session. Before a form is sent, the page asks whose session
// the browser has now; when it is over, or too old for what is sensitive, the page says so
// and stays as it is: the person signs in in a second tab, and sends the form then. Nothing
// typed is put into any storage.

import { signedOut } from '../live/parts';

interface Session {
  user: string;
  team: string;
  csrf: string;
  signInAgain: string;
}

const pageAfter = '/session'; // where a sign-in in a second tab ends

/** Whose session it is now; 'over' when there is none, null when the server cannot be asked. */
async function askSession(action: string): Promise<Session | 'over' | null> {
  try {
    const answer = await fetch(`/session?action=${encodeURIComponent(action)}`, { headers: { Accept: 'application/json' } });
    if (answer.status === 401) return 'over';
    return answer.ok ? ((await answer.json()) as Session) : null;
  } catch {
    return null;
  }
}

/** Whether the page belongs to the person who is signed in now; takes over the token that writes repeat. */
function adopt(session: Session): boolean {
  const mine = document.querySelector<HTMLMetaElement>('meta[name="session-user"]')?.content;
  if (mine !== `${session.user}@${session.team}`) return false;
  const token = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]');
  if (token) token.content = session.csrf;
  for (const field of document.querySelectorAll<HTMLInputElement>('input[name="_csrf"]')) field.value = session.csrf;
  return true;
}

/** After an answer that a write was refused: true when there is a session again and the write is worth another try. */
export async function renewSession(): Promise<boolean> {
  const before = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;
  const session = await askSession('');
  if (session === 'over') document.dispatchEvent(new CustomEvent(signedOut));
  if (session === null || session === 'over' || !adopt(session)) return false;
  hide();
  return session.csrf !== before;
}

export function guardSession(): void {
  if (!document.querySelector('meta[name="session-user"]')) return; // local mode has nobody to sign in
  document.addEventListener('submit', (event) => void guard(event), { capture: true });
  document.addEventListener(signedOut, () => say('Your session has ended. What you typed is still here.', loginAddress()));
  addEventListener('focus', () => {
    if (document.getElementById('stale-notice')?.dataset.signedOut) void renewSession();
  });
}

async function guard(event: SubmitEvent): Promise<void> {
  const form = event.target as HTMLFormElement;
  if (form.method !== 'post' || form.dataset.asked) {
    delete form.dataset.asked;
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  const session = await askSession(new URL(form.action).pathname);
  if (session === 'over') return focused(say('Your session has ended. What you typed is still here.', loginAddress()));
  if (session && !adopt(session)) return focused(say(`You are signed in as ${session.user} in the team ${session.team} now, and this page belongs to somebody else.`, location.href, 'Load it again'));
  if (session?.signInAgain) return focused(say('This needs a sign-in from just now. What you typed is still here.', session.signInAgain));
  hide();
  form.dataset.asked = 'true';
  form.requestSubmit(event.submitter as HTMLElement | null);
}

function loginAddress(): string {
  return `/login?expired=1&return=${encodeURIComponent(pageAfter)}`;
}

let usual: Node[] = []; // what the notice says when it is not about the session

/** Says it on the page as it is, and answers the link. */
function say(words: string, address: string, label = 'Sign in again'): HTMLElement | null {
  const notice = document.getElementById('stale-notice');
  if (!notice) return null;
  if (!notice.dataset.signedOut) usual = [...notice.childNodes];
  notice.dataset.signedOut = 'true';
  const link = document.createElement('a');
  link.href = address;
  if (address !== location.href) link.target = '_blank';
  link.textContent = label;
  notice.replaceChildren(`${words} `, link, link.target ? ' in a new tab, then go on here.' : '.');
  notice.hidden = false;
  return link;
}

/** For whoever pressed a button: the way out has the focus. */
function focused(link: HTMLElement | null): void {
  link?.focus();
}

function hide(): void {
  const notice = document.getElementById('stale-notice');
  if (!notice?.dataset.signedOut) return;
  delete notice.dataset.signedOut;
  notice.replaceChildren(...usual);
  notice.hidden = true;
}
