import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, agoPrecisely, duration } from './times';

test('distances read as the server writes them', () => {
  const now = Date.UTC(2026, 2, 1, 12);
  const cases: [number, string][] = [
    [2_000, 'just now'], [40_000, '40 s ago'], [180_000, '3 min ago'], [-8_000, 'in 8 s'],
    [30 * 3_600_000, '30 h ago'], [72 * 3_600_000, '3 days ago'],
    [59_600, '1 min ago'], [-3_580_000, 'in 1 h'], [171_600_000, '2 days ago'],
  ];
  for (const [ms, want] of cases) assert.equal(ago(now - ms, now), want);
  assert.deepEqual([30, 2_400, 180_000, -5].map((ms) => agoPrecisely(now - ms, now)), ['30 ms ago', '2.4 s ago', '3 min ago', '0 ms ago']);
});

test('lengths read as the server writes them', () => {
  const cases: [number, string][] = [
    [840, '840 ms'], [5_000, '5 s'], [12_400, '12.4 s'], [200_000, '3 min 20 s'], [7_200_000, '2 h'], [187_200_000, '2 d 4 h'],
  ];
  for (const [ms, want] of cases) assert.equal(duration(ms), want);
});
