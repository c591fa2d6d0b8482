// Which fields the form shows for which activity type. Data only: labels, kinds,
// hints; how a kind is edited is the controls' business.

import type { Path } from '../graph/model';

export type Kind =
  | 'text' // one line; ${{ }} allowed
  | 'lines' // several lines; ${{ }} allowed
  | 'expression' // one bare expression
  | 'duration'
  | 'number'
  | 'flag'
  | 'choice'
  | 'names' // list of short texts, comma separated
  | 'map' // key → text
  | 'expressions' // key → expression
  | 'value' // any YAML
  | 'cases' // cases of a switch
  | 'schema'; // JSON Schema of an object: rows of properties

export interface Field {
  path: Path;
  label: string;
  kind: Kind;
  /** For 'choice': the values; the first is what applies when nothing is said. */
  choices?: readonly string[];
  hint?: string;
  placeholder?: string;
}

export interface Section {
  title: string;
  fields: readonly Field[];
  /** Closed until somebody opens it or something in it is set. */
  folded?: boolean;
}

const f = (path: string, label: string, kind: Kind, more: Partial<Field> = {}): Field => ({ path: path.split('.'), label, kind, ...more });

const human = [
  f('human.title', 'Question', 'text', { hint: 'What the person reads first.' }),
  f('human.description', 'Details', 'lines'),
  f('human.assignee', 'One person', 'text', { placeholder: '${{ inputs.manager }}' }),
  f('human.candidates.groups', 'Groups', 'names', { hint: 'Any member may decide.' }),
  f('human.candidates.users', 'People', 'names'),
  f('human.outcomes', 'Outcomes', 'names', { placeholder: 'approved, rejected', hint: 'The first is the good one. Each becomes a port.' }),
  f('human.form', 'Form', 'schema', { hint: 'What the person fills in.' }),
  f('human.due', 'Due after', 'duration', { placeholder: '2d' }),
  f('human.onDue', 'Outcome when overdue', 'text', { placeholder: 'expired' }),
  f('human.quorum', 'People who must agree', 'number', { placeholder: '1' }),
  f('human.notActor', 'Not who started it', 'flag'),
  f('human.remind', 'Remind after', 'names', { placeholder: '1h, 4h' }),
];

/** The fields of each type's own block and inputs. */
export const typeFields: Readonly<Record<string, readonly Field[]>> = {
  http: [
    f('inputs.method', 'Method', 'choice', { choices: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] }),
    f('inputs.url', 'Address', 'text', { placeholder: 'https://api.example.com/orders' }),
    f('inputs.query', 'Query', 'map'),
    f('inputs.headers', 'Headers', 'map'),
    f('inputs.body', 'Body', 'value', { hint: 'YAML; sent as JSON.' }),
    f('inputs.auth', 'Authentication', 'value', { placeholder: 'type: bearer\ntoken: ${{ secrets.API_TOKEN }}' }),
    f('inputs.expect.status', 'Accepted status', 'text', { placeholder: '2xx' }),
  ],
  set: [f('outputs', 'Values', 'expressions', { hint: 'Each value is an expression; later activities read activities.<id>.outputs.<name>.' })],
  switch: [
    f('switch.cases', 'Cases', 'cases', { hint: 'The first that is true is taken. Each becomes a port.' }),
    f('switch.default', 'Otherwise', 'text', { placeholder: 'a name, or nothing', hint: 'The port taken when no case is true.' }),
  ],
  wait: [
    f('wait.timer.after', 'Wait for', 'duration', { placeholder: '5s' }),
    f('wait.timer.at', 'Wait until', 'text', { placeholder: '2026-12-24T18:00:00Z' }),
    f('wait.timer.timezone', 'Time zone', 'text', { placeholder: 'UTC' }),
  ],
  event: [
    f('event.name', 'Event name', 'text', { placeholder: 'order.paid' }),
    f('event.correlation', 'Correlation', 'expression', { placeholder: 'inputs.order_id', hint: 'Which event is meant for this execution.' }),
    f('event.where', 'Only if', 'expression', { placeholder: 'event.amount > 0' }),
    f('event.count', 'How many', 'number', { placeholder: '1' }),
  ],
  human,
  for_each: [
    f('for_each.items', 'Items', 'expression', { placeholder: 'inputs.orders' }),
    f('for_each.as', 'Called', 'text', { placeholder: 'item' }),
    f('for_each.key', 'Key of an item', 'expression', { placeholder: 'item.id' }),
    f('for_each.maxConcurrent', 'At the same time', 'number', { placeholder: '10' }),
    f('for_each.onItemFailure', 'When an item fails', 'choice', { choices: ['continue', 'stop'] }),
    f('for_each.tolerate', 'Failures tolerated', 'text', { placeholder: '0, or 10%' }),
    f('for_each.collect', 'Collect', 'expressions'),
  ],
  workflow: [
    f('workflow.name', 'Workflow', 'text', { placeholder: 'ship-order' }),
    f('workflow.version', 'Version', 'text', { placeholder: 'latest published' }),
    f('inputs', 'Inputs', 'map'),
    f('workflow.wait', 'Wait for its end', 'choice', { choices: ['true', 'false'] }),
    f('workflow.onCancel', 'When this is cancelled', 'choice', { choices: ['cancel', 'abandon'] }),
  ],
  fail: [
    f('fail.error', 'Error type', 'text', { placeholder: 'order.declined', hint: 'Own types have a dot.' }),
    f('fail.message', 'Message', 'text'),
    f('fail.detail', 'Detail', 'value'),
  ],
  end: [f('end.output', 'Output', 'expressions', { hint: 'Replaces the output of the workflow.' })],
};

