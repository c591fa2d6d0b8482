// What pointer gestures and keys on the canvas lead to: pickers and commands.

import { typeTitle } from '../graph/describe';
import { el } from '../graph/dom';
import type { EditHooks } from '../graph/gestures';
import { typeIcon } from '../graph/icons';
import type { Point } from '../graph/layout';
import { hookKey, hookType, type GraphNode, type hookLists } from '../graph/model';
import { noteWidth, type NoteHooks } from '../graph/notes';
import type { GraphView } from '../graph/view';
import { addActivity, addNote, connect, disconnect, insertOnEdge, move, moveNote, refusals, removeNote, writeNote, type Place } from './commands';
import { otherWords } from './palette';
import { closePicker, openPicker, type Choice } from './picker';
import type { Session } from './session';
import { paletteTypes } from './skeletons';

export class Authoring implements EditHooks {
  view: GraphView | null = null;
  /** Who shows the menu of an activity, or of the canvas. */
  onMenu: (key: string | null, at: Point) => void = () => undefined;
  private readonly bubble = el('div', { class: 'ds-explain', 'aria-hidden': 'true', hidden: true });
  private readonly stop = new AbortController();
  private spoken: string | null = null;
  readonly notes: NoteHooks = {
    write: (index, text) => void this.session.run(writeNote(index, text)),
    move: (index, at) => void this.session.run(moveNote(index, at), 'command', `note:${index}`),
    remove: (index) => {
      if (this.session.run(removeNote(index)) && this.session.notes.length === 0) this.back();
    },
  };

  constructor(private readonly session: Session) {
    document.body.append(this.bubble);
    // What was refused is over with whatever is done next, wherever.
    for (const next of ['pointerdown', 'keydown', 'wheel']) window.addEventListener(next, () => this.hush(), { signal: this.stop.signal, capture: true, passive: true });
  }

  menu(key: string | null, at: Point): void {
    this.onMenu(key, at);
  }

  refusals(from: string): ReadonlyMap<string, string> {
    return refusals(this.session.graph, from);
  }

  connect(from: string, port: string, to: string): void {
    this.session.run(connect(from, port, to));
  }

  disconnect(edge: string): void {
    this.session.run(disconnect(edge));
    this.back();
  }

  move(places: Map<string, readonly [number, number]>): void {
    if (!this.session.run(move(places))) this.view?.restore();
  }

  /** A port's plus: what to add after it, or an existing activity to connect to. */
  quickAdd(from: string, port: string, at: Point): void {
    this.pickAfter({ from, port }, at);
  }

  dropConnect(from: string, port: string, at: Point): void {
    const world = this.view!.viewport.toWorld(at.x, at.y);
    const origin = this.view!.originOf(from);
    this.pickAfter({ from, port }, at, [world.x - origin.x, world.y - origin.y - 30]);
  }

  insert(edge: string, at: Point | undefined): void {
    this.pick('Insert an activity', at, this.types((type) => this.session.run(insertOnEdge(edge, type))));
  }

  explain(reason: string | null, at: Point): void {
    this.bubble.hidden = reason === null;
    this.bubble.textContent = reason ?? '';
    this.bubble.style.transform = `translate(${at.x + 14}px, ${at.y + 14}px)`;
    if (reason !== null && reason !== this.spoken) this.session.say(reason);
    this.spoken = reason;
  }

  private hush(): void {
    this.bubble.hidden = true;
    this.spoken = null;
  }

  /** A: append to the active activity at its first free port, or add the first one. */
  append(key: string | null): void {
    const node = key === null ? undefined : this.session.node(key);
    const list = node?.type === hookType ? node.key : null;
    if (!node || node.id === null) return this.pick('Add an activity', this.besides(key), this.types((type) => this.session.run(addActivity(type, null, undefined, list))));
    const port = freePort(this.session, node);
    if (port === null) return void this.session.refuse(`${node.name} ends here: nothing can come after it`);
    this.pickAfter({ from: node.key, port }, this.besides(key));
  }

