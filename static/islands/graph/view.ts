// GraphView draws a graph in one of four modes: edit, live overlay, diff, and still, which only shows.
// It owns the canvas element and what is attached to it; it knows no YAML, no
// server and no commands: whoever embeds it says what a gesture means.

import { describeNode } from './a11y';
import { el, setData } from './dom';
import { EdgeLayer } from './edge-view';
import { boxOf, distanceTo, middleOf } from './edge-path';
import { Gestures, type EditHooks } from './gestures';
import { around, bodyPadding, columnGap, layoutGraph, type Box, type Layout, type Point } from './layout';
import { metricsFor, nodeWidth, type NodeMetrics } from './metrics';
import { Minimap } from './minimap';
import { NoteLayer, type Note, type NoteHooks } from './notes';
import { downstream, emptyGraph, leadsOn, upstream, type Graph, type GraphNode, type Positions } from './model';
import { stateLook } from './icons';
import { NodeView, type Badge, type DiffKind, type Guest, type NodeState } from './node-view';
import { manyNodes, mostNodes, Overview, type FarLook } from './overview';
import { toolbar } from './toolbar';
import { beyond, contains, detailZoom, grow, intersects, Viewport } from './viewport';
import { readingOrder, walk, type Direction } from './walk';

export interface ViewOptions {
  mode: 'edit' | 'live' | 'diff' | 'still';
  /** Accessible name of the canvas: "Graph of order-fulfilment". */
  label: string;
  /** A small overview for large graphs; on unless false. */
  minimap?: boolean;
  /** Keys of the selected nodes, in the order they were chosen. */
  onSelect?: (keys: string[]) => void;
  /** Enter or a double click on a node. */
  onOpen?: (key: string) => void;
  /** What gestures do in edit mode. */
  edit?: EditHooks;
  /** What is done to notes in edit mode. */
  notes?: NoteHooks;
}

/** Pixels between the zoom buttons and what is around them. */
const toolsGap = 12;
const mapAfter = 150; // ms
/** Pixels of the screen within which something dropped lands on an edge. */
const dropReach = 24;
/** How much around the view is drawn ahead, in views. */
const margin = 0.3;
/** With more marks than this that would turn, all stand still. */
const mostTurning = 6;
/** Where a graph is read, its smallest words (13 px, see graph.css) have at least 11 px at first. */
const readableZoom = 0.85;
/** Where it is worked on beside its text, more of it counts for more than the size of its words. */
const workingZoom = 0.58;
/** At this size a page's graph asks for room, so that all of it can be read. */
const previewZoom = 0.85;

export class GraphView {
  graph: Graph = emptyGraph;
  layout: Layout = { boxes: new Map(), routes: new Map(), bounds: { x: 0, y: 0, w: 0, h: 0 } };
  metrics: NodeMetrics;
  readonly stage: HTMLElement;
  readonly viewport: Viewport;
  readonly edges = new EdgeLayer();
  readonly notes: NoteLayer;

  private readonly gestures: Gestures;
  private readonly overview = new Overview();
  private readonly loops = el('div', { class: 'gv-loops' });
  private readonly nodes = el('div', { class: 'gv-nodes' });
  private readonly world: HTMLElement;
  private readonly views = new Map<string, NodeView>();
  private readonly frames = new Map<string, HTMLElement>();
  private readonly minimap: Minimap | null;
  private readonly tools = toolbar(this);
  private readonly resized: ResizeObserver;
  private readonly stop = new AbortController();

