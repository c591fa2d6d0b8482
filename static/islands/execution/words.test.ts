import assert from 'node:assert/strict';
import { test } from 'node:test';
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
