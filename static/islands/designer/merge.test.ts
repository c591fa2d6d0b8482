import assert from 'node:assert/strict';
import test from 'node:test';
import { graphFromText } from '../graph/from-text';
import { addActivity, addNote, move, remove, rename, run, setField, writeNote, type Command } from './commands';
import { changeBetween, applyChange } from './edit';
import { extract } from './extract';
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

test('what both added at one place stands there once for each key, and different values are shown', () => {
  const base = 'notes:\n  - one\n';
  const moved = (id: string, x: number) => `notes:\n  - one\npositions:\n  ${id}: [${x}, 0]\n`;
  assert.equal(mergeLines(base, moved('a', 1), moved('b', 2)), 'notes:\n  - one\npositions:\n  b: [2, 0]\n  a: [1, 0]\n');
  assert.equal(mergeLines(base, 'notes:\n  - one\n  - mine\n', moved('b', 2)), 'notes:\n  - one\n  - mine\npositions:\n  b: [2, 0]\n');
  assert.equal(mergeLines(base, moved('b', 2), 'notes:\n  - one\n  - theirs\n'), 'notes:\n  - one\n  - theirs\npositions:\n  b: [2, 0]\n');
  assert.equal(merge(base, moved('a', 1), moved('a', 2)).clashes.length, 1, 'one activity moved to two places');
  assert.equal(merge(base, `${base}text: |\n  mine\n`, `${base}text: |\n  theirs\n`).clashes.length, 1, 'one text written twice');
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

/** A random edit that leaves a word of its own in the text. */
function markedEdit(text: string, word: string, random: () => number): Command {
  const { graph, notes } = graphFromText(text);
  const node = graph.nodes[Math.floor(random() * graph.nodes.length)]!;
  const edits: (() => Command)[] = [
    () => setField(node.key, ['name'], word),
    () => setField(node.key, ['outputs', 'value'], `'${word}'`),
    () => setField(node.key, ['if'], `inputs.${word}`),
    () => setField(node.key, ['description'], `first line\n${word}`),
    () => rename(node.key, word),
    () => addNote(word, [Math.floor(random() * 500), 20]),
    () => (notes.length > 0 ? writeNote(Math.floor(random() * notes.length), word) : addNote(word, [0, 0])),
    () => move(new Map([[node.key, [Number(word.slice(1)), 40]]])),
    () => extract(text, [node.key], word).command,
    () => (random() < 0.3 ? remove([node.key]) : setField(node.key, ['retry'], { attempts: 2, delay: `${word.slice(1)}s` })),
  ];
  return edits[Math.floor(random() * edits.length)]!();
}

/** The text after a few marked edits, and the words that it then holds. */
function sideOf(base: string, first: number, random: () => number): { text: string; words: string[] } {
  let text = base;
  const words: string[] = [];
  for (let i = 0; i < 1 + Math.floor(random() * 3); i++) {
    const word = `w${first + i}`;
    try {
      text = run(text, markedEdit(text, word, random)).text;
      words.push(word);
    } catch (e) {
      assert.equal((e as Error).constructor.name, 'CannotEdit', (e as Error).stack);
    }
  }
  return { text, words: words.map((word) => word.slice(1)).filter((number) => text.includes(number)) };
}

test('two tabs at one moment, 1,000 races of forms, notes, renames and extractions: everything is merged or shown', () => {
  const random = randomFrom(29);
  const base = run(start, addNote('beside it', [10, 10])).text;
  const met = { merged: 0, shown: 0, unread: 0 };
  for (let race = 0; race < 1000; race++) {
    const [mine, theirs] = [sideOf(base, 100_000 + race * 20, random), sideOf(base, 500_000 + race * 20, random)];
    const merged = merge(base, mine.text, theirs.text);
    const both = [decide(merged, merged.clashes.map(() => 'mine')), decide(merged, merged.clashes.map(() => 'theirs'))];
    const shown = merged.clashes.map((clash) => `${clash.mine}\n${clash.theirs}`).join('\n');
    for (const [side, other, text] of [[mine, theirs, both[0]!], [theirs, mine, both[1]!]] as const) {
      for (const word of side.words) {
        assert.ok(text.includes(word) || shown.includes(word), `race ${race}: ${word} is neither in the text nor shown\n${side.text}\n--- beside\n${other.text}\n--- gave\n${text}`);
        if (merged.clashes.length === 0) assert.ok(both.every((one) => one.includes(word)), `race ${race}: ${word} went without a question`);
      }
    }
    if (merged.clashes.length > 0) met.shown++;
    else if (graphFromText(both[0]!).error) met.unread++; // the designer asks then, too: see takeMerged
    else met.merged++;
  }
  assert.ok(met.merged > 300 && met.shown > 50 && met.unread < 20, JSON.stringify(met));
});

test('the edit between two texts is the part that differs', () => {
  for (const [a, b] of [['abc', 'abXc'], ['aaa', 'aa'], ['', 'x'], ['same', 'same'], ['ab', 'ba']] as const) {
    assert.equal(applyChange(a, changeBetween(a, b)), b);
  }
});
