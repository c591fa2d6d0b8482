// The graph as the canvas sees it: what the YAML says, without positions.
// Pure data; knows nothing of YAML, the DOM or a server.

export type PortKind = 'good' | 'branch' | 'failure' | 'done';

/** One way an activity can end; an edge starts at a port. */
export interface Port {
  name: string;
  kind: PortKind;
}

/** A place in the document: keys and list indexes from its root. */
export type Path = readonly (string | number)[];

export interface GraphNode {
  /** Unique in the graph: the activity's id, or "<parent>/each" for the nameless body of a loop. */
  key: string;
  /** The activity's id; null for a nameless loop body. */
  id: string | null;
  type: string;
  name: string;
  /** One line that says what the activity does. */
  detail: string;
  /** Short facts shown as chips: "if", "join any", "up to 5 attempts". */
  facts: string[];
  ports: Port[];
  /** Key of the loop this activity is the body of. */
  parent: string | null;
  /** Where the activity stands in the document. */
  path: Path;
  /** UTF-16 offsets of the activity in the text: start and end of its value. */
  range: readonly [number, number];
}

export interface GraphEdge {
  /** "<from>.<port>-><to>"; two needs on ports of one activity are two edges. */
  key: string;
  from: string;
  port: string;
  to: string;
}

export type Positions = ReadonlyMap<string, readonly [number, number]>;

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** The two lists of activities beside the graph, drawn as frames of their own: what runs on failure and at every end. */
export const hookLists = ['onError', 'onExit'] as const;
export const hookType = 'hook';

/** The key of a hook's frame; no activity can be called that. */
export function hookKey(list: (typeof hookLists)[number]): string {
  return `@${list}`;
}

export const emptyGraph: Graph = { nodes: [], edges: [] };

export function edgeKey(from: string, port: string, to: string): string {
  return `${from}.${port}->${to}`;
}

const good: Port = { name: 'success', kind: 'good' };
const failure: Port = { name: 'failure', kind: 'failure' };
const done: Port = { name: 'done', kind: 'done' };

/** The port that a plain `needs: [id]` waits for. */
export const plainPort = good.name;

/** Whether an activity that ended by one port goes on by another too: by "done" always, by the plain one unless it failed. */
export function leadsOn(ended: string, port: string): boolean {
  return port === ended || port === done.name || (port === plainPort && ended !== failure.name);
}

/** Ports of an activity, the good one first; its block may be half written. */
export function portsOf(type: string, block: unknown): Port[] {
  const b = isRecord(block) ? block : {};
  switch (type) {
    case 'switch':
      return [...switchPorts(b), failure, done];
    case 'human':
      return [...humanPorts(b), failure, done];
    case 'event':
      return [good, branch('timeout'), failure, done];
    case 'end':
    case hookType:
      return [];
    case 'fail':
      return [failure, done];
    default:
      return [good, failure, done];
  }
}

function switchPorts(block: Record<string, unknown>): Port[] {
  const cases = Array.isArray(block.cases) ? block.cases : [];
  const names = cases.map((c) => (isRecord(c) ? c.name : undefined)).filter(isText);
  const fallback = isText(block.default) ? block.default : null;
  if (names.length === 1 && !fallback) {
    // One case without default is a gate: taking it fires plain edges too.
    return [{ name: names[0]!, kind: 'good' }];
  }
  return unique([...names, ...(fallback ? [fallback] : [])]).map(branch);
}

function humanPorts(block: Record<string, unknown>): Port[] {
  const outcomes = Array.isArray(block.outcomes) ? block.outcomes.filter(isText) : [];
  const names = outcomes.length > 0 ? outcomes : ['approved', 'rejected'];
  const onDue = block.onDue ?? block.on_due;
  const late = isText(onDue) ? onDue : 'expired';
  return unique([...names, late]).map((name, i): Port => ({ name, kind: i === 0 ? 'good' : 'branch' }));
}

function branch(name: string): Port {
  return { name, kind: 'branch' };
}

function unique(names: string[]): string[] {
  return [...new Set(names)];
}

/** Splits a need ("a", "a.port", {id, port}) into activity and port; null if it is neither. */
export function readNeed(need: unknown): { from: string; port: string } | null {
  if (isText(need)) {
    const dot = need.indexOf('.');
    return dot < 0
      ? { from: need, port: plainPort }
      : { from: need.slice(0, dot), port: need.slice(dot + 1) || plainPort };
  }
  if (isRecord(need) && isText(need.id)) {
    return { from: need.id, port: isText(need.port) ? need.port : plainPort };
  }
  return null;
}

/** The need that names a port of an activity, in its shortest form. */
export function writeNeed(from: string, port: string): string {
  return port === plainPort ? from : `${from}.${port}`;
}

/** The port a plain edge leaves from when it is drawn: the good one, whatever its name. */
export function drawnPort(node: GraphNode, port: string): string {
  if (node.ports.some((p) => p.name === port)) return port;
  const main = node.ports.find((p) => p.kind === 'good');
  return port === plainPort && main ? main.name : port;
}

/** The graph without what is inside of closed loops, which say how much it is. */
export function closed(graph: Graph, collapsed: ReadonlySet<string>): Graph {
  if (collapsed.size === 0) return graph;
  const hidden = new Map<string, string>(); // node → the closed loop around it
  for (const node of graph.nodes) {
    // Parents come before their bodies.
    const around = node.parent === null ? undefined : (hidden.get(node.parent) ?? (collapsed.has(node.parent) ? node.parent : undefined));
    if (around !== undefined) hidden.set(node.key, around);
  }
  const inside = (key: string) => [...hidden.values()].filter((loop) => loop === key).length;
  return {
    nodes: graph.nodes.filter((n) => !hidden.has(n.key)).map((n) => (collapsed.has(n.key) && inside(n.key) > 0 ? { ...n, facts: [...n.facts, `${inside(n.key)} inside`] } : n)),
    edges: graph.edges.filter((e) => !hidden.has(e.from) && !hidden.has(e.to)),
  };
}

/** Keys of everything that can be reached from `start` along edges, `start` included. */
export function downstream(graph: Graph, start: string): Set<string> {
  return reach(start, groupBy(graph.edges, (e) => e.from), (e) => e.to);
}

/** Keys of everything that leads to `start`, `start` included. */
export function upstream(graph: Graph, start: string): Set<string> {
  return reach(start, groupBy(graph.edges, (e) => e.to), (e) => e.from);
}

function reach(start: string, edges: Map<string, GraphEdge[]>, next: (e: GraphEdge) => string): Set<string> {
  const seen = new Set([start]);
  const queue = [start];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    for (const edge of edges.get(key) ?? []) {
      const to = next(edge);
      if (!seen.has(to)) {
        seen.add(to);
        queue.push(to);
      }
    }
  }
  return seen;
}

export function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const k = key(item);
    const group = groups.get(k);
    if (group) group.push(item);
    else groups.set(k, [item]);
  }
  return groups;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
