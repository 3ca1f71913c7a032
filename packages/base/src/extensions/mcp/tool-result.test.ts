import { expect, test } from 'bun:test';
import { textOf, toOutput, withNotes } from './tool-result.ts';

const text = (value: string) => ({ type: 'text', text: value });
const png = { type: 'image', mimeType: 'image/png', data: Buffer.from('12345').toString('base64') };

test.each([
  ['text is text', { content: [text('a'), text('b')] }, 'a\nb'],
  ['an empty text for no content', { content: [] }, ''],
  ['structured content as JSON', { content: [text('{"a":1}')], structuredContent: { a: 1 } }, { a: 1 }],
  [
    'Y-02 images are content',
    { content: [text('a'), png] },
    { type: 'content', value: [text('a'), { type: 'image', image: png.data, mediaType: 'image/png' }] },
  ],
  [
    'both, when there is more than text',
    { content: [png], structuredContent: [1] },
    { type: 'content', value: [{ type: 'image', image: png.data, mediaType: 'image/png' }, text('[1]')] },
  ],
  [
    'Y-02 audio and binary resources are files',
    {
      content: [
        { type: 'audio', mimeType: 'audio/wav', data: 'MTI=' },
        { type: 'resource', resource: { uri: 'x://a/paper.pdf', mimeType: 'application/pdf', blob: 'MTI=' } },
      ],
    },
    {
      type: 'content',
      value: [
        { type: 'file', data: 'MTI=', mediaType: 'audio/wav' },
        { type: 'file', data: 'MTI=', mediaType: 'application/pdf', filename: 'paper.pdf' },
      ],
    },
  ],
  [
    'data that is not base64 is described',
    { content: [{ type: 'image', mimeType: 'image/png', data: 'no base64!' }] },
    { content: [{ type: 'image', mimeType: 'image/png', bytes: 7, omitted: 'not text' }] },
  ],
  [
    'a resource is its text, a link is itself',
    {
      content: [
        { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 'hi' } },
        { type: 'resource', resource: { uri: 'x://2', blob: '' } },
        { type: 'resource_link', uri: 'x://3', name: 'three', _meta: { a: 1 }, icons: [] },
      ],
    },
    {
      content: [
        { type: 'resource', uri: 'x://1', mimeType: 'text/plain', text: 'hi' },
        { type: 'resource', uri: 'x://2', bytes: 0, omitted: 'not text' },
        { type: 'resource_link', uri: 'x://3', name: 'three' },
      ],
    },
  ],
])('the model reads: %s', (_what, reply, expected) => {
  expect(toOutput(reply, 1_000)).toEqual(expected);
});

test('N-04 the model reads the reasons of people who declined, and the answer', () => {
  const said = 'A person declined a question of the server, and said: not today';
  const read = (reply: Parameters<typeof toOutput>[0]) => toOutput(withNotes(reply, ['not today']), 1_000);
  expect(read({ content: [text('a')] })).toBe(`${said}\na`);
  expect(read({ content: [text('{"a":1}')], structuredContent: { a: 1 } })).toBe(`${said}\n{"a":1}`);
  expect(read({ content: [png], structuredContent: [1] })).toMatchObject({
    value: [text(said), { type: 'image' }, text('[1]')],
  });
  const reply = { content: [text('a')], structuredContent: { a: 1 } };
  expect(withNotes(reply, [])).toBe(reply);
});

test('a long answer is cut, with the number of missing characters', () => {
  expect(toOutput({ content: [text('x'.repeat(20))] }, 5)).toBe('xxxxx… (15 more characters)');
  expect(toOutput({ content: [text('')], structuredContent: { a: 'x'.repeat(20) } }, 6)).toEqual({
    cut: '{"a":"… (22 more characters)',
  });
  // The limit applies to the whole answer.
  expect(toOutput({ content: [png, text('1234'), text('5678')] }, 6)).toMatchObject({
    value: [{}, { text: '1234' }, { text: '56… (2 more characters)' }],
  });
});

test('an error reply is shown as its text', () => {
  expect(textOf({ content: [text('no'), png, text('way')] })).toBe('no\nway');
});
