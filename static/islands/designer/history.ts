// One undo stack for canvas, form and text. Pure: keeps changes and their
// inverses, and what was selected; one gesture is one step.

import { invertChange, type Change } from './edit';

/** What is remembered of a step: at least 200 of them, in practice bounded by memory only. */
const most = 1000;

export interface Step {
  said: string;
  change: Change;
  inverse: Change;
  selectedBefore: readonly string[];
  selectedAfter: readonly string[];
  /** Steps with the same key in a row are one gesture, until `close`. */
  gesture: string | null;
}

export class History {
  private done: Step[] = [];
  private undone: Step[] = [];
  private open = false;

  push(text: string, step: Omit<Step, 'inverse'>): void {
    if (step.change.length === 0) return;
    const inverse = invertChange(text, step.change);
    const last = this.done.at(-1);
    if (this.open && last && step.gesture !== null && last.gesture === step.gesture) {
      last.change = [...last.change, ...step.change];
      last.inverse = [...inverse, ...last.inverse];
      last.selectedAfter = step.selectedAfter;
    } else {
      this.done.push({ ...step, inverse });
      if (this.done.length > most) this.done.shift();
    }
    this.open = true;
    this.undone = [];
  }

  /** Ends the gesture: what comes next is a step of its own. */
  close(): void {
    this.open = false;
  }

  undo(): Step | null {
    const step = this.done.pop();
    if (!step) return null;
    this.undone.push(step);
    this.open = false;
    return step;
  }

  redo(): Step | null {
    const step = this.undone.pop();
    if (!step) return null;
    this.done.push(step);
    this.open = false;
    return step;
  }

  get canUndo(): boolean {
    return this.done.length > 0;
  }

  get canRedo(): boolean {
    return this.undone.length > 0;
  }
}
