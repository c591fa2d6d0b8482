// Moving activities into a workflow of their own: the text of that workflow, and a
// command that puts one activity in their place. Done only where the execution means
// the same before and after; else refused with the reason. Pure.

import { drawnPort, hookType, isRecord, isText, readNeed, upstream, type Graph, type GraphNode } from '../graph/model';
import { copyText } from './clipboard';
import { graphOf, idsOf, type Command } from './commands';
import { CannotEdit, Draft } from './draft';
import { readings, type Reading } from './expressions';
import { freeId, idFrom } from './skeletons';
import { blockOf } from './values';

export interface Extracted {
  /** The text of the new workflow. */
  child: string;
  command: Command;
}

type Fields = Record<string, unknown>;

/** What the child is given: by the name of its input, the expression in the parent and the schema. */
interface Given {
  value: string;
  schema: Fields;
}

interface Plan {
  chosen: readonly GraphNode[];
  inside: ReadonlySet<string>;
  entries: readonly GraphNode[];
  /** Nothing inside can be skipped while the rest completes. */
  certain: boolean;
}

/** Plans the extraction of activities into the workflow `name`. */
export function extract(text: string, keys: readonly string[], name: string): Extracted {
  const { child } = prepare(new Draft(text), keys, name);
  return {
    child,
    command: (draft) => {
      const now = prepare(draft, keys, name);
      if (now.child !== child) throw new CannotEdit('The workflow changed meanwhile: try again');
      return replace(draft, now.plan, now.activity, name, now.given, now.read.outer);
    },
  };
}

interface Prepared {
  plan: Plan;
  read: Sorted;
  given: Map<string, Given>;
  activity: string;
  child: string;
}

function prepare(draft: Draft, keys: readonly string[], name: string): Prepared {
  const broken = draft.parsed.errors[0];
  if (broken) throw new CannotEdit(`The text has to be valid YAML first: ${broken.message}`);
  const graph = graphOf(draft);
  const plan = check(draft, graph, choose(graph, keys));
  const read = sort(draft, plan);
  const given = inputsFor(draft, read.inner);
  return { plan, read, given, activity: freeId(idFrom(name), idsOf(graph)), child: childText(draft, plan, name, given, read) };
}

function choose(graph: Graph, keys: readonly string[]): GraphNode[] {
  const wanted = new Set(keys);
  const chosen: GraphNode[] = [];
  for (const node of graph.nodes) {
    if (!wanted.has(node.key) || (node.parent !== null && wanted.has(node.parent))) continue;
    if (node.type === hookType || node.parent !== null || node.id === null) throw new CannotEdit(`${node.name} is inside a loop or a hook: only activities of the graph itself can move out`);
    chosen.push(node);
  }
  if (chosen.length === 0) throw new CannotEdit('Choose the activities first');
  return chosen;
}

/** Refuses what would not mean the same; answers where the child begins and ends. */
function check(draft: Draft, graph: Graph, chosen: readonly GraphNode[]): Plan {
  const within = new Set(chosen.map((n) => n.key));
  const inside = new Set<string>();
  for (const node of graph.nodes) if (within.has(node.key) || (node.parent !== null && inside.has(node.parent))) inside.add(node.key);
  if (draft.get(['spec', 'transitions']) !== undefined) throw new CannotEdit('This file lists its edges under transitions: format it first, so that they stand at the activities');
  for (const node of graph.nodes) {
    if (!inside.has(node.key)) continue;
    const fields = fieldsOf(draft, node);
    if (fields.compensate !== undefined) throw new CannotEdit(`${node.name} has what undoes it, and a child that has completed is not undone by its parts`);
    if (node.type === 'end') throw new CannotEdit(`${node.name} ends the whole execution; in a child it would only end the child`);
  }
  const entries = chosen.filter((n) => needsOf(draft, n).every((need) => !within.has(need.from)));
  checkEntries(draft, chosen, entries, within);
  const certain = chosen.every((n) => isCertain(draft, graph, n, entries, within));
  if (!certain && chosen.length > 1 && entries.some((n) => fieldsOf(draft, n).when !== undefined)) throw new CannotEdit(`${entries[0]!.name} runs on a condition, and a branch inside may run without it`);
  checkExit(graph, chosen, within, certain);
  return { chosen, inside, entries, certain };
}

