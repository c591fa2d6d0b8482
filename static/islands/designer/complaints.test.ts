import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

function sources(folder: string, ending: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n');
}

test('every complaint in docs/designer.md has a test that exists, or a reason', () => {
  const rows = readFileSync('../docs/designer.md', 'utf8').split('\n').filter((line) => /^\| (?!complaint|-)/.test(line));
  const all = sources('islands', '.test.ts') + sources('../e2e', '.spec.ts');
  assert.ok(rows.length > 40);
  for (const row of rows) {
    const [, complaint, answer = ''] = row.split(' | ').length === 2 ? ['', ...row.slice(2, -2).split(' | ')] : [];
    assert.ok(complaint && answer.length > 10, row);
    for (const [, name] of answer.matchAll(/`([^`]+ [^`]+ [^`]+)`/g)) {
      assert.ok(['"', "'", '`'].some((q) => all.includes(`test(${q}${q === "'" ? name!.replaceAll("'", "\\'") : name}${q}`)), `no test is called: ${name}`);
    }
  }
});
