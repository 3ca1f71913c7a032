import { expect, test } from 'bun:test';
import { fillTemplate, valueAt } from './fill-template.ts';

const values = {
  body: { a: { b: ['x', { c: 7 }] }, text: '{{body.a}}', none: null, 'full-name': 'o/r' },
  event: 'push',
};

test.each([
  ['{{event}}: {{body.a.b.0}}', 'push: x'],
  ['{{ body.a.b.1.c }}', '7'],
  ['{{body.a}}', '{"b":["x",{"c":7}]}'],
  ['{{body.none}}{{body.nothing.at.all}}{{other}}', ''],
  ['{{body.full-name}}', 'o/r'],
  ['{{body.text}}', '{{body.a}}'],
  ['{{body.constructor}}{{body.__proto__}}{{body.text.length}}{{body.a.b.length}}', '2'],
  ['$& {event} {{}} {{ }}', '$& {event} {{}} {{ }}'],
])('%s', (template, text) => {
  expect(fillTemplate(template, values)).toBe(text);
});

test('only own properties have a value', () => {
  expect(valueAt(values, 'body.toString')).toBeUndefined();
  expect(valueAt(values, 'body.a.b.2')).toBeUndefined();
});
