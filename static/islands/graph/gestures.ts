// Pointer gestures on the canvas: one at a time, and Escape, a lost pointer or a
// second finger always ends it without a trace. What a gesture means is decided
// by the hooks; this file only knows where things are.

import { el } from './dom';
import { intersects } from './viewport';
import type { Box, Point } from './layout';
import type { GraphView } from './view';

/** What gestures ask for in edit mode; points are in client coordinates. */
export interface EditHooks {
  /** Why an edge from this activity to another is refused, by target key. */
  refusals(from: string): ReadonlyMap<string, string>;
  connect(from: string, port: string, to: string): void;
  /** A new edge was dropped on empty canvas. */
  dropConnect(from: string, port: string, at: Point): void;
  /** A port was pressed without dragging. */
  quickAdd(from: string, port: string, at: Point): void;
  insert(edge: string, at: Point): void;
  disconnect(edge: string): void;
  /** New places by key, on the grid; of a loop body: within its loop. */
  move(places: Map<string, readonly [number, number]>): void;
  /** What can be done with a node, or with the canvas: long press, right click. */
  menu(key: string | null, at: Point): void;
  /** Shows and says why something cannot be done; null takes the words away. */
  explain(reason: string | null, at: Point): void;
}

interface Gesture {
  move(event: PointerEvent): void;
  end(event: PointerEvent): void;
  cancel(): void;
}

/** Milliseconds a finger rests before it asks for the menu. */
const longPress = 550;
/** Pixels a pointer may move and still be a click. */
const slop = 4;
const grid = 10;
/** World pixels within which a dragged node falls in line with another. */
const reach = 7;

export class Gestures {
  private gesture: Gesture | null = null;
  private readonly pointers = new Map<number, Point>();
  private rest = 0;
  /** A port that was tapped: the next tap says where its edge goes. */
  private tapped: Connect | null = null;

  constructor(
    private readonly view: GraphView,
    signal: AbortSignal,
  ) {
    const stage = view.stage;
    stage.addEventListener('pointerdown', (e) => this.down(e), { signal });
    stage.addEventListener('pointermove', (e) => this.moved(e), { signal });
    stage.addEventListener('pointerup', (e) => this.up(e), { signal });
    stage.addEventListener('pointercancel', () => this.cancel(), { signal });
    stage.addEventListener('wheel', (e) => this.wheel(e), { signal, passive: false });
    stage.addEventListener('click', (e) => this.keyboardClick(e), { signal });
    stage.addEventListener('contextmenu', (e) => this.contextMenu(e), { signal });
    stage.addEventListener('dblclick', (e) => this.doubleClick(e), { signal });
    window.addEventListener('blur', () => this.cancel(), { signal });
    window.addEventListener('keydown', (e) => e.key === 'Escape' && (this.gesture ?? this.tapped) && (e.preventDefault(), this.cancel()), { signal, capture: true });
  }

  /** Whether something is dragged now. */
  get busy(): boolean {
    return this.gesture !== null;
  }

