import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { placesOf, within } from './scalar';

test('each visible character of a text is found in its source, in every style', () => {
  for (const source of ['plain text', '"a\\n\\tb \\u00e9 \\"c\\""', "'it''s'", '|\n      if (a) {\n        b\n      }\n', '>-\n  one\n  two\n\n  three', '"a \\\n   b"']) {
    const value = parse(source) as string;
    const places = placesOf(source, value);
    assert.equal(places.length, value.length + 1);
    for (const [i, c] of [...value].entries()) {
      if (/\s/.test(c)) continue;
      const there = source[places[i]!];
      assert.ok(there === c || there === '\\', `${source}: ${c} at ${places[i]} is ${there}`);
    }
  }
});

test('a place of the source is a stretch of the value, within it', () => {
  const source = '|\n      const a = 1\n      return a +* 2\n';
  const value = parse(source) as string;
  const from = source.indexOf('*');
  const found = within(source, value, from, from + 1);
  assert.equal(value.slice(found.from, found.to), '*');
  assert.deepEqual(within(source, value, 10_000, 10_001), { from: value.length - 1, to: value.length });
});
