// Problems of the text as the server's validator sees them, and the panel that
// lists them: a jump to the activity and the line, hints applied by a click.

import { el } from '../graph/dom';
import type { Graph, Path } from '../graph/model';
import type { Badge } from '../graph/node-view';
import type { Change } from './edit';

export interface Problem {
  path: Path;
  severity: 'error' | 'warning';
  code: string;
  message: string;
  hint: string;
  /** UTF-16 offsets in the text the problem was found in. */
  from: number;
  to: number;
  /** From 1. */
  line: number;
  column: number;
  /** The fix, if there is one: edits in sequence. */
  fix: Change;
}

interface ServerEdit {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

export interface ServerProblem extends Partial<Omit<ServerEdit, 'text'>> {
  path?: string;
  code?: string;
  severity?: string;
  message?: string;
  hint?: string;
  edits?: ServerEdit[] | null;
}

/** Problems with their places as offsets of the text they are about. */
export function problemsFrom(text: string, found: readonly ServerProblem[]): Problem[] {
  const lines = lineStarts(text);
  const at = (line: number, column: number) => offsetAt(text, lines, line, column);
  return found.map((p) => {
    const from = at(p.line ?? 1, p.column ?? 1);
    const to = Math.max(from, at(p.endLine ?? p.line ?? 1, p.endColumn ?? p.column ?? 1));
    const edits = (p.edits ?? []).map((e) => ({ from: at(e.line, e.column), to: at(e.endLine, e.endColumn), insert: e.text }));
    return {
      path: parsePath(p.path ?? ''),
      severity: p.severity === 'warning' ? 'warning' : 'error',
      code: p.code ?? '',
      message: p.message ?? '',
      hint: p.hint ?? '',
      from, to,
      line: p.line ?? 1,
      column: p.column ?? 1,
      // From the last to the first, so that each counts in the text before it.
      fix: edits.sort((a, b) => b.from - a.from),
    };
  });
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return starts;
}

/** Lines and columns count from 1; columns are code points. */
function offsetAt(text: string, lines: number[], line: number, column: number): number {
  const start = lines[Math.min(Math.max(line, 1), lines.length) - 1]!;
  let offset = start;
  for (let i = 1; i < column && offset < text.length && text[offset] !== '\n'; i++) {
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  }
  return offset;
}

/** "spec.activities[5].needs[0]" as steps. */
export function parsePath(path: string): Path {
  return [...path.matchAll(/\[(\d+)\]|\["([^"]*)"\]|([^.[\]]+)/g)].map((m) => (m[1] !== undefined ? Number(m[1]) : (m[2] ?? m[3])!));
}

/** The innermost activity a problem lies in. */
export function nodeOf(graph: Graph, problem: Problem): string | null {
  let best: { key: string; depth: number } | null = null;
  for (const node of graph.nodes) {
    const inside = node.path.every((step, i) => String(step) === String(problem.path[i]));
    if (inside && (!best || node.path.length > best.depth)) best = { key: node.key, depth: node.path.length };
  }
  return best?.key ?? null;
}

/** The worst problem of each activity. */
export function badgesOf(graph: Graph, problems: readonly Problem[]): Map<string, Badge> {
  const badges = new Map<string, Badge>();
  for (const problem of problems) {
    const key = nodeOf(graph, problem);
    if (key === null || badges.get(key)?.severity === 'error') continue;
    badges.set(key, { severity: problem.severity, message: problem.message });
  }
  return badges;
}

export function countWords(problems: readonly Problem[]): string {
  const errors = problems.filter((p) => p.severity === 'error').length;
  const warnings = problems.length - errors;
  const parts = [count(errors, 'error'), count(warnings, 'warning')].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'No problems';
}

function count(n: number, what: string): string {
  return n === 0 ? '' : `${n} ${what}${n === 1 ? '' : 's'}`;
}

export interface ProblemHooks {
  show(problem: Problem): void;
  apply(problem: Problem): void;
}

/** The list of problems; empty says so. */
export function problemList(graph: Graph, problems: readonly Problem[], hooks: ProblemHooks): HTMLElement {
  if (problems.length === 0) return el('p', { class: 'ds-quiet' }, 'No problems: this workflow can be published.');
  return el('ul', { class: 'ds-problems' }, ...problems.map((p) => {
    const key = nodeOf(graph, p);
    return el('li', { 'data-severity': p.severity },
      el('button', { type: 'button', class: 'ds-problem-jump', onclick: () => hooks.show(p) },
        el('span', { class: 'ds-severity' }, p.severity),
        el('span', { class: 'ds-problem-text' }, p.message),
        el('span', { class: 'ds-problem-place' }, `${key ? `${key} · ` : ''}line ${p.line}${p.code ? ` · ${p.code}` : ''}`)),
      p.hint ? el('p', { class: 'ds-hint' }, p.hint) : null,
      p.fix.length > 0 ? el('button', { type: 'button', class: 'ds-link', onclick: () => hooks.apply(p) }, 'Apply the fix') : null);
  }));
}