  /** Shift+A: choose the port first. */
  appendAt(node: GraphNode): void {
    const choices = node.ports.map((port): Choice => ({
      label: port.name,
      detail: this.session.graph.edges.some((e) => e.from === node.key && e.port === port.name) ? 'in use' : '',
      act: () => this.pickAfter({ from: node.key, port: port.name }, this.besides(node.key)),
    }));
    this.pick(`Add after ${node.name}, on …`, this.besides(node.key), choices);
  }

  /** N: an activity that is not connected yet. */
  addLoose(): void {
    this.pick('Add an activity that starts at once', undefined, this.types((type) => this.session.run(addActivity(type, null))));
  }

  /** Adds to one of the lists beside the graph, making it if there is none. */
  addHook(list: (typeof hookLists)[number]): void {
    this.pick(list === 'onError' ? 'Add what runs when it fails' : 'Add what runs at every end', undefined, this.types((type) => this.session.run(addActivity(type, null, undefined, hookKey(list)))));
  }

  /** I: an activity before this one, on its edge. */
  insertBefore(node: GraphNode): void {
    const edges = this.session.graph.edges.filter((e) => e.to === node.key);
    if (edges.length === 0) return void this.session.refuse(`${node.name} starts at once: there is no edge to insert on`);
    if (edges.length === 1) return this.insert(edges[0]!.key, this.besides(node.key));
    this.pick(`Insert before ${node.name}, coming from …`, this.besides(node.key), edges.map((e) => ({
      label: this.session.node(e.from)?.name ?? e.from, detail: e.port, act: () => this.insert(e.key, this.besides(node.key)),
    })));
  }

  /** C: connect by typing a name. */
  connectFrom(node: GraphNode): void {
    const port = freePort(this.session, node) ?? node.ports[0]?.name;
    if (port === undefined) return void this.session.refuse(`${node.name} ends here: nothing can come after it`);
    this.pick(`Connect ${node.name}, on ${port}, to …`, this.besides(node.key), this.targets({ from: node.key, port }, true));
  }

  /** X: take one of the edges away. */
  disconnectAt(node: GraphNode): void {
    const edges = this.session.graph.edges.filter((e) => e.to === node.key || e.from === node.key);
    if (edges.length === 0) return void this.session.refuse(`${node.name} has no edges`);
    const name = (key: string) => this.session.node(key)?.name ?? key;
    this.pick(`Remove an edge of ${node.name}`, this.besides(node.key), edges.map((e) => ({
      label: `${name(e.from)} → ${name(e.to)}`, detail: e.port, act: () => this.disconnect(e.key),
    })));
  }

  find(): void {
    openPicker({
      title: 'Find an activity or a note', placeholder: 'Type to search', closed: () => this.back(),
      choices: [...this.session.graph.nodes.map((n): Choice => ({
        label: n.name, also: `${n.id ?? ''} ${n.type} ${n.detail}`, detail: typeTitle(n.type), icon: typeIcon(n.type),
        act: () => {
          this.session.select([n.key]);
          this.view?.focus(n.key);
        },
      })), ...this.session.notes.map((note, i): Choice => ({ label: note.text, detail: 'note', act: () => this.view?.notes.focus(i) }))],
    });
  }

  /** A palette item was clicked: after the selected activity, else on its own. */
  addFromPalette(type: string): void {
    const node = this.session.focus;
    const port = node?.id ? freePort(this.session, node) : null;
    this.session.run(addActivity(type, node && port !== null ? { from: node.key, port } : null));
    this.showNew();
  }

  /** A palette item was dropped: onto an edge, into a loop, or on free canvas. */
  dropFromPalette(type: string, x: number, y: number): void {
    const view = this.view!;
    const stage = view.stage.getBoundingClientRect();
    if (x < stage.left || x > stage.right || y < stage.top || y > stage.bottom) return;
    const world = view.viewport.toWorld(x, y);
    const edge = view.edgeNear(world);
    if (edge !== null) return void this.session.run(insertOnEdge(edge, type));
    const over = this.loopAt(x, y);
    const origin = over === null ? { x: 0, y: 0 } : view.insideOf(over);
    this.session.run(addActivity(type, null, [world.x - origin.x - 40, world.y - origin.y - 30], over));
  }

