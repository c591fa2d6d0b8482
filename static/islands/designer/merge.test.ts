import assert from 'node:assert/strict';
import test from 'node:test';
import { graphFromText } from '../graph/from-text';
import { addActivity, run, setField } from './commands';
import { changeBetween, applyChange } from './edit';
import { decide, merge, mergeLines } from './merge';
import { randomFrom } from './random';

const start = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: shared
spec:
  activities:
${Array.from({ length: 12 }, (_, i) => `    - id: step_${i}\n      name: initial\n      type: set\n      outputs:\n        value: '0'\n`).join('\n')}`;

test('changes in several places of both sides are all kept', () => {
  const base = 'a\nb\nc\nd\ne\nf';
  assert.equal(mergeLines(base, 'A\nb\nc\nD\ne\nf', 'a\nb\nC\nd\ne\nF'), 'A\nb\nC\nD\ne\nF');
  assert.equal(mergeLines(base, 'a\nc\nd\ne\nf', 'a\nb\nc\nd\nx\ne\nf'), 'a\nc\nd\nx\ne\nf');
  assert.equal(mergeLines(base, 'a\nb\nc\nd\ne\nf\nmine', 'a\nb\nc\nd\ne\nf\ntheirs'), 'a\nb\nc\nd\ne\nf\ntheirs\nmine');
});

test('a place that both changed shows both values, and each choice is respected', () => {
  const merged = merge('a\nb\nc', 'a\nmine\nc', 'a\ntheirs\nC');

  assert.equal(merged.clashes.length, 1);
  assert.match(decide(merged, ['mine']), /mine/);
  assert.match(decide(merged, ['theirs']), /theirs/);
  const gone = merge('a\nb\nc', 'a\nc', 'a\nB\nc');
  assert.deepEqual(gone.clashes, [{ base: 'b', mine: null, theirs: 'B' }]);
  assert.equal(decide(gone, ['mine']), 'a\nc');
});

test('merging with an unchanged side gives the other, for random edits', () => {
  const random = randomFrom(3);
  const mutate = (lines: string[]) => lines.flatMap((l) => (random() < 0.1 ? [] : random() < 0.1 ? [l, `new ${random()}`] : random() < 0.1 ? [`${l}!`] : [l]));
  for (let i = 0; i < 300; i++) {
    const base = Array.from({ length: 30 }, () => String(Math.floor(random() * 6)));
    const side = mutate(base);
    assert.equal(mergeLines(base.join('\n'), side.join('\n'), base.join('\n')), side.join('\n'));
    assert.equal(mergeLines(base.join('\n'), base.join('\n'), side.join('\n')), side.join('\n'));
    const merged = merge(base.join('\n'), side.join('\n'), mutate(base).join('\n'));
    assert.equal(decide(merged, merged.clashes.map(() => 'mine')).length > 0, true);
  }
});

/** The server's rule for drafts: a save is taken only on top of what is there. */
class Drafts {
  etag = 0;
  constructor(public text: string) {}
  save(text: string, on: number): boolean {
    if (on !== this.etag) return false;
    this.text = text;
    this.etag++;
    return true;
  }
}

interface Writer {
  text: string;
  saved: string;
  etag: number;
}

test('three writers, 1,000 saves at random moments: no edit is lost', () => {
  const random = randomFrom(11);
  const server = new Drafts(start);
  const writers: Writer[] = Array.from({ length: 3 }, () => ({ text: start, saved: start, etag: 0 }));
  const added = new Set<string>();
  const shown: string[] = [];
  let saves = 0;
  let marker = 0;

  const edit = (w: Writer) => {
    const kind = random();
    const value = `v${++marker}`;
    if (kind < 0.05 && added.size < 60) {
      const key = 'step_0';
      const done = run(w.text, addActivity('set', { from: key, port: 'success' }));
      // Two writers may add at one moment; ids are made different by a name of their own.
      const id = `added_${marker}`;
      w.text = applyChange(w.text, done.change).replace(`id: ${done.select![0]!}\n`, `id: ${id}\n`);
      added.add(id);
      return;
    }
    const key = `step_${Math.floor(random() * 12)}`;
    w.text = run(w.text, setField(key, kind < 0.5 ? ['name'] : ['outputs', 'value'], value)).text;
  };

  const save = (w: Writer) => {
    if (w.text === w.saved) return;
    for (;;) {
      if (server.save(w.text, w.etag)) {
        saves++;
        [w.saved, w.etag] = [w.text, server.etag];
        return;
      }
      const merged = merge(w.saved, w.text, server.text);
      for (const clash of merged.clashes) {
        // Both values are in front of the person; one of them is chosen.
        assert.notEqual(clash.mine, clash.theirs);
        shown.push(clash.mine ?? '', clash.theirs ?? '');
      }
      const decisions = merged.clashes.map(() => (random() < 0.5 ? 'mine' : 'theirs') as 'mine' | 'theirs');
      const before = { mine: values(w.text), theirs: values(server.text), base: values(w.saved) };
      const text = decide(merged, decisions);
      assert.equal(graphFromText(text).error, null, 'a merged text is a workflow');
      for (const [place, now] of values(text)) {
        const [m, t, b] = [before.mine.get(place), before.theirs.get(place), before.base.get(place)];
        const expected = m === b ? t : t === b ? m : null;
        if (expected !== null && expected !== undefined && now !== expected) assert.ok(shown.some((s) => s.includes(expected)), `${place}: ${expected} was lost unseen`);
      }
      [w.text, w.saved, w.etag] = [text, server.text, server.etag];
      if (w.text === w.saved) return;
    }
  };

  while (saves < 1000) {
    const w = writers[Math.floor(random() * 3)]!;
    edit(w);
    if (random() < 0.7) save(w);
  }
  for (const w of writers) save(w);
  const ids = new Set(graphFromText(server.text).graph.nodes.map((n) => n.id));
  for (const id of added) assert.ok(ids.has(id), `${id} was lost`);
  assert.ok(shown.length > 0, 'some edits met in one field');
  assert.ok(server.etag >= 1000);
});

/** Every field that the writers write, by place. */
function values(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const { root } = graphFromText(text);
  const list = (root.spec as { activities: { id: string; name?: string; outputs?: { value?: string } }[] }).activities;
  for (const a of list) {
    found.set(`${a.id}.name`, String(a.name));
    found.set(`${a.id}.value`, String(a.outputs?.value));
  }
  return found;
}

test('the edit between two texts is the part that differs', () => {
  for (const [a, b] of [['abc', 'abXc'], ['aaa', 'aa'], ['', 'x'], ['same', 'same'], ['ab', 'ba']] as const) {
    assert.equal(applyChange(a, changeBetween(a, b)), b);
  }
});