  private down(event: PointerEvent): void {
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.pointers.size > 1) return this.pinch();
    const target = event.target as Element;
    if (this.gesture || target.closest('.gv-edge-tools')) return;
    if (this.tapped) {
      this.gesture = this.tapped;
      this.tapped = null;
      return;
    }
    this.gesture = this.begin(event, target);
    if (event.pointerType === 'touch') this.waitForLongPress(event, target);
  }

  private begin(event: PointerEvent, target: Element): Gesture | null {
    if (event.button === 1) return (event.preventDefault(), new Pan(this.view, event));
    if (event.button !== 0) return null;
    // Seen from far away nodes are a drawing, not elements.
    const key = target.closest<HTMLElement>('.gv-node')?.dataset.key ?? (this.view.far ? (this.view.nodeAt(event.clientX, event.clientY) ?? undefined) : undefined);
    const port = target.closest<HTMLElement>('.gv-port')?.dataset.port;
    const edge = target.closest<SVGGElement>('.gv-edge')?.dataset.edge;
    const edit = this.view.options.edit;
    if (edit && key !== undefined && port !== undefined) return new Connect(this.view, edit, key, port, event);
    if (key !== undefined) return edit ? new Move(this.view, edit, key, event) : new Press(this.view, key, event);
    if (edit && edge !== undefined) return new Tap(event, () => this.view.chooseEdge(edge));
    if (edit && event.shiftKey) return new Marquee(this.view, event);
    return new Pan(this.view, event);
  }

  private waitForLongPress(event: PointerEvent, target: Element): void {
    const key = target.closest<HTMLElement>('.gv-node')?.dataset.key ?? null;
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      this.cancel();
      this.view.options.edit?.menu(key, { x: event.clientX, y: event.clientY });
    }, longPress);
  }

  private contextMenu(event: MouseEvent): void {
    const edit = this.view.options.edit;
    if (!edit) return;
    event.preventDefault();
    const key = (event.target as Element).closest<HTMLElement>('.gv-node')?.dataset.key ?? null;
    if (event.detail !== 0 || event.button === 2) edit.menu(key, { x: event.clientX, y: event.clientY });
  }

  private moved(event: PointerEvent): void {
    const start = this.pointers.get(event.pointerId);
    if (start && Math.hypot(event.clientX - start.x, event.clientY - start.y) > slop) clearTimeout(this.rest);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.gesture?.move(event);
  }

  private up(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    clearTimeout(this.rest);
    const gesture = this.gesture;
    this.gesture = null;
    // A finger cannot hover: it taps a port, and then what the edge leads to.
    if (gesture instanceof Connect && event.pointerType === 'touch' && gesture.arm()) this.tapped = gesture;
    else gesture?.end(event);
  }

  private cancel(): void {
    this.pointers.clear();
    clearTimeout(this.rest);
    this.gesture?.cancel();
    this.tapped?.cancel();
    this.gesture = this.tapped = null;
  }

  private pinch(): void {
    clearTimeout(this.rest);
    this.tapped?.cancel();
    this.tapped = null;
    this.gesture?.cancel();
    this.gesture = new Pinch(this.view, this.pointers);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
    if (event.ctrlKey || event.metaKey) {
      this.view.viewport.zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY * unit * 0.004));
    } else if (event.shiftKey && event.deltaX === 0) this.view.viewport.panBy(-event.deltaY * unit, 0);
    else this.view.viewport.panBy(-event.deltaX * unit, -event.deltaY * unit);
  }

  /** Enter, Space or assistive technology on a port: a click without a pointer. */
  private keyboardClick(event: MouseEvent): void {
    const port = (event.target as Element).closest<HTMLElement>('.gv-port');
    const key = port?.closest<HTMLElement>('.gv-node')?.dataset.key;
    if (event.detail !== 0 || !port || key === undefined) return;
    this.view.options.edit?.quickAdd(key, port.dataset.port!, cornerOf(port));
  }

  private doubleClick(event: MouseEvent): void {
    const target = event.target as Element;
    const key = target.closest<HTMLElement>('.gv-node')?.dataset.key;
    const there = key ?? (this.view.far ? this.view.nodeAt(event.clientX, event.clientY) : null);
    if (there && !target.closest('.gv-port')) this.view.options.onOpen?.(there);
  }
}

function cornerOf(element: Element): Point {
  const rect = element.getBoundingClientRect();
  return { x: rect.right, y: rect.bottom };
}

/** The distance from where a pointer went down; true once it is a drag. */
class Travel {
  private readonly start: Point;
  dragging = false;

  constructor(event: PointerEvent) {
    this.start = { x: event.clientX, y: event.clientY };
  }

  to(event: PointerEvent): { dx: number; dy: number } {
    const [dx, dy] = [event.clientX - this.start.x, event.clientY - this.start.y];
    if (Math.hypot(dx, dy) > slop) this.dragging = true;
    return { dx, dy };
  }
}

/** Keeps the pointer's events coming while it is outside the canvas. */
function hold(view: GraphView, event: PointerEvent): void {
  if (!view.stage.hasPointerCapture(event.pointerId)) view.stage.setPointerCapture(event.pointerId);
}

class Tap implements Gesture {
  private readonly travel: Travel;
  constructor(event: PointerEvent, private readonly act: () => void) {
    this.travel = new Travel(event);
  }
  move(event: PointerEvent): void {
    this.travel.to(event);
  }
  end(): void {
    if (!this.travel.dragging) this.act();
  }
  cancel(): void {}
}

class Pan implements Gesture {
  private last: Point;
  private readonly travel: Travel;

  constructor(private readonly view: GraphView, event: PointerEvent) {
    this.last = { x: event.clientX, y: event.clientY };
    this.travel = new Travel(event);
  }

  move(event: PointerEvent): void {
    this.travel.to(event);
    if (!this.travel.dragging) return;
    hold(this.view, event);
    this.view.stage.classList.add('gv-panning');
    this.view.viewport.panBy(event.clientX - this.last.x, event.clientY - this.last.y);
    this.last = { x: event.clientX, y: event.clientY };
  }

  end(event: PointerEvent): void {
    this.cancel();
    if (!this.travel.dragging && event.button === 0) this.view.choose([]);
  }

