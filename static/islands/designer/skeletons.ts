// What a new activity of each type starts as: small, and right wherever a default can be. Pure.

type Fields = Record<string, unknown>;

interface Skeleton {
  /** The id a new activity gets, numbered when taken. */
  id: string;
  fields: Fields;
}

export const skeletons: Readonly<Record<string, Skeleton>> = {
  http: { id: 'request', fields: { inputs: { method: 'GET' } } },
  set: { id: 'set_values', fields: { outputs: { value: '1' } } },
  switch: { id: 'decide', fields: { switch: { cases: [{ name: 'first', when: 'true' }], default: 'otherwise' } } },
  wait: { id: 'wait', fields: { wait: { timer: { after: '5s' } } } },
  event: { id: 'wait_for_event', fields: { event: { name: 'something.happened', correlation: 'execution.correlationId' }, timeout: '1d' } },
  human: {
    id: 'approve',
    fields: { human: { title: 'Please decide', candidates: { groups: ['approvers'] }, outcomes: ['approved', 'rejected'], due: '1d' } },
  },
  for_each: { id: 'for_each_item', fields: { for_each: { items: '[1, 2, 3]', activities: [] } } },
  workflow: { id: 'run_workflow', fields: { workflow: {} } },
  script: { id: 'run_script', fields: { inputs: { language: 'javascript', source: 'return {}' } } },
  sql: { id: 'query', fields: { inputs: { connection: 'default', query: 'select 1' } } },
  email: { id: 'send_email', fields: { inputs: { to: ['someone@example.com'], subject: 'About your order' } } },
  ai: { id: 'ask_model', fields: { inputs: { connection: 'default', prompt: 'Say hello' } } },
  emit: { id: 'emit_event', fields: { emit: { name: 'something.happened' } } },
  worker: { id: 'work', fields: { inputs: { task: 'render' } } },
  fail: { id: 'stop', fields: { fail: { error: 'workflow.stopped' } } },
  end: { id: 'finish', fields: {} },
};

/** Types in the order of the palette. */
export const paletteTypes = Object.keys(skeletons);

/** An activity of a type with a free id; a loop gets a first activity for its body. */
export function newActivity(type: string, taken: ReadonlySet<string>): Fields & { id: string } {
  const skeleton = skeletons[type] ?? { id: type, fields: {} };
  const id = freeId(skeleton.id, taken);
  const fields = structuredClone(skeleton.fields);
  if (type === 'for_each') {
    const body = freeId('each_item', new Set([...taken, id]));
    fields.for_each = { ...(fields.for_each as Fields), activities: [{ id: body, type: 'set', outputs: { value: 'item' } }] };
  }
  return { id, type, ...fields };
}

export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = wanted.replace(/_\d+$/, '');
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${base.slice(0, 58)}_${n}`;
  return id;
}

/** An id from any words: "Charge the card" becomes charge_the_card. */
export function idFrom(words: string): string {
  const id = words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_+$/g, '').slice(0, 63);
  return reserved.has(id) ? `${id}_step` : id;
}

export const reserved: ReadonlySet<string> = new Set(['yes', 'no', 'on', 'off', 'y', 'n', 'true', 'false', 'null']);

/** Why a text cannot be an activity's id; null when it can. */
export function idProblem(id: string, taken: ReadonlySet<string>): string | null {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(id)) return 'An id has small letters, digits and _, begins with a letter and is at most 63 long';
  if (reserved.has(id)) return `"${id}" is a word that YAML tools read as something else`;
  if (taken.has(id)) return `There is already an activity "${id}"`;
  return null;
}
