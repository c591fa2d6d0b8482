import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placesOf } from './growth';
import { wordsOf } from './words';

const now = Date.UTC(2026, 2, 1, 12);
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();

test('a wait says how long still, or for how long already', () => {
  assert.equal(wordsOf({ state: 'retrying', label: 'Attempt 2 of 5', until: at(8) }, now), 'Attempt 2 of 5, next in 8 s');
  assert.equal(wordsOf({ state: 'waiting', label: 'Waits', until: at(5) }, now), 'Waits, 5 s left');
  assert.equal(wordsOf({ state: 'waiting', label: 'Waits', until: at(-1) }, now), 'Waits, due now');
  assert.equal(wordsOf({ state: 'waiting_person', label: 'For a person', since: at(-180) }, now), 'For a person, for 3 min');
  assert.equal(wordsOf({ state: 'completed', label: 'Completed in 2 s' }, now), 'Completed in 2 s');
});

test('a break of the timeline is as long as it is drawn, and time goes on after it', () => {
  const at = placesOf(1000, '2000-12000-100 20000-21000-50');
  assert.deepEqual([1000, 2000, 7000, 12000, 13000, 20500, 22000].map((ms) => Math.round(at(ms))), [0, 1000, 1050, 1100, 2100, 9125, 10150]);
  assert.equal(placesOf(1000, '')(2500), 1500);
});