export const joinModes = ['all', 'every', 'done', 'any', 'n of m'] as const;

const retry: Section = {
  title: 'Retry and time-outs',
  folded: true,
  fields: [
    f('retry.attempts', 'Attempts', 'number', { placeholder: '1', hint: 'Total tries, the first included.' }),
    f('retry.strategy', 'Pauses', 'choice', { choices: ['exponential', 'linear', 'fixed'] }),
    f('retry.delay', 'First pause', 'duration', { placeholder: '2s' }),
    f('retry.maxDelay', 'Longest pause', 'duration', { placeholder: '1m' }),
    f('retry.jitter', 'Jitter', 'choice', { choices: ['', 'full', 'none'] }),
    f('retry.errors', 'Only these errors', 'names', { placeholder: 'transport.*, http.5xx' }),
    f('retry.except', 'Never these errors', 'names'),
    f('timeout', 'One attempt', 'duration', { placeholder: '30s' }),
    f('totalTimeout', 'All attempts', 'duration', { placeholder: '5m' }),
  ],
};

const failure: Section = {
  title: 'When it fails, and more',
  folded: true,
  fields: [
    f('onFailure', 'On failure', 'choice', { choices: ['fail', 'continue'] }),
    f('onSkip', 'When skipped', 'choice', { choices: ['propagate', 'pass'] }),
    f('once', 'At most once', 'flag', { hint: 'A lost attempt is a failure, not a second try.' }),
    f('idempotencyKey', 'Idempotency key', 'text'),
    f('description', 'Description', 'lines'),
  ],
};

const outputs = f('outputs', 'Outputs', 'expressions', { hint: 'Expressions over result. Nothing here: the whole result.' });
const when = f('when', 'Only if', 'expression', { placeholder: 'inputs.amount > 100' });

/** The sections of an activity's form, the type's own first. */
export function sectionsFor(type: string): Section[] {
  const own = typeFields[type] ?? [];
  const common = type === 'set' || type === 'end' || type === 'fail' ? [] : [outputs];
  const timed = type === 'event' ? [{ title: 'Time-out', fields: [f('timeout', 'Give up after', 'duration', { placeholder: '1d', hint: 'Then the port timeout is taken.' })] }] : [];
  const tries = ['http', 'script', 'sql', 'email', 'worker', 'ai', 'workflow', 'for_each'].includes(type) ? [retry] : [];
  return [
    { title: '', fields: own },
    ...timed,
    { title: 'Runs only if', fields: [when] },
    ...(common.length > 0 ? [{ title: 'Outputs', fields: common, folded: true }] : []),
    ...tries,
    failure,
  ];
}

/** Top-level keys that the form handles besides the fields above. */
export const handledKeys: ReadonlySet<string> = new Set(['id', 'name', 'type', 'needs', 'join']);

export const workflowSections: readonly Section[] = [
  {
    title: '',
    fields: [
      f('metadata.description', 'Description', 'lines'),
      f('metadata.version', 'Version name', 'text', { placeholder: '1.0.0' }),
    ],
  },
  { title: 'Input', fields: [f('spec.input', 'What a start must give: the fields of its form', 'schema')] },
  { title: 'Output', fields: [f('spec.output', 'Values', 'expressions', { hint: 'Read at the end. Use ?. for what may have been skipped.' })] },
  { title: 'Variables', folded: true, fields: [f('spec.variables', 'Values', 'map', { hint: 'Computed once at the start; read as vars.<name>.' })] },
  {
    title: 'Limits',
    folded: true,
    fields: [
      f('spec.limits.timeout', 'Longest execution', 'duration', { placeholder: 'none' }),
      f('spec.limits.maxConcurrent', 'Executions at once', 'number', { placeholder: 'unlimited' }),
      f('spec.limits.concurrencyKey', 'Counted per', 'expression', { placeholder: 'inputs.customer_id' }),
      f('spec.limits.onLimit', 'Over the limit', 'choice', { choices: ['queue', 'skip', 'replace', 'reject'] }),
      f('spec.limits.maxParallel', 'Activities at once', 'number', { placeholder: '50' }),
      f('spec.limits.failFast', 'Stop at the first failure', 'choice', { choices: ['true', 'false'] }),
    ],
  },
  {
    title: 'Retry of all connectors',
    folded: true,
    fields: [
      f('spec.retry.attempts', 'Attempts', 'number', { placeholder: '1' }),
      f('spec.retry.strategy', 'Pauses', 'choice', { choices: ['exponential', 'linear', 'fixed'] }),
      f('spec.retry.delay', 'First pause', 'duration', { placeholder: '2s' }),
      f('spec.retry.maxDelay', 'Longest pause', 'duration', { placeholder: '1m' }),
    ],
  },
];