function checkEntries(draft: Draft, chosen: readonly GraphNode[], entries: readonly GraphNode[], within: ReadonlySet<string>): void {
  for (const node of chosen) {
    const outside = needsOf(draft, node).find((need) => !within.has(need.from));
    if (outside && !entries.includes(node)) throw new CannotEdit(`${node.name} also waits for ${outside.from}, which stays outside: a child is given all it needs when it begins`);
  }
  const first = entries[0]!;
  for (const node of entries) {
    const { when, join, onSkip } = fieldsOf(draft, node);
    if (edgesText(draft, node) !== edgesText(draft, first)) throw new CannotEdit(`${first.name} and ${node.name} begin after different activities: a child begins at one moment`);
    if (join !== undefined && !['all', 'every', 'done'].includes(String(join))) throw new CannotEdit(`${node.name} does not wait for all that comes before it: a child is given everything when it begins`);
    if (when !== undefined && (entries.length > 1 || onSkip !== undefined)) throw new CannotEdit(`${node.name} runs on a condition of its own: in a child, the others could not tell`);
  }
}

/** Whether an activity always runs to its good end when nothing fails. */
function isCertain(draft: Draft, graph: Graph, node: GraphNode, entries: readonly GraphNode[], within: ReadonlySet<string>): boolean {
  const { when, join } = fieldsOf(draft, node);
  const isEntry = entries.includes(node);
  if (when !== undefined && !isEntry) return false;
  if (join !== undefined && !isEntry && join !== 'all' && join !== 'every') return false;
  return graph.edges.filter((e) => e.to === node.key && within.has(e.from)).every((e) => portKind(graph, e.from, e.port) === 'good');
}

function checkExit(graph: Graph, chosen: readonly GraphNode[], within: ReadonlySet<string>, certain: boolean): void {
  const leaving = graph.edges.filter((e) => within.has(e.from) && !within.has(e.to));
  const exits = [...new Set(leaving.map((e) => e.from))].map((key) => chosen.find((n) => n.key === key)!);
  if (exits.length === 0) return;
  if (exits.length > 1) throw new CannotEdit(`${exits[0]!.name} and ${exits[1]!.name} both lead outside: a child leads on from one end`);
  const exit = exits[0]!;
  for (const edge of leaving) {
    if (portKind(graph, edge.from, edge.port) !== 'good') throw new CannotEdit(`What follows ${exit.name} on ${edge.port} needs that port, and a child has only success, failure and done`);
  }
  const before = upstream(graph, exit.key);
  const beside = chosen.find((n) => !before.has(n.key));
  if (beside) throw new CannotEdit(`${beside.name} does not lead to ${exit.name}: what follows would wait for it, and does not now`);
  if (!certain) throw new CannotEdit(`There is a branch inside, so ${exit.name} may be skipped while the child completes; what follows could not tell`);
}

interface Sorted {
  inner: Reading[];
  outer: Reading[];
}

/** What is read inside and is to be given, and what is read outside and is to be answered. */
function sort(draft: Draft, plan: Plan): Sorted {
  const sorted: Sorted = { inner: [], outer: [] };
  const condition = plan.entries.map((n) => draft.rangeOf([...n.path, 'when'])).find((r) => r !== null);
  const contains = (range: { from: number; to: number } | null | undefined, r: Reading) => !!range && r.from >= range.from && r.to <= range.to;
  const ranges = plan.chosen.map((n) => draft.rangeOf(n.path));
  for (const reading of readings(draft.text, draft.parsed.workflow!)) {
    const [first, second] = reading.members;
    const isInner = !contains(condition, reading) && ranges.some((range) => contains(range, reading));
    const own = reading.root === 'activities' && first !== undefined && plan.inside.has(first.name);
    if (isInner) {
      if (own) continue;
      refuseWhole(reading);
      sorted.inner.push(reading);
    } else if (own) {
      if (second?.name !== 'outputs') throw new CannotEdit(`activities.${first.name}${second ? `.${second.name}` : ''} is read outside: of a child, only outputs can be`);
      sorted.outer.push(reading);
    } else if (reading.root === 'error' && ['type', 'class', 'activity'].includes(first?.name ?? '')) {
      throw new CannotEdit(`error.${first!.name} is read outside, and the failure of a child has another one`);
    } else if (reading.root === 'activities' && first === undefined) throw new CannotEdit('An expression reads all activities at once: which of them cannot be followed');
  }
  refusePeople(draft, plan);
  return sorted;
}

function refuseWhole({ root, members }: Reading): void {
  if (root === 'trigger' || root === 'error') throw new CannotEdit(`An expression reads ${root}, which a child does not have`);
  const wanted = root === 'activities' ? 2 : 1;
  if (members.length < wanted) throw new CannotEdit(`An expression reads ${root} as a whole: what it needs of it cannot be followed`);
}

/** Who decided elsewhere is known within one execution only. */
function refusePeople(draft: Draft, plan: Plan): void {
  for (const node of graphOf(draft).nodes) {
    const human = fieldsOf(draft, node).human;
    const others: unknown = isRecord(human) ? (human.notSameAs ?? human.not_same_as) : undefined;
    for (const id of Array.isArray(others) ? others : []) {
      if (plan.inside.has(String(id)) !== plan.inside.has(node.key)) throw new CannotEdit(`${node.name} must not be decided by whoever decided ${String(id)}: both have to stay in one execution`);
    }
  }
}