  private positions: Positions = new Map();
  private byKey = new Map<string, GraphNode>();
  private states: ReadonlyMap<string, NodeState> = new Map();
  private diff: ReadonlyMap<string, DiffKind> = new Map();
  private badges: ReadonlyMap<string, Badge> = new Map();
  private lit: ReadonlyMap<string, boolean> = new Map();
  private guests: ReadonlyMap<string, readonly Guest[]> = new Map();
  /** What leads to the selected node and follows from it, while that is traced. */
  private path: ReadonlySet<string> | null = null;
  private tracing = false;
  private selected: string[] = [];
  private selectedEdge: string | null = null;
  private active: string | null = null;
  private hinted: string | null = null;
  /** World box whose nodes are attached; null when everything must be looked at again. */
  private culled: Box | null = null;
  /** Nodes to dress anew although the view has not moved. */
  private stale = new Set<string>();
  private shown = false;
  private frame = 0;
  /** Counts changes of what nodes show; dragging and panning leave it alone. */
  private version = 0;
  private mapped = -1;
  private mapping = 0;

  constructor(
    private readonly host: HTMLElement,
    readonly options: ViewOptions,
  ) {
    this.metrics = metricsFor(emptyGraph, false);
    this.world = el('div', { class: 'gv-world' }, this.loops, this.edges.element, this.nodes);
    this.stage = el('div', { class: 'gv-stage', role: 'group', 'aria-label': options.label }, this.overview.element, this.world);
    this.stage.dataset.mode = options.mode;
    host.classList.add('gv');
    this.viewport = new Viewport(this.stage, this.world, () => this.viewChanged());
    this.notes = new NoteLayer(this.viewport, options.notes);
    this.world.append(this.notes.element);
    this.minimap = options.minimap === false ? null : new Minimap(this.viewport);
    host.append(this.stage, this.tools, ...(this.minimap ? [this.minimap.element] : []));
    this.gestures = new Gestures(this, this.stop.signal);
    this.stage.addEventListener('keydown', (e) => this.onKey(e), { signal: this.stop.signal });
    this.nodes.addEventListener('focusin', (e) => this.onFocus(e), { signal: this.stop.signal });
    this.resized = new ResizeObserver(() => this.onResize());
    this.resized.observe(this.stage);
  }

  /** Draws a graph; moved nodes stand at their positions, the others where the layout puts them. */
  setGraph(graph: Graph, positions: Positions = new Map()): void {
    this.graph = graph;
    this.positions = positions;
    this.byKey = new Map(graph.nodes.map((n) => [n.key, n]));
    this.metrics = metricsFor(graph, this.options.mode === 'live');
    this.layout = layoutGraph(graph, this.metrics, positions);
    this.selected = this.selected.filter((key) => this.byKey.has(key));
    if (this.tracing) this.tracePath();
    if (this.selectedEdge && !this.layout.routes.has(this.selectedEdge)) this.selectedEdge = null;
    if (this.active === null || !this.byKey.has(this.active)) this.active = this.selected[0] ?? readingOrder(graph, this.layout)[0] ?? null;
    // Without a node there is nothing else for the keyboard to stand on.
    if (graph.nodes.length === 0) this.stage.tabIndex = 0;
    else this.stage.removeAttribute('tabindex');
    if (!this.shown && graph.nodes.length > 0) this.showFirst();
    this.redraw();
  }

  /** Marks of a running or ended execution, by activity id. */
  setStates(states: ReadonlyMap<string, NodeState>): void {
    const changed = new Set<string>();
    for (const key of new Set([...states.keys(), ...this.states.keys()])) {
      const [a, b] = [states.get(key), this.states.get(key)];
      if (a?.state !== b?.state || a?.label !== b?.label || a?.detail !== b?.detail || a?.port !== b?.port) changed.add(key);
    }
    this.states = states;
    this.stage.classList.toggle('gv-bustle', [...states.values()].filter((s) => stateLook(s.state).shape === 'arc').length > mostTurning);
    if (changed.size > 0) this.redrawOnly(changed);
  }

  /** Edges that a plan takes or does not take, by key. */
  setLit(lit: ReadonlyMap<string, boolean>): void {
    this.lit = lit;
    this.redraw();
  }

  /** Marks of a comparison, by activity id. */
  setDiff(diff: ReadonlyMap<string, DiffKind>): void {
    this.diff = diff;
    this.redraw();
  }

  /** Problems to show on nodes, by node key. */
  setBadges(badges: ReadonlyMap<string, Badge>): void {
    this.badges = badges;
    this.redraw();
  }

