// The order of keys in the canonical form: where a new key goes. Pure.

import type { Path } from '../graph/model';

const activity = [
  'id', 'name', 'description', 'type', 'needs', 'queueTimeout', 'join', 'when', 'onSkip',
  'switch', 'wait', 'event', 'human', 'for_each', 'workflow', 'emit', 'worker', 'ai', 'fail', 'end',
  'inputs', 'outputs', 'retry', 'timeout', 'totalTimeout', 'repeat', 'onFailure', 'compensate',
  'affinity', 'semaphore', 'priority', 'once', 'checkpoint', 'idempotencyKey',
];

const lists: Record<string, string[]> = {
  root: ['apiVersion', 'kind', 'metadata', 'spec'],
  metadata: ['name', 'version', 'description', 'labels'],
  spec: [
    'input', 'variables', 'defaults', 'schedule', 'webhooks', 'events', 'retry', 'limits', 'affinity',
    'execution', 'compensation', 'activities', 'output', 'onError', 'onExit',
  ],
  // One list for all connectors: no two of them order the same keys differently.
  inputs: [
    'connection', 'language', 'source', 'input', 'args', 'env', 'stdin', 'files', 'task', 'to', 'cc', 'bcc', 'from', 'replyTo', 'subject', 'text', 'html', 'attachments',
    'model', 'prompt', 'messages', 'responseSchema', 'maxTokens', 'temperature',
    'method', 'url', 'query', 'params', 'mode', 'maxRows', 'headers', 'body', 'form', 'auth', 'expect', 'saveAs', 'tls', 'proxy',
  ],
  human: ['title', 'description', 'assignee', 'candidates', 'quorum', 'notActor', 'notSameAs', 'outcomes', 'form', 'due', 'onDue', 'remind', 'escalate', 'allowComment', 'data'],
  for_each: ['items', 'as', 'key', 'maxConcurrent', 'onItemFailure', 'tolerate', 'activity', 'activities', 'collect'],
  retry: ['attempts', 'strategy', 'delay', 'maxDelay', 'jitter', 'errors', 'except'],
  input: ['type', 'required', 'additionalProperties', 'properties'],
  event: ['name', 'correlation', 'where', 'count', 'schema'],
  emit: ['name', 'key', 'payload'],
  repeat: ['until', 'every', 'max', 'backoff'],
  semaphore: ['name', 'permits', 'key'],
  affinity: ['labels', 'prefer', 'queue', 'waitFor'],
  compensation: ['runOn', 'order', 'retry', 'onError'],
  execution: ['mode', 'maxActivities', 'flushEvery'],
  limits: ['maxConcurrent', 'concurrencyKey', 'onLimit', 'queueMax', 'maxParallel', 'maxPerSecond', 'maxMemory', 'priority', 'timeout', 'onFailFast', 'failFast', 'historyRetention'],
  schedule: ['cron', 'every', 'at', 'timezone', 'input', 'overlap', 'catchUp', 'catchUpLimit', 'dst', 'startDeadline', 'jitter', 'paused', 'calendar'],
  webhooks: ['path', 'method', 'auth', 'input', 'when', 'dedupeKey', 'respond'],
  events: ['name', 'when', 'input', 'dedupeKey'],
  workflow: ['name', 'version', 'wait', 'onCancel', 'dedupeKey'],
  switch: ['cases', 'default'],
  fail: ['error', 'message', 'detail'],
};

const hooks: ReadonlySet<string> = new Set(['onError', 'onExit']);

/** Keys of the map at a path in canonical order; unknown keys come last in their own order. */
export function keyOrder(path: Path): readonly string[] {
  const last = path.at(-1);
  if (last === undefined) return lists.root!;
  if (typeof last === 'number' && path.at(-2) !== 'activities') return lists[String(path.at(-2))] ?? (hooks.has(String(path.at(-2))) ? activity : []);
  if (typeof last === 'number' || last === 'activity' || last === 'compensate') return activity;
  return lists[last] ?? [];
}

/** Maps whose keys are kept in alphabetical order. */
export function isSorted(path: Path): boolean {
  return path.at(-1) === 'positions';
}