  cancel(): void {
    this.view.stage.classList.remove('gv-panning');
  }
}

class Pinch implements Gesture {
  private distance = 0;
  private centre: Point = { x: 0, y: 0 };

  constructor(private readonly view: GraphView, private readonly pointers: ReadonlyMap<number, Point>) {
    this.measure();
  }

  move(): void {
    const before = { distance: this.distance, centre: this.centre };
    if (!this.measure()) return;
    this.view.viewport.panBy(this.centre.x - before.centre.x, this.centre.y - before.centre.y);
    this.view.viewport.zoomAt(this.centre.x, this.centre.y, this.distance / (before.distance || this.distance));
  }

  private measure(): boolean {
    const [a, b] = [...this.pointers.values()];
    if (!a || !b) return false;
    this.distance = Math.hypot(a.x - b.x, a.y - b.y) || 1;
    this.centre = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    return true;
  }

  end(): void {}
  cancel(): void {}
}

/** A press on a node where nothing can be edited: it selects, and dragging it pans. */
class Press extends Pan {
  constructor(private readonly graphView: GraphView, private readonly key: string, private readonly begun: PointerEvent) {
    super(graphView, begun);
  }

  override end(event: PointerEvent): void {
    this.cancel();
    const moved = Math.hypot(event.clientX - this.begun.clientX, event.clientY - this.begun.clientY) > slop;
    if (!moved) this.graphView.choose([this.key]);
  }
}

class Move implements Gesture {
  private readonly travel: Travel;
  private start: Map<string, Box> | null = null;
  private roots: string[] = [];
  private moving = new Set<string>();

  constructor(
    private readonly view: GraphView,
    private readonly edit: EditHooks,
    private readonly key: string,
    event: PointerEvent,
  ) {
    this.travel = new Travel(event);
  }

  move(event: PointerEvent): void {
    const { dx, dy } = this.travel.to(event);
    if (!this.travel.dragging) return;
    hold(this.view, event);
    if (!this.start) this.grab();
    const zoom = this.view.viewport.zoom;
    const by = this.alongOthers(snap(dx / zoom), snap(dy / zoom));
    this.view.nudge(this.moving, by.x, by.y, this.start!);
  }

  /** Nearly in line with another node: exactly in line, with a guide that says so. */
  private alongOthers(dx: number, dy: number): Point {
    const from = this.start!.get(this.key)!;
    const at = { x: from.x + dx, y: from.y + dy };
    const near = { x: reach, y: reach };
    const best: { x: Box | null; y: Box | null } = { x: null, y: null };
    for (const key of this.view.drawnKeys()) {
      const other = this.moving.has(key) ? undefined : this.start!.get(key);
      if (!other) continue;
      for (const axis of ['x', 'y'] as const) {
        const distance = Math.abs(other[axis] - at[axis]);
        if (distance < near[axis]) [near[axis], best[axis]] = [distance, other];
      }
    }
    this.view.guides(best.x && { x: best.x.x, from: Math.min(best.x.y, at.y), to: Math.max(best.x.y + best.x.h, at.y + from.h) },
      best.y && { y: best.y.y + this.view.metrics.inY, from: Math.min(best.y.x, at.x), to: Math.max(best.y.x + best.y.w, at.x + from.w) });
    return { x: best.x ? best.x.x - from.x : dx, y: best.y ? best.y.y - from.y : dy };
  }

  private grab(): void {
    if (!this.view.selection.includes(this.key)) this.view.choose([this.key]);
    this.start = new Map(this.view.layout.boxes);
    const chosen = new Set(this.view.selection);
    this.roots = [...chosen].filter((key) => !chosen.has(this.view.node(key)?.parent ?? ''));
    this.moving = withBodies(this.view, this.roots);
    this.view.stage.classList.add('gv-moving');
  }

  end(event: PointerEvent): void {
    this.view.stage.classList.remove('gv-moving');
    this.view.guides(null, null);
    if (!this.start) return this.click(event);
    const places = new Map<string, readonly [number, number]>();
    for (const key of this.roots) {
      const box = this.view.layout.boxes.get(key)!;
      const origin = this.view.originOf(key);
      places.set(key, [snap(box.x - origin.x), snap(box.y - origin.y)]);
    }
    this.edit.move(places);
  }

  private click(event: PointerEvent): void {
    const chosen = this.view.selection;
    if (!event.shiftKey && !event.ctrlKey && !event.metaKey) return this.view.choose([this.key]);
    this.view.choose(chosen.includes(this.key) ? chosen.filter((k) => k !== this.key) : [...chosen, this.key]);
  }

