// How the forms speak: labels where the key alone says too little, which texts are
// long, and which keys stand together. Everything else comes from the schema.

/** Labels by the key's path in its activity, or by the key alone. */
export const labels: Readonly<Record<string, string>> = {
  'inputs.url': 'Address',
  'inputs.auth': 'Authentication',
  'inputs.expect': 'What counts as success',
  'human.title': 'Question',
  'human.description': 'Details',
  'human.assignee': 'One person',
  'human.candidates': 'Who may decide',
  'human.due': 'Due after',
  'human.onDue': 'Outcome when overdue',
  'human.quorum': 'People who must agree',
  'human.remind': 'Remind after',
  'switch.default': 'Otherwise',
  'wait.timer': 'Wait',
  'wait.timer.after': 'For',
  'wait.timer.at': 'Until',
  'event.name': 'Event name',
  'event.where': 'Only if',
  'event.count': 'How many',
  'for_each.as': 'Called',
  'for_each.key': 'Key of an item',
  'for_each.maxConcurrent': 'At the same time',
  'for_each.tolerate': 'Failures tolerated',
  'workflow.name': 'Workflow',
  'workflow.wait': 'Wait for its end',
  'fail.error': 'Error type',
  'metadata.version': 'Version name',
  'spec.input': 'What a start must give: the fields of its form',
  'spec.schedule': 'By the clock',
  'spec.webhooks': 'By a web request',
  'spec.events': 'By an event',
  'spec.retry': 'Retry of all connectors',
  'spec.limits.timeout': 'Longest execution',
  'spec.limits.maxConcurrent': 'Executions at once',
  'spec.limits.maxParallel': 'Activities at once',
  'spec.limits.concurrencyKey': 'Counted per',
  'spec.limits.onLimit': 'Over the limit',
  'spec.limits.failFast': 'Stop at the first failure',
  when: 'Only if',
  notActor: 'Not who started it',
  notSameAs: 'Not who decided these tasks',
  n_of_m: 'How many',
  attempts: 'Attempts in all',
  delay: 'First pause',
  maxDelay: 'Longest pause',
  strategy: 'Pauses',
  errors: 'Only these errors',
  except: 'Never these errors',
  timeout: 'Time-out of one attempt',
  totalTimeout: 'Time-out of all attempts',
  queueTimeout: 'Time-out of the queue',
  onSkip: 'When skipped',
  onFailure: 'On failure',
  once: 'At most once',
  compensate: 'What undoes it',
  idempotencyKey: 'Idempotency key',
  dedupeKey: 'Same start if equal',
  timezone: 'Time zone',
  dst: 'When clocks change',
  startDeadline: 'Too late after',
};

/** Texts that want several lines, by path or key. */
export const longTexts: ReadonlySet<string> = new Set(['description', 'inputs.text', 'inputs.html', 'inputs.prompt', 'stdin']);

/** Values that are maps of names to values wherever people use them. */
export const mapKeys: ReadonlySet<string> = new Set(['headers', 'query', 'variables']);

/** Groups that stand open also while nothing in them is set. */
export const openGroups: ReadonlySet<string> = new Set(['wait.timer', 'human.candidates']);

interface Named {
  title: string;
  keys: readonly string[];
  folded?: boolean;
}

/** Sections of an activity's form after its own block; the last takes every other key. */
export const activitySections: readonly Named[] = [
  { title: 'Runs only if', keys: ['when'] },
  { title: 'Outputs', keys: ['outputs'], folded: true },
  { title: 'Retry and time-outs', keys: ['retry', 'timeout', 'totalTimeout', 'queueTimeout', 'repeat'], folded: true },
  { title: 'Undo', keys: ['compensate'], folded: true },
  { title: 'When it fails, and more', keys: [], folded: true },
];

/** Sections of the workflow's settings, by keys of `spec`; the last takes every other key. */
export const workflowSections: readonly Named[] = [
  { title: 'Input', keys: ['input'] },
  { title: 'Output', keys: ['output'] },
  { title: 'Variables', keys: ['variables'], folded: true },
  { title: 'What starts it', keys: ['schedule', 'webhooks', 'events'], folded: true },
  { title: 'Limits', keys: ['limits'], folded: true },
  { title: 'Retry', keys: ['retry'], folded: true },
  { title: 'Undo', keys: ['compensation'], folded: true },
  { title: 'More', keys: [], folded: true },
];
