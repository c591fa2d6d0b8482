// What an activity does, in one quiet line for its node. Pure.

import { isRecord, isText } from './model';

type Fields = Record<string, unknown>;

/** The words a person reads for each activity type. */
export const typeTitles: Readonly<Record<string, string>> = {
  http: 'HTTP request',
  set: 'Set values',
  switch: 'Switch',
  wait: 'Wait',
  event: 'Wait for event',
  human: 'Human task',
  for_each: 'For each',
  workflow: 'Run workflow',
  fail: 'Fail',
  end: 'End',
  script: 'Script',
  sql: 'SQL',
  email: 'Email',
  emit: 'Emit event',
  worker: 'Worker task',
  ai: 'AI prompt',
  hook: 'Hook',
};

export const hookWords = {
  onError: { name: 'When it fails', detail: 'runs after compensation' },
  onExit: { name: 'At every end', detail: 'runs last, however it ended' },
} as const;

export function typeTitle(type: string): string {
  return typeTitles[type] ?? (type || 'No type');
}

/** One line, at most about 60 characters, without a full stop. */
export function describe(activity: Fields): string {
  const type = isText(activity.type) ? activity.type : '';
  const block = fieldsOf(activity[type]);
  const inputs = fieldsOf(activity.inputs);
  const line = lines[type]?.(block, inputs, activity) ?? '';
  return clip(line, 60);
}

const lines: Record<string, (block: Fields, inputs: Fields, activity: Fields) => string> = {
  http: (_, inputs) => `${text(inputs.method) || 'GET'} ${address(text(inputs.url)) || 'no address yet'}`,
  set: (_, __, activity) => list('sets', Object.keys(fieldsOf(activity.outputs)), 'sets nothing yet'),
  switch: describeSwitch,
  wait: (block) => describeTimer(fieldsOf(block.timer)),
  event: (block) => `waits for ${text(block.name) || 'an event'}`,
  human: (block) => `asks ${people(block) || 'nobody yet'}`,
  for_each: (block) => `each ${text(block.as) || 'item'} of ${expression(block.items) || 'nothing yet'}`,
  workflow: (block) => join('runs', text(block.name) || 'no workflow yet', text(block.version)),
  fail: (block) => `fails with ${text(block.error) || 'no error type yet'}`,
  end: () => 'ends the execution as completed',
  script: (_, inputs) => `runs ${text(inputs.language) || 'a script'}`,
  sql: (_, inputs) => join(text(inputs.mode) || 'query', 'on', text(inputs.connection)),
  email: (_, inputs) => list('to', texts(inputs.to), 'to nobody yet'),
  emit: (block, inputs) => `emits ${text(block.name) || text(inputs.name) || 'an event'}`,
  worker: (block, inputs) => `task ${text(block.task) || text(inputs.task) || ''}`,
  ai: (block, inputs) => `asks ${text(block.model) || text(inputs.model) || 'a model'}`,
};

function describeSwitch(block: Fields): string {
  const cases = Array.isArray(block.cases) ? block.cases.filter(isRecord) : [];
  if (cases.length === 1) return `if ${expression(cases[0]!.when) || 'never'}`;
  const names = cases.map((c) => text(c.name)).filter(isText);
  const otherwise = text(block.default);
  return names.length === 0 ? 'no cases yet' : names.join(', ') + (otherwise ? `, else ${otherwise}` : '');
}

function describeTimer(timer: Fields): string {
  if (timer.after !== undefined) return `waits ${spaced(expression(timer.after))}`;
  if (timer.at !== undefined) return `waits until ${expression(timer.at)}`;
  return 'waits for nothing yet';
}

function people(block: Fields): string {
  if (block.assignee !== undefined) return expression(block.assignee);
  const candidates = fieldsOf(block.candidates);
  const groups = texts(candidates.groups).map((g) => `group ${expression(g)}`);
  const users = texts(candidates.users).map(expression);
  return [...groups, ...users].join(', ');
}

/** Facts that change how the activity runs, as short chips. */
export function factsOf(activity: Fields): string[] {
  const facts: string[] = [];
  if (activity.when !== undefined) facts.push('if');
  const join = joinWord(activity.join);
  if (join) facts.push(join);
  const attempts = isRecord(activity.retry) ? (activity.retry.attempts ?? 3) : activity.retry;
  if (typeof attempts === 'number' && attempts > 1) facts.push(`×${attempts}`);
  return facts;
}

/** How several edges meet: null for the default `all`. */
export function joinWord(join: unknown): string | null {
  if (isText(join) && join !== 'all') return join;
  if (isRecord(join)) {
    const n = join.n_of_m ?? join.nOfM;
    return typeof n === 'number' ? `${n} of m` : 'n of m';
  }
  return null;
}

function address(url: string): string {
  return expression(url).replace(/^https?:\/\//, '');
}

/** An expression or template without its braces, on one line. */
export function expression(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} items`;
  return text(value)
    .replace(/\$\{\{\s*(.*?)\s*\}\}/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** "5s" reads as "5 s"; anything else stays as it is. */
function spaced(duration: string): string {
  return /^[\d.]+[a-z]+$/.test(duration) ? duration.replace(/^([\d.]+)/, '$1 ') : duration;
}

function list(verb: string, names: string[], none: string): string {
  return names.length === 0 ? none : `${verb} ${names.map(expression).join(', ')}`;
}

function join(...words: string[]): string {
  return words.filter(Boolean).join(' ');
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(text).filter(isText);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function clip(line: string, length: number): string {
  return line.length <= length ? line : line.slice(0, length - 1).trimEnd() + '…';
}
