// A plan as the server answers it: what would happen, without any effect. Here it
// becomes marks on the canvas. Pure.

import { drawnPort, edgeKey, isRecord, isText, plainPort, upstream, type Graph, type GraphNode } from '../graph/model';
import type { NodeState } from '../graph/node-view';

export interface PlanStep {
  activity: string;
  item?: string;
  hook?: string;
  status: string;
  inputs?: unknown;
  outputs?: unknown;
  outcome?: string;
  error?: { type?: string; message?: string } | null;
  skipReason?: string;
  mocked?: boolean;
  assumed?: boolean;
  needsMock?: boolean;
  /** It was really tried, and this is what came of it. */
  real?: boolean;
}

export interface Plan {
  status: string;
  output?: unknown;
  duration?: string;
  error?: { message?: string; activity?: string } | null;
  steps: PlanStep[];
  edges: { from: string; to: string; port?: string; lit: boolean }[];
  problems: { message?: string; path?: string }[];
}

/** One attempt that was made for real. */
export interface TriedStep extends PlanStep {
  took: string;
  log: { line: string; stream: string }[];
}

/** What was asked for, and what was tried before it. */
export interface Tried extends TriedStep {
  before?: TriedStep[];
  problems?: { message?: string }[];
}

/** The activities before one that can be tried for real, in the order of the text; those around it count too, and those in a loop. */
export function triableBefore(graph: Graph, key: string): GraphNode[] {
  const before = new Set<string>();
  for (let at: string | undefined = key; at !== undefined; at = graph.nodes.find((n) => n.key === at)?.parent ?? undefined) {
    for (const each of upstream(graph, at)) if (each !== key) before.add(each);
  }
  const within = (n: GraphNode): boolean => {
    const around = graph.nodes.find((p) => p.key === n.parent);
    return around !== undefined && (before.has(around.key) || within(around));
  };
  return graph.nodes.filter((n) => n.id !== null && n.key !== key && (before.has(n.key) || within(n)) && effectOf(n.type, undefined) !== null);
}

/** What an activity does outside, in words; null for those that the engine does by itself or hands to others. */
export function effectOf(type: string, inputs: unknown): string | null {
  const given = isRecord(inputs) ? inputs : {};
  const text = (key: string) => (isText(given[key]) ? ` ${given[key]}` : '');
  switch (type) {
    case 'http': return `It calls${text('method') || ' GET'}${text('url')}.`;
    case 'email': return `It sends a mail${given.to === undefined ? '' : ` to ${[given.to].flat().join(', ')}`}.`;
    case 'sql': return `It runs its query on the connection${text('connection')}.`;
    case 'script': return 'It runs its script on the server.';
    case 'ai': return `It asks the model${text('model')}, which may cost money.`;
    case 'emit': return `It emits the event${text('name')} to whatever waits for it.`;
    default: return null;
  }
}

/** Whether it changes nothing outside: a method of HTTP that only reads, or a script in the sandbox. */
export function isSafe(type: string, inputs: unknown): boolean {
  const given = isRecord(inputs) ? inputs : {};
  if (type === 'http') return given.method === undefined || given.method === 'GET' || given.method === 'HEAD';
  return type === 'script' && given.language === 'javascript';
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/\.address_refused$/, 'This server may not reach the address; an operator allows private ranges with --egress-allow, and the team’s policy may narrow them.'],
  [/^transport\.dns$/, 'No machine has this name: check the host.'],
  [/^transport\.tls$/, 'The certificate was not accepted: “TLS” takes another authority.'],
  [/^transport\./, 'Nothing answered: check host and port, and whether the server can reach them.'],
  [/^timeout\./, 'It took longer than its time-out; give it more under “Time and repeats”.'],
  [/^http\.40[13]$/, 'The service does not let this request in: check “Authentication” and the secret behind it.'],
  [/^http\.404$/, 'The service knows no such address: check the URL and what is put into it.'],
  [/^http\.\d/, 'What counts as success is said under “What counts as success”.'],
  [/^connection\.not_found$/, 'The team has no such connection: an admin makes one in the settings.'],
  [/^(expr\.eval|input\.invalid)$/, 'See what it was given; an input or a pin may be missing or of another type.'],
];

/** What a person could do about a type of error; null when there is nothing to say. */
export function hintOf(error: string): string | null {
  return hints.find(([pattern]) => pattern.test(error))?.[1] ?? null;
}

