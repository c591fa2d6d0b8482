import { Background, Handle, MiniMap, Position, ReactFlow, useEdgesState, useNodesState } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { createElement as h, memo } from 'react';
import { createRoot } from 'react-dom/client';

const Step = memo(({ data }) => h('div', { className: 'card', 'data-state': data.state },
  h(Handle, { type: 'target', position: Position.Left }), h('b', null, data.name), h('span', null, 'sets value'), h('i', null, data.state ?? ''),
  h(Handle, { type: 'source', position: Position.Right })));
const nodeTypes = { step: Step };
let flow;
let setNodes;

function App({ graph }) {
  const [nodes, set, onNodesChange] = useNodesState(graph.nodes.map((n) => ({ id: n.id, type: 'step', position: { x: n.x, y: n.y }, data: { name: n.name } })));
  const [edges, , onEdgesChange] = useEdgesState(graph.edges.map((e) => ({ id: e.id, source: e.from, target: e.to })));
  setNodes = set;
  return h(ReactFlow, { nodes, edges, nodeTypes, onNodesChange, onEdgesChange, minZoom: 0.02, panOnScroll: true, defaultViewport: { x: 40, y: 40, zoom: 1 }, onInit: (f) => (flow = f) }, h(Background), h(MiniMap));
}

Object.assign(window, {
  mount(host, graph) {
    createRoot(host).render(h(App, { graph }));
  },
  fitAll: () => flow.fitView(),
  states(round) {
    const words = ['running', 'completed', 'failed', 'waiting'];
    setNodes((all) => all.map((n, i) => (i < 50 ? { ...n, data: { ...n.data, state: words[(i + round) % 4] } } : n)));
  },
});