/** The inputs of the child, by name. */
function inputsFor(draft: Draft, inner: readonly Reading[]): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const { root, members } of inner) if (root === 'inputs') given.set(members[0]!.name, { value: `\${{ inputs.${members[0]!.name} }}`, schema: schemaOf(draft, members[0]!.name) });
  for (const reading of inner) {
    if (reading.root === 'inputs') continue;
    const source = sourceOf(reading);
    const known = [...given].find(([, g]) => plainly(g.value) === plainly(`\${{ ${source} }}`));
    if (known) {
      if (source.includes('?.')) known[1].value = `\${{ ${source} }}`;
      continue;
    }
    given.set(freeId(nameOf(reading), new Set(given.keys())), { value: `\${{ ${source} }}`, schema: { description: plainly(source) } });
  }
  return given;
}

/** The part of a reading that the parent evaluates: up to outputs, or one member. */
function sourceOf({ root, members }: Reading): string {
  return root + members.slice(0, root === 'activities' ? 2 : 1).map((m) => `${m.optional ? '?' : ''}.${m.name}`).join('');
}

function nameOf({ root, members }: Reading): string {
  const [first, second] = members;
  if (root === 'activities') return second!.name === 'outputs' ? first!.name : idFrom(`${first!.name} ${second!.name}`);
  return root === 'vars' ? first!.name : idFrom(`${root} ${first!.name}`);
}

const plainly = (source: string) => source.replaceAll('?.', '.');

/** The schema of an input as the child has it: what may be absent in the parent may be null here. */
function schemaOf(draft: Draft, name: string): Fields {
  const schema: unknown = draft.get(['spec', 'input', 'properties', name]);
  if (!isRecord(schema)) throw new CannotEdit(`The input ${name} is not declared`);
  if (JSON.stringify(schema).includes('"$ref"')) throw new CannotEdit(`The schema of the input ${name} refers to another one: write it out first`);
  const required: unknown = draft.get(['spec', 'input', 'required']);
  if ((Array.isArray(required) && required.includes(name)) || 'default' in schema) return schema;
  if (isText(schema.type) && !('enum' in schema) && !('const' in schema)) return { ...schema, type: [schema.type, 'null'] };
  const { 'x-sensitive': sensitive, ...rest } = schema;
  return { ...(sensitive === undefined ? {} : { 'x-sensitive': sensitive }), anyOf: [rest, { type: 'null' }] };
}

/** The workflow that the activities become. */
function childText(draft: Draft, plan: Plan, name: string, given: ReadonlyMap<string, Given>, read: Sorted): string {
  const copy = new Draft(draft.text, draft.parsed);
  for (const reading of [...read.inner].reverse()) {
    if (reading.root === 'inputs') continue;
    const input = [...given].find(([, g]) => plainly(g.value) === plainly(`\${{ ${sourceOf(reading)} }}`))![0];
    rewrite(copy, reading, `inputs.${input}`);
  }
  for (const { key } of plan.entries) {
    for (const field of ['needs', 'join', 'when']) {
      const path = [...graphOf(copy).nodes.find((n) => n.key === key)!.path, field];
      if (copy.get(path) !== undefined) copy.remove(path);
    }
  }
  const items = copyText(copy, plan.chosen.map((n) => n.key)).replace(/^(?=.)/gm, '    ');
  const properties = Object.fromEntries([...given].map(([input, { schema }]) => [input, schema]));
  const spec = { ...(given.size > 0 ? { input: { type: 'object', properties } } : {}), ...shared(draft) };
  const answered = answeredOf(read.outer);
  const optional = plan.certain ? '' : '?';
  const output = answered.length > 0 ? `  output:\n${answered.map((id) => `    ${id}: activities.${id}${optional}.outputs\n`).join('')}` : '';
  const head = blockOf({ apiVersion: 'weftline/v1', kind: 'Workflow', metadata: { name } });
  const settings = Object.keys(spec).length > 0 ? `${blockOf(spec).trimEnd().replace(/^(?=.)/gm, '  ')}\n` : '';
  return `${head.trimEnd()}\nspec:\n${settings}  activities:\n${items}${output}`;
}

