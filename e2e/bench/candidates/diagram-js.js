import Diagram from 'diagram-js';
import ConnectModule from 'diagram-js/lib/features/connect';
import ModelingModule from 'diagram-js/lib/features/modeling';
import MoveModule from 'diagram-js/lib/features/move';
import SelectionModule from 'diagram-js/lib/features/selection';
import MoveCanvasModule from 'diagram-js/lib/navigation/movecanvas';
import ZoomScrollModule from 'diagram-js/lib/navigation/zoomscroll';
import 'diagram-js/assets/diagram-js.css';

let diagram;

Object.assign(window, {
  mount(host, graph) {
    diagram = new Diagram({ canvas: { container: host }, modules: [ConnectModule, ModelingModule, MoveModule, SelectionModule, MoveCanvasModule, ZoomScrollModule] });
    const canvas = diagram.get('canvas');
    const factory = diagram.get('elementFactory');
    const root = factory.createRoot({ id: 'root' });
    canvas.setRootElement(root);
    const shapes = new Map();
    for (const n of graph.nodes) {
      const shape = factory.createShape({ id: n.id, x: n.x, y: n.y, width: 220, height: 64 });
      shapes.set(n.id, shape);
      canvas.addShape(shape, root);
    }
    for (const e of graph.edges) {
      const [source, target] = [shapes.get(e.from), shapes.get(e.to)];
      canvas.addConnection(factory.createConnection({ id: e.id, source, target, waypoints: [{ x: source.x + 220, y: source.y + 32 }, { x: target.x, y: target.y + 32 }] }), root);
    }
    canvas.viewbox({ x: -40, y: -40, width: host.clientWidth, height: host.clientHeight });
  },
  fitAll: () => diagram.get('canvas').zoom('fit-viewport'),
  states(round) {
    const canvas = diagram.get('canvas');
    const words = ['running', 'completed', 'failed', 'waiting'];
    for (let i = 0; i < 50; i++) {
      for (const w of words) canvas.removeMarker(`n${i}`, w);
      canvas.addMarker(`n${i}`, words[(i + round) % 4]);
    }
  },
});
