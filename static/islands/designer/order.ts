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
  inputs: ['method', 'url', 'query', 'headers', 'body', 'form', 'auth', 'expect', 'saveAs'],
  human: ['title', 'description', 'assignee', 'candidates', 'quorum', 'notActor', 'notSameAs', 'outcomes', 'form', 'due', 'onDue', 'remind', 'escalate', 'allowComment'],
  for_each: ['items', 'as', 'key', 'maxConcurrent', 'onItemFailure', 'tolerate', 'activity', 'activities', 'collect'],
  retry: ['attempts', 'strategy', 'delay', 'maxDelay', 'jitter', 'errors', 'except'],
  input: ['type', 'required', 'additionalProperties', 'properties'],
  event: ['name', 'correlation', 'where', 'count'],
  workflow: ['name', 'version', 'wait', 'onCancel', 'dedupeKey'],
  switch: ['cases', 'default'],
  fail: ['error', 'message', 'detail'],
};

/** Keys of the map at a path in canonical order; unknown keys come last in their own order. */
export function keyOrder(path: Path): readonly string[] {
  const last = path.at(-1);
  if (last === undefined) return lists.root!;
  if (typeof last === 'number' || last === 'activity') return activity;
  return lists[last] ?? [];
}

/** Maps whose keys are kept in alphabetical order. */
export function isSorted(path: Path): boolean {
  return path.at(-1) === 'positions';
}