/** Settings of the workflow that its activities inherit. */
function shared(draft: Draft): Fields {
  const spec: unknown = draft.get(['spec']);
  const all = isRecord(spec) ? spec : {};
  const kept = Object.fromEntries(['defaults', 'retry', 'affinity', 'execution'].filter((key) => all[key] !== undefined).map((key) => [key, all[key]]));
  if (JSON.stringify(kept).includes('${{')) throw new CannotEdit('The defaults of this workflow hold expressions: write them at the activities first');
  const limits = isRecord(all.limits) ? Object.fromEntries(Object.entries(all.limits).filter(([key]) => /^(failFast|fail_fast|onFailFast|on_fail_fast)$/.test(key))) : {};
  return { ...kept, ...(Object.keys(limits).length > 0 ? { limits } : {}) };
}

const answeredOf = (outer: readonly Reading[]) => [...new Set(outer.map((r) => r.members[0]!.name))];

/** Puts one activity where the chosen ones stood. */
function replace(draft: Draft, plan: Plan, id: string, name: string, given: ReadonlyMap<string, Given>, outer: readonly Reading[]): { said: string; select: string[] } {
  for (const reading of [...outer].reverse()) {
    const optional = reading.members.slice(0, 2).some((m) => m.optional) ? '?' : '';
    rewrite(draft, reading, `activities.${id}${optional}.outputs${optional}.${reading.members[0]!.name}`);
  }
  const entry = plan.entries[0]!;
  const { needs, join, when } = fieldsOf(draft, graphOf(draft).nodes.find((n) => n.key === entry.key)!);
  const within = new Set(plan.chosen.map((n) => n.key));
  for (const { key } of plan.chosen) renameNeeds(draft, key, id, within);
  const answered = answeredOf(outer);
  const first = Math.min(...graphOf(draft).nodes.filter((n) => within.has(n.key)).map((n) => Number(n.path.at(-1))));
  draft.insert(['spec', 'activities'], first, {
    id, type: 'workflow', ...(needs === undefined ? {} : { needs }), ...(join === undefined ? {} : { join }), ...(when === undefined ? {} : { when }),
    workflow: { name },
    ...(given.size > 0 ? { inputs: Object.fromEntries([...given].map(([input, { value }]) => [input, value])) } : {}),
    ...(answered.length > 0 ? { outputs: Object.fromEntries(answered.map((key) => [key, `result.output.${key}`])) } : {}),
  });
  for (const key of within) {
    draft.remove(graphOf(draft).nodes.find((n) => n.key === key)!.path);
    if (draft.parsed.layout && draft.get(['positions', key], 'layout') !== undefined) draft.remove(['positions', key], 'layout');
  }
  return { said: `Moved ${within.size === 1 ? entry.name : `${within.size} activities`} into the workflow ${name}`, select: [id] };
}

/** What ran after an activity that moved away runs after the child. */
function renameNeeds(draft: Draft, from: string, to: string, within: ReadonlySet<string>): void {
  for (const key of new Set(graphOf(draft).edges.filter((e) => e.from === from && !within.has(e.to)).map((e) => e.to))) {
    const target = graphOf(draft).nodes.find((n) => n.key === key)!;
    const needs: unknown = draft.get([...target.path, 'needs']);
    const list: unknown[] = Array.isArray(needs) ? needs : [needs];
    const next = list.map((need) => (readNeed(need)?.from === from ? to : need));
    draft.set([...target.path, 'needs'], Array.isArray(needs) ? next : next[0]);
  }
}

/** Replaces the beginning of a reading; what was optional in it stays so. */
function rewrite(draft: Draft, reading: Reading, by: string): void {
  const depth = reading.root === 'activities' ? 2 : 1;
  const optional = reading.members.slice(0, depth).some((m) => m.optional);
  const next = reading.members[depth];
  const end = reading.members[depth - 1]!.to;
  draft.splice(reading.from, end, optional && next && !next.optional ? `${by}?` : by);
}

function fieldsOf(draft: Draft, node: GraphNode): Fields {
  const fields: unknown = draft.get(node.path);
  return isRecord(fields) ? fields : {};
}

function needsOf(draft: Draft, node: GraphNode): { from: string; port: string }[] {
  const needs = fieldsOf(draft, node).needs;
  return (Array.isArray(needs) ? (needs as unknown[]) : [needs]).flatMap((need) => readNeed(need) ?? []);
}

/** When an activity begins, to compare: its needs in any order, and how it joins them. */
function edgesText(draft: Draft, node: GraphNode): string {
  const { needs, join } = fieldsOf(draft, node);
  const list = (Array.isArray(needs) ? (needs as unknown[]) : [needs]).map((need) => JSON.stringify(need) ?? '');
  return `${list.sort().join()} ${String(join ?? 'all')}`;
}

function portKind(graph: Graph, from: string, port: string): string | undefined {
  const source = graph.nodes.find((n) => n.key === from)!;
  return source.ports.find((p) => p.name === drawnPort(source, port))?.kind;
}
