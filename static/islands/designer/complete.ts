// What can be written in an expression at a place: inputs, variables, outputs of
// the activities before it, functions. Pure.

import { hookType, isRecord, isText, upstream, type Graph, type GraphNode } from '../graph/model';

export interface Suggestion {
  text: string;
  /** Where it comes from, in a few words. */
  detail: string;
}

export interface Completion {
  /** Offset in the source where the completed word begins. */
  from: number;
  options: Suggestion[];
}

/** Names and what is below them; null = nothing is known below. */
interface Names {
  [name: string]: { detail: string; below: Names | null };
}

const functions = (
  'len min max abs ceil floor round int float string type upper lower trim split join replace indexOf contains startsWith ' +
  'endsWith matches first last take flatten uniq sort sortBy reverse concat map filter find findIndex all any one none ' +
  'count sum mean median groupBy reduce keys values toPairs fromPairs merge default toJSON fromJSON base64 sha256 uuid5 ' +
  'parseTime formatTime addDuration duration formatNumber urlEncode'
).split(' ');

const results: Readonly<Record<string, readonly string[]>> = {
  http: ['status', 'headers', 'body'],
  human: ['outcome', 'form', 'by', 'at', 'comment', 'votes'],
  wait: ['at'],
  event: ['payload', 'id', 'receivedAt'],
  workflow: ['output', 'executionId', 'status'],
  for_each: ['results', 'failures', 'completed', 'failed'],
  switch: ['outcome'],
  script: ['exitCode', 'stdout', 'stderr', 'output'],
  sql: ['rows', 'rowsAffected', 'columns'],
  email: ['messageId'],
  emit: ['id'],
  ai: ['text', 'model', 'usage'],
};

export interface Scope {
  graph: Graph;
  root: Record<string, unknown>;
  /** The activity whose field is edited; null for the workflow's own fields. */
  node: GraphNode | null;
  fieldsOf(node: GraphNode): Record<string, unknown>;
}

/** Suggestions for the text before the cursor; inside a template only between ${{ and }}. */
export function complete(before: string, scope: Scope, template: boolean): Completion | null {
  if (template && before.lastIndexOf('${{') <= before.lastIndexOf('}}')) return null;
  const path = /(?:[A-Za-z_]\w*(?:\?\.|\.))*[A-Za-z_]?\w*$/.exec(before)![0];
  const steps = path.split(/\?\.|\./);
  const typed = steps.pop()!;
  if (steps.length === 0 && typed === '' && !template && before.trim() !== '') return null;
  let names: Names | null = namesIn(scope);
  for (const step of steps) names = names?.[step]?.below ?? null;
  if (!names) return null;
  const lower = typed.toLowerCase();
  const options = Object.entries(names)
    .filter(([name]) => name.toLowerCase().startsWith(lower) && name !== typed)
    .map(([text, { detail }]) => ({ text, detail }));
  return options.length > 0 ? { from: before.length - typed.length, options } : null;
}

function namesIn(scope: Scope): Names {
  const spec = record(scope.root.spec);
  return {
    inputs: leaf('what the execution was started with', properties(spec.input)),
    ...(spec.variables ? { vars: leaf('variables', named(Object.keys(record(spec.variables)), 'variable')) } : {}),
    activities: leaf('activities before this one', activityNames(scope)),
    ...loopNames(scope),
    execution: leaf('this execution', named(['id', 'workflow', 'version', 'startedAt', 'actor', 'attempt', 'correlationId', 'labels'], 'execution')),
    trigger: leaf('what started it', named(['type', 'body', 'headers', 'query', 'payload', 'scheduledAt', 'id'], 'trigger')),
    ...(scope.node ? { error: leaf('what failed, in a hook or after a failure port', named(['type', 'class', 'message', 'activity', 'item', 'attempt', 'detail'], 'error')) } : {}),
    secrets: leaf('secrets of the team', {}),
    ...(scope.node ? { result: leaf('what this activity gave (in outputs)', named(results[scope.node.type] ?? [], 'result')) } : {}),
    ...named(functions, 'function'),
  };
}

function activityNames(scope: Scope): Names {
  const names: Names = {};
  for (const node of visible(scope)) {
    if (node.id === null) continue;
    names[node.id] = leaf(node.name, {
      outputs: leaf('outputs', outputNames(scope.fieldsOf(node), node.type)),
      ...named(['status', 'outcome', 'error', 'attempts', 'startedAt', 'endedAt'], 'activity'),
    });
  }
  return names;
}

/** What surely comes before: ancestors, and those of the loops around. For the workflow itself: everything. */
function visible(scope: Scope): GraphNode[] {
  if (!scope.node) return scope.graph.nodes.filter((n) => n.parent === null);
  const keys = new Set<string>();
  // A hook runs when everything else is over.
  if (hookOf(scope)) for (const node of scope.graph.nodes) if (node.parent === null && node.id !== null) keys.add(node.key);
  for (let node: GraphNode | undefined = scope.node; node; node = scope.graph.nodes.find((n) => n.key === node!.parent)) {
    for (const key of upstream(scope.graph, node.key)) if (key !== node.key) keys.add(key);
  }
  return scope.graph.nodes.filter((n) => keys.has(n.key));
}

/** The hook that an activity belongs to. */
function hookOf(scope: Scope): GraphNode | null {
  const parent = scope.graph.nodes.find((n) => n.key === scope.node?.parent);
  return parent?.type === hookType ? parent : null;
}

function outputNames(fields: Record<string, unknown>, type: string): Names {
  const declared = Object.keys(record(fields.outputs));
  return named(declared.length > 0 ? declared : (results[type] ?? []), 'output');
}

function loopNames(scope: Scope): Names {
  const loop = scope.node?.parent ? scope.graph.nodes.find((n) => n.key === scope.node!.parent) : undefined;
  if (!loop || loop.type === hookType) return {};
  const as = record(scope.fieldsOf(loop).for_each).as;
  return { [isText(as) ? as : 'item']: leaf(`item of ${loop.name}`, null), index: leaf('place of the item, from 0', null) };
}

function properties(schema: unknown): Names {
  const names: Names = {};
  for (const [name, property] of Object.entries(record(record(schema).properties))) {
    const type = record(property).type;
    names[name] = leaf(isText(type) ? type : 'input', isRecord(record(property).properties) ? properties(property) : null);
  }
  return names;
}

function named(names: readonly string[], detail: string): Names {
  return Object.fromEntries(names.map((name) => [name, leaf(detail, null)]));
}

function leaf(detail: string, below: Names | null): Names[string] {
  return { detail, below };
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The columns that the line after this one begins with: deeper below a key without a value, else beside the first key; null = as deep as this one. */
export function indentAfter(line: string): number | null {
  const beginning = /^ *(?:- +)*/.exec(line)![0];
  const opens = /:(?: +[|>][-+0-9]*)?\s*$/.test(line) && !/^\s*#/.test(line);
  if (opens) return beginning.length + 2;
  return beginning.includes('-') && line.length > beginning.length ? beginning.length : null;
}