  cancel(): void {
    this.view.stage.classList.remove('gv-moving');
    this.view.guides(null, null);
    if (this.start) this.view.restore();
  }
}

function withBodies(view: GraphView, roots: readonly string[]): Set<string> {
  const all = new Set(roots);
  // Parents come before their bodies in the graph.
  for (const node of view.graph.nodes) if (node.parent !== null && all.has(node.parent)) all.add(node.key);
  return all;
}

function snap(value: number): number {
  return Math.round(value / grid) * grid;
}

class Connect implements Gesture {
  private readonly travel: Travel;
  private refusals: ReadonlyMap<string, string> | null = null;
  private over: string | null = null;
  private armed = false;

  constructor(
    private readonly view: GraphView,
    private readonly edit: EditHooks,
    private readonly from: string,
    private readonly port: string,
    event: PointerEvent,
  ) {
    this.travel = new Travel(event);
  }

  move(event: PointerEvent): void {
    this.travel.to(event);
    if (!this.travel.dragging) return;
    hold(this.view, event);
    if (!this.refusals) this.start();
    const pointer = this.view.viewport.toWorld(event.clientX, event.clientY);
    this.view.edges.drawPreview([this.view.portPoint(this.from, this.port), pointer]);
    this.hover(event);
  }

  /** After a tap: waits for the next one, which ends it; false when it was dragged, or is armed already. */
  arm(): boolean {
    if (this.travel.dragging || this.armed) return false;
    this.armed = true;
    this.start();
    this.edit.explain('Tap what comes next, or the free canvas to add something', this.view.viewport.toClient(this.view.portPoint(this.from, this.port)));
    return true;
  }

  private start(): void {
    this.refusals = this.edit.refusals(this.from);
    this.view.stage.classList.add('gv-connecting');
    for (const key of this.refusals.keys()) this.mark(key, 'gv-refused', true);
  }

  private hover(event: PointerEvent): void {
    const over = this.view.nodeAt(event.clientX, event.clientY);
    if (over === this.over) return;
    this.mark(this.over, 'gv-target', false);
    this.over = over;
    const reason = over === null ? null : (this.refusals?.get(over) ?? null);
    if (over !== null && !reason) this.mark(over, 'gv-target', true);
    this.edit.explain(reason, { x: event.clientX, y: event.clientY });
  }

  private mark(key: string | null, name: string, on: boolean): void {
    if (key !== null) this.view.elementOf(key)?.classList.toggle(name, on);
  }

  end(event: PointerEvent): void {
    const { refusals, armed } = this;
    const over = armed ? this.view.nodeAt(event.clientX, event.clientY) : this.over;
    const at = { x: event.clientX, y: event.clientY };
    this.cancel();
    if (!this.travel.dragging && !armed) return this.edit.quickAdd(this.from, this.port, at);
    if (over === null) return this.edit.dropConnect(this.from, this.port, at);
    const reason = refusals?.get(over);
    if (reason) this.edit.explain(reason, at);
    else this.edit.connect(this.from, this.port, over);
  }

  cancel(): void {
    this.view.edges.drawPreview(null);
    this.view.stage.classList.remove('gv-connecting');
    this.mark(this.over, 'gv-target', false);
    for (const key of this.refusals?.keys() ?? []) this.mark(key, 'gv-refused', false);
    this.edit.explain(null, { x: 0, y: 0 });
  }
}

class Marquee implements Gesture {
  private readonly frame = el('div', { class: 'gv-marquee' });
  private readonly start: Point;

  constructor(private readonly view: GraphView, event: PointerEvent) {
    this.start = view.viewport.toWorld(event.clientX, event.clientY);
    view.overlay(this.frame);
  }

  private box(event: PointerEvent): Box {
    const at = this.view.viewport.toWorld(event.clientX, event.clientY);
    return {
      x: Math.min(at.x, this.start.x),
      y: Math.min(at.y, this.start.y),
      w: Math.abs(at.x - this.start.x),
      h: Math.abs(at.y - this.start.y),
    };
  }

  move(event: PointerEvent): void {
    hold(this.view, event);
    const box = this.box(event);
    this.frame.style.transform = `translate(${box.x}px, ${box.y}px)`;
    this.frame.style.width = `${box.w}px`;
    this.frame.style.height = `${box.h}px`;
  }

  end(event: PointerEvent): void {
    const box = this.box(event);
    this.cancel();
    this.view.choose(this.view.graph.nodes.map((n) => n.key).filter((key) => intersects(box, this.view.layout.boxes.get(key)!)));
  }

  cancel(): void {
    this.frame.remove();
  }
}