  /** Who else has which node selected. */
  setGuests(guests: ReadonlyMap<string, readonly Guest[]>): void {
    const changed = new Set([...guests.keys(), ...this.guests.keys()]);
    this.guests = guests;
    if (changed.size > 0) this.redrawOnly(changed);
  }

  /** Traces the path through what is selected, wherever the selection goes, or no longer. */
  trace(on: boolean): void {
    this.tracing = on;
    this.tracePath();
    this.redraw();
  }

  get traced(): ReadonlySet<string> | null {
    return this.path;
  }

  /** All before and after what is selected and the loops around it, and what is inside of other loops there. */
  private tracePath(): void {
    const path = new Set<string>();
    const around = new Set<string | null>();
    for (const key of this.tracing ? this.selected : []) {
      for (let at: string | null = key; at !== null; at = this.byKey.get(at)?.parent ?? null) {
        for (const each of [...upstream(this.graph, at), ...downstream(this.graph, at)]) path.add(each);
        around.add(at);
      }
    }
    for (const { key, parent } of this.graph.nodes) if (path.has(parent!) && !around.has(parent)) path.add(key);
    this.path = path.size > 0 ? path : null;
  }

  get selection(): readonly string[] {
    return this.selected;
  }

  get edgeSelection(): string | null {
    return this.selectedEdge;
  }

  /** Selects nodes without telling `onSelect`; null selects nothing. */
  select(keys: string | readonly string[] | null): void {
    this.selected = keys === null ? [] : typeof keys === 'string' ? [keys] : [...keys];
    this.selectedEdge = null;
    const last = this.selected.at(-1);
    if (last !== undefined && this.byKey.has(last)) this.active = last;
    if (this.tracing) this.tracePath();
    this.redraw();
  }

  /** Selects as a person does: tells `onSelect`. */
  choose(keys: readonly string[]): void {
    this.select(keys);
    this.options.onSelect?.([...this.selected]);
  }

  chooseEdge(key: string | null): void {
    this.choose([]);
    this.selectedEdge = key;
    this.redraw();
  }

  /** Brings a node into view. */
  reveal(key: string): void {
    const box = this.layout.boxes.get(key);
    if (box) this.viewport.reveal(box);
  }

  /** Puts the keyboard on a node and brings it into view. */
  focus(key: string | null = this.active): void {
    if (key === null || !this.byKey.has(key)) {
      (this.stage.querySelector<HTMLElement>('.gv-card') ?? this.stage).focus({ preventScroll: true });
      return;
    }
    this.active = key;
    this.reveal(key);
    this.draw();
    this.views.get(key)?.card.focus({ preventScroll: true });
  }

  /** Whether a pointer drags something now. */
  get busy(): boolean {
    return this.gestures.busy;
  }

  get activeKey(): string | null {
    return this.active;
  }

  fit(): void {
    this.viewport.fit(this.notes.boxes().reduce(around, this.layout.bounds));
  }

  /** Shows some nodes, as large as they fit; without any, everything. */
  fitTo(keys: readonly string[]): void {
    const boxes = keys.flatMap((key) => this.layout.boxes.get(key) ?? []);
    if (boxes.length === 0) this.fit();
    else this.viewport.fit(boxes.reduce(around));
  }

  /** Words beside the graph. */
  setNotes(notes: readonly Note[]): void {
    this.notes.set(notes);
  }

