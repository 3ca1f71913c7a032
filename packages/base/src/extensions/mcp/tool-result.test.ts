import { expect, test } from 'bun:test';
import { textOf, toOutput } from './tool-result.ts';

const text = (value: string) => ({ type: 'text', text: value });
const png = { type: 'image', mimeType: 'image/png', data: Buffer.from('12345').toString('base64') };

test.each([
  ['text is text', { content: [text('a'), text('b')] }, 'a\nb'],
  ['an empty text for no content', { content: [] }, ''],
  ['structured content as JSON', { content: [text('{"a":1}')], structuredContent: { a: 1 } }, { a: 1 }],
  [
    'bytes are named',
    { content: [text('a'), png] },
    { content: [text('a'), { type: 'image', mimeType: 'image/png', bytes: 5, omitted: 'not text' }] },
  ],
  [
    'both, when there is more than text',
    { content: [png], structuredContent: [1] },
    { content: [{ type: 'image', mimeType: 'image/png', bytes: 5, omitted: 'not text' }], structured: [1] },
  ],
  [
    'a resource is its text, a link is itself',
    {
      content: [
        { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 'hi' } },
        { type: 'resource', resource: { uri: 'x://2', blob: 'MTI=' } },
        { type: 'resource_link', uri: 'x://3', name: 'three', _meta: { a: 1 }, icons: [] },
      ],
    },
    {
      content: [
        { type: 'resource', uri: 'x://1', mimeType: 'text/plain', text: 'hi' },
        { type: 'resource', uri: 'x://2', bytes: 2, omitted: 'not text' },
        { type: 'resource_link', uri: 'x://3', name: 'three' },
      ],
    },
  ],
])('the model reads: %s', (_what, reply, expected) => {
  expect(toOutput(reply, 1_000)).toEqual(expected);
});

test('a long answer is cut, with the number of missing characters', () => {
  expect(toOutput({ content: [text('x'.repeat(20))] }, 5)).toBe('xxxxx… (15 more characters)');
  expect(toOutput({ content: [text('')], structuredContent: { a: 'x'.repeat(20) } }, 6)).toEqual({
    cut: '{"a":"… (22 more characters)',
  });
  // The limit applies to the whole answer.
  expect(toOutput({ content: [png, text('1234'), text('5678')] }, 6)).toMatchObject({
    content: [{}, { text: '1234' }, { text: '56… (2 more characters)' }],
  });
});

test('an error reply is shown as its text', () => {
  expect(textOf({ content: [text('no'), png, text('way')] })).toBe('no\nway');
});
