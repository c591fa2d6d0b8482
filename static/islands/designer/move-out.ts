// Asks for a name, makes the draft of the new workflow, and puts one activity in the
// place of those that moved.

import { ask } from './ask';
import { CannotEdit } from './draft';
import { extract, type Extracted } from './extract';
import { Server } from './server';
import type { Session } from './session';

const workflowName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function moveOut(session: Session, parent: string, closed: () => void): void {
  const keys = session.selection;
  const first = session.graph.nodes.find((n) => keys.includes(n.key));
  const suggested = `${parent}-${(first?.id ?? 'part').replaceAll('_', '-')}`.slice(0, 63).replace(/-+$/, '');
  const refused = planned(session, keys, suggested);
  if (typeof refused === 'string') return void session.refuse(refused);
  ask({
    title: 'Move into a workflow of its own', label: 'Name of the new workflow', value: suggested, does: 'Move', closed,
    problem: (name) => (workflowName.test(name) ? null : 'A name has small letters, digits and -, at most 63 of them'),
    act: (name) => move(session, keys, name),
  });
}

/** Answers why it failed, null when it did not. */
async function move(session: Session, keys: readonly string[], name: string): Promise<string | null> {
  const plan = planned(session, keys, name);
  if (typeof plan === 'string') return plan;
  const saved = await new Server(name).save(plan.child, null);
  if (saved.kind === 'stale') return `There is already a workflow ${name}`;
  if (saved.kind !== 'saved') return saved.kind === 'refused' ? saved.message : 'The server cannot be reached.';
  if (session.run(plan.command)) {
    const count = keys.length === 1 ? '1 activity' : `${keys.length} activities`;
    session.tell(`Moved ${count} to ${name}. It is a draft: publish it before this workflow.`, { href: `/workflows/${name}/edit`, words: `Open ${name}` });
  }
  return null;
}

function planned(session: Session, keys: readonly string[], name: string): Extracted | string {
  try {
    return extract(session.text, keys, name);
  } catch (e) {
    if (e instanceof CannotEdit) return e.message;
    throw e;
  }
}
