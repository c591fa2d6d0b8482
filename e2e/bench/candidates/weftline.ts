import { GraphView, type NodeState } from '../../../static/islands/graph';
import { layoutGraph } from '../../../static/islands/graph/layout';
import type { Graph } from '../../../static/islands/graph/model';

const none = () => undefined;
let view: GraphView;

Object.assign(window, {
  mount(host: HTMLElement, { nodes, edges }: { nodes: { id: string; name: string; x: number; y: number }[]; edges: { id: string; from: string; to: string }[] }) {
    const graph: Graph = {
      nodes: nodes.map((n, i) => ({
        key: n.id, id: n.id, type: 'set', name: n.name, detail: 'sets value', facts: [], parent: null, path: ['spec', 'activities', i], range: [0, 0],
        ports: [{ name: 'success', kind: 'good' }, { name: 'failure', kind: 'failure' }, { name: 'done', kind: 'done' }],
      })),
      edges: edges.map((e) => ({ key: `${e.from}.success->${e.to}`, from: e.from, port: 'success', to: e.to })),
    };
    view = new GraphView(host, {
      mode: 'edit', label: 'Bench',
      edit: { refusals: () => new Map(), connect: none, disconnect: none, dropConnect: none, quickAdd: none, insert: none, move: none, explain: none, menu: none },
    });
    view.setGraph(graph, new Map(nodes.map((n) => [n.id, [n.x, n.y] as const])));
    view.viewport.set(40, 40, 1);
  },
  /** The same graph as a running execution shows it. */
  live() {
    const { graph } = view;
    const places = new Map([...view.layout.boxes].map(([key, { x, y }]) => [key, [x, y] as const]));
    const host = document.getElementById('host')!;
    view.destroy();
    view = new GraphView(host, { mode: 'live', label: 'Bench' });
    view.setGraph(graph, places);
    view.viewport.set(40, 40, 1);
  },
  fitAll: () => view.fit(),
  layout: () => void layoutGraph(view.graph, view.metrics, new Map()),
  states(round: number) {
    const words = ['running', 'completed', 'failed', 'waiting'];
    view.setStates(new Map(Array.from({ length: 50 }, (_, i): [string, NodeState] => [`n${i}`, { state: words[(i + round) % 4]!, label: words[(i + round) % 4]! }])));
  },
});