  /** The first look: all of a small graph, the beginning of a large one, at a size that can be read. */
  private showFirst(): void {
    this.shown = this.viewport.size.w > 0;
    this.host.style.setProperty('--graph-tall', `${Math.ceil(this.layout.bounds.h * previewZoom) + 96}px`);
    const all = this.notes.boxes().reduce(around, this.layout.bounds);
    const [entry] = readingOrder(this.graph, this.layout);
    this.viewport.open(all, entry === undefined ? all : this.layout.boxes.get(entry)!, this.options.mode === 'edit' ? workingZoom : readableZoom, { width: nodeWidth, gap: columnGap });
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.mapping);
    this.stop.abort();
    this.resized.disconnect();
    this.host.replaceChildren();
    this.host.classList.remove('gv');
  }

  node(key: string): GraphNode | undefined {
    return this.byKey.get(key);
  }

  /** The edge within reach of a world point, for dropping onto it; the reach is the same on the screen at any zoom. */
  edgeNear(point: Point): string | null {
    const reach = dropReach / this.viewport.zoom;
    let best: { key: string; distance: number } | null = null;
    for (const [key, points] of this.layout.routes) {
      const distance = distanceTo(points, point);
      if (distance <= reach && (!best || distance < best.distance)) best = { key, distance };
    }
    return best?.key ?? null;
  }

  /** Moves nodes on screen only, while a person drags them; loops take their bodies along. */
  nudge(keys: ReadonlySet<string>, dx: number, dy: number, start: ReadonlyMap<string, Box>): void {
    for (const key of keys) {
      const from = start.get(key);
      const box = this.layout.boxes.get(key);
      if (!from || !box) continue;
      this.layout.boxes.set(key, { ...box, x: from.x + dx, y: from.y + dy });
    }
    for (const edge of this.graph.edges) {
      if (keys.has(edge.from) || keys.has(edge.to)) this.layout.routes.set(edge.key, this.straight(edge.from, edge.port, edge.to));
    }
    this.culled = null;
    this.schedule();
  }

  /** The anchor of a port in world coordinates. */
  portPoint(key: string, port: string): Point {
    const box = this.layout.boxes.get(key)!;
    return { x: box.x + box.w, y: box.y + this.metrics.portY(this.byKey.get(key)!, port) };
  }

  private straight(from: string, port: string, to: string): Point[] {
    const target = this.layout.boxes.get(to)!;
    return [this.portPoint(from, port), { x: target.x, y: target.y + this.metrics.inY }];
  }

  /** Where a node's positions count from: the canvas, or the inside of its loop. */
  originOf(key: string): Point {
    const parent = this.byKey.get(key)?.parent ?? null;
    return parent === null ? { x: 0, y: 0 } : this.insideOf(parent);
  }

  /** Where positions inside a loop count from. */
  insideOf(loop: string): Point {
    const box = this.layout.boxes.get(loop)!;
    return { x: box.x + bodyPadding, y: box.y + this.metrics.height(this.byKey.get(loop)!) + bodyPadding };
  }

  /** Keys of the nodes that are drawn now. */
  drawnKeys(): Iterable<string> {
    return this.views.keys();
  }

  /** Lines that show what a dragged node is in line with; null shows none. */
  guides(upright: { x: number; from: number; to: number } | null, level: { y: number; from: number; to: number } | null): void {
    const lines: [Point, Point][] = [];
    if (upright) lines.push([{ x: upright.x, y: upright.from }, { x: upright.x, y: upright.to }]);
    if (level) lines.push([{ x: level.from, y: level.y }, { x: level.to, y: level.y }]);
    this.edges.drawGuides(lines);
  }

  /** Marks an edge that something is held over; null marks none. */
  hint(edge: string | null): void {
    if (edge === this.hinted) return;
    if (this.hinted) this.edges.get(this.hinted)?.classList.remove('gv-chosen');
    this.hinted = edge;
    if (edge) this.edges.get(edge)?.classList.add('gv-chosen');
  }

  /** Takes back what `nudge` moved. */
  restore(): void {
    this.setGraph(this.graph, this.positions);
  }

  /** The node under a client point; a loop's frame counts as its node. */
  nodeAt(clientX: number, clientY: number): string | null {
    const stage = this.stage.getBoundingClientRect();
    if (clientX < stage.left || clientX > stage.right || clientY < stage.top || clientY > stage.bottom) return null;
    const p = this.viewport.toWorld(clientX, clientY);
    const dot = { x: p.x, y: p.y, w: 1, h: 1 };
    const hits = this.graph.nodes.filter((n) => intersects(dot, grow(this.layout.boxes.get(n.key)!, 12, 6)));
    return hits.at(-1)?.key ?? null;
  }

  elementOf(key: string): HTMLElement | undefined {
    return this.views.get(key)?.element;
  }

  /** Adds an element in world coordinates above the nodes. */
  overlay(element: HTMLElement): void {
    this.nodes.append(element);
  }

  private redraw(): void {
    this.version++;
    this.culled = null;
    this.schedule();
  }

  /** Only these nodes and the edges at them show something else than before. */
  private redrawOnly(keys: ReadonlySet<string>): void {
    this.version++;
    for (const [key, view] of this.views) {
      if (!keys.has(key) && view.version === this.version - 1) view.version = this.version;
    }
    for (const key of keys) this.stale.add(key);
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private viewChanged(): void {
    this.stage.classList.toggle('gv-far', this.viewport.zoom < detailZoom);
    this.minimap?.moved();
    this.schedule();
  }

  private onResize(): void {
    this.viewport.measure();
    this.viewport.foot = this.tools.offsetHeight === 0 ? 0 : this.tools.offsetHeight + 2 * toolsGap;
    if (this.graph.nodes.length > 0 && (!this.shown || this.viewport.fitted)) this.showFirst();
    this.redraw();
  }

  /** Attaches what is near the view. Nothing is done while the view stays within what is attached. */
  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const seen = this.viewport.seen;
    setData(this.stage, 'beyond', beyond(seen, this.layout.bounds) || undefined);
    if (this.isFar(seen)) return this.drawFar();
    if (!this.overview.element.hidden) this.culled = null;
    this.overview.show(false);
    if (this.culled && contains(this.culled, seen)) return this.dressStale();
    this.stale = new Set();
    const near = this.nearBy(seen);
    const all = this.graph.nodes.length <= manyNodes && contains(near, grow(this.layout.bounds, -this.layout.bounds.w * 0.2, -this.layout.bounds.h * 0.2));
    this.culled = all ? grow(near, 1e6, 1e6) : near;
    this.drawNodes(near, all);
    this.drawFrames();
    this.drawEdges(near, all);
    this.drawMap();
    this.drawEdgeTools();
  }

  /** The view stands, but some nodes show something else. */
  private dressStale(): void {
    if (this.stale.size === 0) return;
    const { stale } = this;
    this.stale = new Set();
    for (const key of stale) {
      const view = this.views.get(key);
      const node = this.byKey.get(key);
      if (!view || !node) continue;
      view.version = this.version;
      view.update(node, this.metrics, this.dress(node));
    }
    for (const edge of this.graph.edges) {
      const group = stale.has(edge.from) || stale.has(edge.to) ? this.edges.get(edge.key) : undefined;
      if (group) this.dressEdge(group, edge.key, edge.from, edge.to, this.portKind(edge.from, edge.port));
    }
    this.drawMap();
  }

  private drawMap(): void {
    if (this.mapped === this.version) return;
    this.mapped = this.version;
    // The overview may come a moment later than what it is about.
    clearTimeout(this.mapping);
    this.mapping = window.setTimeout(() => this.minimap?.draw(this.graph, this.layout, this.states), mapAfter);
  }

  /** What is seen and some of what is around it, but not more nodes than elements are good for. */
  private nearBy(seen: Box): Box {
    const shares = [margin, margin / 3, 0];
    return shares.map((share) => grow(seen, seen.w * share, seen.h * share)).find((box) => !this.holdsMore(box, mostNodes)) ?? seen;
  }

  private holdsMore(area: Box, limit: number): boolean {
    if (this.graph.nodes.length <= limit) return false;
    let count = 0;
    for (const box of this.layout.boxes.values()) if (intersects(area, box) && ++count > limit) return true;
    return false;
  }

  /** So much in sight that elements would be too many; from far away, where words cannot be read, sooner. */
  private isFar(seen: Box): boolean {
    return this.holdsMore(seen, this.viewport.zoom < detailZoom ? manyNodes : mostNodes);
  }

  get far(): boolean {
    return !this.overview.element.hidden;
  }

  /** One drawing for all; only the node with the keyboard stays an element. */
  private drawFar(): void {
    const stands = this.active === null || this.views.has(this.active);
    if (this.overview.element.hidden || this.mapped !== this.version || !stands) {
      this.drawNodes({ x: 0, y: 0, w: -1e9, h: 0 }, false);
      this.drawEdges({ x: 0, y: 0, w: -1e9, h: 0 }, false);
      this.drawFrames(true);
      this.drawEdgeTools();
      this.drawMap();
    }
    this.overview.show(true);
    this.culled = null;
    this.stale = new Set();
    const chosen = new Set(this.selected);
    this.overview.draw(this.graph, this.layout, this.viewport, (key) => this.farLook(key, chosen), (key, from, to) => this.farEdge(key, from, to, chosen));
  }

  private farLook(key: string, chosen: ReadonlySet<string>): FarLook {
    const state = this.states.get(key);
    const diff = this.diff.get(key);
    const badge = this.badges.get(key);
    const tone = diff ? `--${diff}` : state && stateLook(state.state).tone !== 'idle' ? `--state-${stateLook(state.state).tone}` : badge?.severity === 'error' ? '--state-failed' : '--line-strong';
    return { tone, selected: chosen.has(key) };
  }

  private farEdge(key: string, from: string, to: string, chosen: ReadonlySet<string>): string {
    const diff = this.diff.get(key);
    if (diff) return `--${diff}`;
    if (key === this.selectedEdge || chosen.has(from) || chosen.has(to)) return '--accent';
    return this.flow(key, from, to) === 'passed' ? '--ink-2' : '--line-strong';
  }

  private drawNodes(near: Box, all: boolean): void {
    const keep = new Set<string>();
    for (const node of this.graph.nodes) {
      const box = this.layout.boxes.get(node.key)!;
      if (!all && node.key !== this.active && !intersects(near, box)) continue;
      keep.add(node.key);
      const view = this.views.get(node.key) ?? this.attach(node.key);
      view.moveTo(box);
      if (view.version === this.version) continue;
      view.version = this.version;
      view.update(node, this.metrics, this.dress(node));
    }
    for (const [key, view] of this.views) {
      if (keep.has(key)) continue;
      view.element.remove();
      this.views.delete(key);
    }
  }

  private attach(key: string): NodeView {
    const view = new NodeView(key, this.options.mode === 'edit' && this.options.edit !== undefined);
    this.views.set(key, view);
    this.nodes.append(view.element);
    return view;
  }

  private dress(node: GraphNode) {
    const state = this.states.get(node.key);
    const diff = this.diff.get(node.key);
    const badge = this.badges.get(node.key);
    const guests = this.guests.get(node.key);
    return {
      state, diff, badge, guests,
      onPath: this.path === null ? undefined : this.path.has(node.key),
      selected: this.selected.includes(node.key),
      active: this.active === node.key,
      label: describeNode(this.graph, node, { state, diff, badge, guests }),
    };
  }

  /** The frame of a loop lies under the edges, its card above them. */
  private drawFrames(none = false): void {
    const parents = new Set(none ? [] : this.graph.nodes.map((n) => n.parent));
    for (const node of this.graph.nodes) {
      if (!parents.has(node.key)) continue;
      const frame = this.frames.get(node.key) ?? this.loops.appendChild(el('div', { class: 'gv-loop' }));
      this.frames.set(node.key, frame);
      const box = this.layout.boxes.get(node.key)!;
      frame.style.transform = `translate(${box.x}px, ${box.y}px)`;
      frame.style.width = `${box.w}px`;
      frame.style.height = `${box.h}px`;
    }
    for (const [key, frame] of this.frames) {
      if (parents.has(key)) continue;
      frame.remove();
      this.frames.delete(key);
    }
  }

  private drawEdges(near: Box, all: boolean): void {
    const keep = new Set<string>();
    for (const edge of this.graph.edges) {
      const points = this.layout.routes.get(edge.key);
      if (!points || (!all && !intersects(near, boxOf(points)))) continue;
      keep.add(edge.key);
      this.dressEdge(this.edges.draw(edge.key, points), edge.key, edge.from, edge.to, this.portKind(edge.from, edge.port));
    }
    for (const key of [...this.edges.keys]) if (!keep.has(key)) this.edges.remove(key);
  }

  private dressEdge(group: SVGGElement, key: string, from: string, to: string, kind: string): void {
    const near = this.selected.includes(from) || this.selected.includes(to);
    const looks = `gv-edge gv-${kind}${key === this.selectedEdge ? ' gv-chosen' : near ? ' gv-near' : ''}`;
    if (group.getAttribute('class') !== looks) group.setAttribute('class', looks);
    setData(group, 'flow', this.flow(key, from, to) ?? undefined);
    setData(group, 'diff', this.diff.get(key));
    setData(group, 'path', this.path === null ? undefined : this.path.has(from) && this.path.has(to) ? 'on' : 'off');
  }

  private portKind(key: string, port: string): string {
    return this.byKey.get(key)?.ports.find((p) => p.name === port)?.kind ?? 'good';
  }

  /** In an execution an edge was passed once its source ended by its port and its target left "pending" for anything but a skip. */
  private flow(key: string, from: string, to: string): string | null {
    const lit = this.lit.get(key);
    if (lit !== undefined) return lit ? 'passed' : 'dead';
    if (this.options.mode !== 'live') return null;
    const target = this.states.get(to)?.state ?? 'pending';
    const source = this.states.get(from)?.state ?? 'pending';
    if (target === 'skipped' || source === 'skipped') return 'dead';
    const ended = this.states.get(from)?.port;
    if (ended !== undefined && !leadsOn(ended, key.slice(from.length + 1, -to.length - 2))) return 'dead';
    return target === 'pending' ? 'ahead' : 'passed';
  }

  private drawEdgeTools(): void {
    this.nodes.querySelector('.gv-edge-tools')?.remove();
    const edit = this.options.edit;
    const key = this.selectedEdge;
    const points = key ? this.layout.routes.get(key) : undefined;
    if (!edit || !key || !points) return;
    const at = middleOf(points);
    const tools = el('div', { class: 'gv-edge-tools' },
      el('button', { type: 'button', 'aria-label': 'Insert an activity here', title: 'Insert an activity here', onclick: () => edit.insert(key, this.viewport.toClient(at)) }, '+'),
      el('button', { type: 'button', 'aria-label': 'Remove this edge', title: 'Remove this edge', onclick: () => edit.disconnect(key) }, '×'));
    tools.style.transform = `translate(${at.x}px, ${at.y}px)`;
    this.nodes.append(tools);
  }

  private onFocus(event: FocusEvent): void {
    const key = (event.target as Element).closest<HTMLElement>('.gv-node')?.dataset.key;
    if (key === undefined || key === this.active) return;
    this.active = key;
    this.redraw();
  }

  private onKey(event: KeyboardEvent): void {
    const direction = arrows[event.key];
    const onCard = event.target instanceof Element && event.target.classList.contains('gv-card');
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !onCard) return;
    if (direction) {
      const next = walk(this.graph, this.layout, this.active, direction);
      if (next === null) return;
      event.preventDefault();
      this.choose(event.shiftKey ? [...this.selected.filter((k) => k !== next), next] : [next]);
      this.focus(next);
    } else if (event.key === 'Enter' && this.active !== null) {
      event.preventDefault();
      this.choose([this.active]);
      this.options.onOpen?.(this.active);
    } else if (event.key === '+' || event.key === '=') this.viewport.zoomBy(1.25);
    else if (event.key === '-') this.viewport.zoomBy(0.8);
    else if (event.key === '1') this.fit();
  }
}

const arrows: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
};