/** The step of an activity; of a loop's body the first item's. */
export function stepOf(plan: Plan, key: string): PlanStep | undefined {
  return plan.steps.find((s) => s.activity === key);
}

/** Marks for the canvas; up to one activity only, when one is given. */
export function statesOf(plan: Plan, graph: Graph, until: string | null): Map<string, NodeState> {
  const within = until === null ? null : upstream(graph, until);
  const states = new Map<string, NodeState>();
  for (const step of plan.steps) {
    if (states.has(step.activity) || (within && !within.has(step.activity) && !within.has(parentOf(graph, step.activity)))) continue;
    states.set(step.activity, { state: step.needsMock ? 'waiting' : step.status, label: wordsOf(step), detail: step.skipReason ?? step.error?.message ?? wordsOf(step) });
  }
  return states;
}

/** Whether each edge of the graph was taken, by its key. */
export function litOf(plan: Plan, graph: Graph): Map<string, boolean> {
  const nodes = new Map(graph.nodes.map((n) => [n.key, n]));
  return new Map(plan.edges.flatMap((e) => {
    const source = nodes.get(e.from);
    return source ? [[edgeKey(e.from, drawnPort(source, e.port ?? plainPort), e.to), e.lit] as const] : [];
  }));
}

export function wordsOf(step: PlanStep): string {
  if (step.needsMock) return 'stops here: pin what it gives';
  if (step.status === 'skipped') return 'skipped';
  if (step.error?.type) return `${step.real ? 'failed for real' : 'fails'}: ${step.error.type}`;
  const how = step.real ? ', for real' : step.mocked ? ', pinned' : step.assumed ? ', assumed' : '';
  return `${step.outcome ?? step.status}${how}`;
}

/** When something ended: "after 4s", or "at once" where no time went by. */
export function endedAfter(took: string): string {
  return took === '0s' ? 'at once' : `after ${took}`;
}

/** Keys by which a pin describes an answer instead of being it. */
const answerKeys = new Set(['result', 'outputs', 'error', 'items', 'takes', 'message', 'detail', 'class', 'retryAfter']);

/** What attempts came to, as mocks: a loop's by its items. What the engine does by itself takes none. */
export function mocksOf(tried: readonly PlanStep[], graph: Graph): Record<string, unknown> {
  const types = new Map(graph.nodes.map((n) => [n.key, n.type]));
  const mocks: Record<string, unknown> = {};
  for (const t of tried) {
    const type = types.get(t.activity) ?? '';
    if (type === 'emit' || effectOf(type, undefined) === null) continue;
    const before = mocks[t.activity] as { items: object } | undefined;
    mocks[t.activity] = t.item === undefined ? answerOf(t) : { items: { ...before?.items, [t.item]: answerOf(t) } };
  }
  return mocks;
}

/** A plan with what was really tried in place of what was made of it. */
export function withReal(plan: Plan, tried: readonly PlanStep[]): Plan {
  const steps = plan.steps.map((step) => {
    const real = [...tried].reverse().find((t) => t.activity === step.activity && t.item === step.item);
    return real ? { ...step, ...real, needsMock: false, real: true } : step;
  });
  return { ...plan, steps };
}

/** The mock that says what an attempt came to. */
function answerOf(tried: PlanStep): unknown {
  if (tried.error) return { error: tried.error.type ?? 'failed', ...(tried.error.message ? { message: tried.error.message } : {}) };
  const outputs = tried.outputs ?? {};
  const plain = isRecord(outputs) && !Object.keys(outputs).every((key) => answerKeys.has(key));
  return plain ? outputs : { outputs };
}

/** What a past execution gave, as pins: its input and the outputs of each completed activity. */
export function pinsOf(execution: unknown): { input: unknown; mocks: Record<string, unknown> } {
  const e = isRecord(execution) ? execution : {};
  const mocks: Record<string, unknown> = {};
  for (const [id, activity] of Object.entries(isRecord(e.activities) ? e.activities : {})) {
    if (!isRecord(activity)) continue;
    const error = isRecord(activity.error) ? activity.error.type : undefined;
    if (activity.status === 'completed' && isRecord(activity.output)) mocks[id] = activity.output;
    else if (isText(error)) mocks[id] = { error };
  }
  return { input: e.input ?? {}, mocks };
}

function parentOf(graph: Graph, key: string): string {
  return graph.nodes.find((n) => n.key === key)?.parent ?? '';
}