  /** Marks the edge a dragged palette item would land on. */
  hoverFromPalette(x: number, y: number): void {
    const view = this.view!;
    view.hint(view.edgeNear(view.viewport.toWorld(x, y)));
  }

  private loopAt(x: number, y: number): string | null {
    const key = this.view!.nodeAt(x, y);
    const node = key === null ? undefined : this.session.node(key);
    if (!node) return null;
    const isGraphLoop = node.type === hookType || node.type === 'for_each' && this.session.graph.nodes.some((n) => n.parent === node.key && n.id !== null);
    return isGraphLoop ? node.key : node.parent;
  }

  /** Puts a note below the active activity, or into the middle of the view, and begins to write it. */
  addNote(key: string | null): void {
    const view = this.view!;
    const box = key === null ? undefined : view.layout.boxes.get(key);
    const seen = view.viewport.seen;
    const at = box ? [box.x, box.y + box.h + 40] as const : [seen.x + seen.w / 2 - noteWidth / 2, seen.y + seen.h / 2 - 40] as const;
    const index = this.session.notes.length;
    if (this.session.run(addNote('New note', at))) view.notes.edit(index);
  }

  private pickAfter(place: Place, at: Point | undefined, position?: readonly [number, number]): void {
    const source = this.session.node(place.from);
    const words = place.port === 'success' ? '' : `, on ${place.port}`;
    this.pick(`After ${source?.name ?? place.from}${words}`, at, [
      ...this.types((type) => this.session.run(addActivity(type, place, position))),
      ...this.targets(place, false),
    ]);
  }

  private types(add: (type: string) => void): Choice[] {
    return paletteTypes.map((type) => ({
      label: typeTitle(type), also: otherWords(type), icon: typeIcon(type),
      act: () => {
        add(type);
        this.showNew();
      },
    }));
  }

  private targets(place: Place, withRefused: boolean): Choice[] {
    const refused = this.refusals(place.from);
    return this.session.graph.nodes
      .filter((n) => n.key !== place.from && n.type !== hookType && (withRefused || !refused.has(n.key)))
      .map((n): Choice => {
        const reason = refused.get(n.key);
        return {
          label: n.name, also: `${n.id ?? ''} connect`, detail: 'connect to this', icon: typeIcon(n.type), ...(reason ? { refused: reason } : {}),
          act: () => {
            this.connect(place.from, place.port, n.key);
            this.back();
          },
        };
      });
  }

  private pick(title: string, at: Point | undefined, choices: Choice[]): void {
    if (this.session.readonly) return void this.session.refuse('This workflow is open for reading only');
    openPicker({ title, placeholder: 'Type to search', choices, at, closed: () => this.back() });
  }

  /** Where a picker about a node opens: at its right edge. */
  private besides(key: string | null): Point | undefined {
    const box = key === null ? undefined : this.view?.layout.boxes.get(key);
    return box && this.view!.viewport.toClient({ x: box.x + box.w, y: box.y + 30 });
  }

  private back(): void {
    this.view?.focus();
  }

  /** The keyboard goes on to what was just added. */
  private showNew(): void {
    const key = this.session.selection.at(-1);
    if (key !== undefined) this.view?.focus(key);
  }

  destroy(): void {
    closePicker();
    this.stop.abort();
    this.bubble.remove();
  }
}

/** The first port that leads nowhere yet: branches and good ones first; null = no ports at all. */
export function freePort(session: Session, node: GraphNode): string | null {
  const used = new Set(session.graph.edges.filter((e) => e.from === node.key).map((e) => e.port));
  const main = node.ports.filter((p) => p.kind === 'good' || p.kind === 'branch');
  return (main.find((p) => !used.has(p.name)) ?? main[0] ?? node.ports[0])?.name ?? null;
}
