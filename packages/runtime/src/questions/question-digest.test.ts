import { expect, test } from 'bun:test';
import { type AskedSubject, questionDigest } from './question-digest.ts';

const form = {
  kind: 'form',
  args: {},
  reason: 'Which branch?',
  schema: { type: 'object', properties: { branch: { type: 'string' } } },
} as const satisfies AskedSubject;
const page = { kind: 'page', args: {}, reason: 'Sign in.', url: 'https://example.com/in' } as const;

test.each<[string, AskedSubject, AskedSubject]>([
  ['the words of a form', form, { ...form, reason: 'Which server?' }],
  ['the fields of a form', form, { ...form, schema: { ...form.schema, required: ['branch'] } }],
  ['the words of a page', page, { ...page, reason: 'Pay.' }],
  ['the address of a page', page, { ...page, url: 'https://example.com/out' }],
  ['the arguments of a call', { ...form, kind: 'call' }, { ...form, kind: 'call', args: { a: 1 } }],
])('N-04 the digest covers %s', (_, one, other) => {
  expect(questionDigest(one)).toBe(questionDigest({ ...one }));
  expect(questionDigest(one)).not.toBe(questionDigest(other));
});

test('the words of a call are not: the same call with other words is the same call', () => {
  expect(questionDigest({ ...form, kind: 'call' })).toBe(questionDigest({ ...form, kind: 'call', reason: 'Other.' }));
});
