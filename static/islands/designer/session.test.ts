import assert from 'node:assert/strict';
import test from 'node:test';
import { addActivity, remove, rename, setField } from './commands';
import { Session } from './session';

const text = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: demo}
spec:
  activities:
    - id: first
      type: http
      inputs: {url: "https://example.com"}
`;

test('300 steps can be undone to the first byte and done again', () => {
  const session = new Session(text, false);
  for (let i = 0; i < 300; i++) session.run(setField('first', ['name'], `name ${i}`));
  const last = session.text;
  for (let i = 0; i < 300; i++) session.undo();
  assert.equal(session.text, text);
  assert.equal(session.canUndo, false);
  for (let i = 0; i < 300; i++) session.redo();
  assert.equal(session.text, last);
});

test('typing in one field is one step; leaving it begins the next', () => {
  const session = new Session(text, false);
  for (const name of ['F', 'Fe', 'Fetch']) session.run(setField('first', ['name'], name), 'form', 'first.name');
  session.closeGesture();
  session.run(setField('first', ['name'], 'Fetch it'), 'form', 'first.name');
  session.undo();
  assert.match(session.text, /name: Fetch\n/);
  session.undo();
  assert.equal(session.text, text);
});

test('graph and text share one stack', () => {
  const session = new Session(text, false);
  session.run(addActivity('wait', { from: 'first', port: 'success' }));
  const at = session.text.indexOf('demo');
  session.typed([{ from: at, to: at + 4, insert: 'other' }]);
  session.undo();
  assert.ok(session.text.includes('demo') && session.node('wait'));
  session.undo();
  assert.equal(session.text, text);
});

test('invalid text keeps the last good graph and refuses commands', () => {
  const session = new Session(text, false);
  const said: string[] = [];
  session.listen({ said: (words, failed) => void (failed && said.push(words)) });
  session.typed([{ from: text.indexOf('first'), to: text.indexOf('first'), insert: '[' }]);
  assert.ok(session.error);
  assert.equal(session.graph.nodes.length, 1);
  assert.equal(session.run(addActivity('wait', null)), false);
  assert.match(said[0]!, /valid YAML/);
  session.undo();
  assert.equal(session.error, null);
});

test('undo brings back what was selected', () => {
  const session = new Session(text, false);
  session.run(addActivity('wait', { from: 'first', port: 'success' }));
  assert.deepEqual(session.selection, ['wait']);
  session.run(remove(['wait']));
  assert.deepEqual(session.selection, ['first']);
  session.undo();
  assert.deepEqual(session.selection, ['wait']);
});

test('a read-only session changes nothing', () => {
  const session = new Session(text, true);
  assert.equal(session.run(rename('first', 'other')), false);
  assert.equal(session.text, text);
});
