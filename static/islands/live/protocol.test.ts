import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOf, retryDelay } from './protocol';

const ev = (prev: number, seq: number) => ({ type: 'ev' as const, sid: 'a', prev, seq, events: [] });

test('events apply only when they follow what we have', () => {
  assert.deepEqual(effectOf(ev(4, 7), 'a', 4), { kind: 'apply', seq: 7 });
  assert.deepEqual(effectOf(ev(5, 7), 'a', 4), { kind: 'gap', head: 7 });
  assert.deepEqual(effectOf(ev(2, 4), 'a', 4), { kind: 'ignore' });
});

test('a state is taken when it is newer, never when it is older', () => {
  const snap = (seq: number) => ({ type: 'snap' as const, sid: 'a', seq, state: {} });
  assert.deepEqual(effectOf(snap(9), 'a', 4), { kind: 'apply', seq: 9 });
  assert.deepEqual(effectOf(snap(3), 'a', 4), { kind: 'ignore' });
});

test('a ping reveals silent loss', () => {
  const ping = { type: 'ping' as const, t: '', heads: { a: 8 } };
  assert.deepEqual(effectOf(ping, 'a', 5), { kind: 'gap', head: 8 });
  assert.deepEqual(effectOf(ping, 'a', 8), { kind: 'ignore' });
  assert.deepEqual(effectOf(ping, 'b', 0), { kind: 'ignore' });
});

test('pauses between tries grow, stay bounded and are spread', () => {
  assert.equal(retryDelay(0, 0), 250);
  assert.equal(retryDelay(0, 1), 500);
  assert.equal(retryDelay(50, 1), 15_000);
});
