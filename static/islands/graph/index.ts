// What other islands use of the graph view.

export { mergeForDiff, type GraphDiff } from './diff';
export { drawingOf, type Documents } from './documents';
export { stateIcon, stateLook, typeIcon } from './icons';
export type { Graph, GraphEdge, GraphNode, Positions } from './model';
export type { DiffKind, NodeState } from './node-view';
export { GraphView, type ViewOptions } from './view';
