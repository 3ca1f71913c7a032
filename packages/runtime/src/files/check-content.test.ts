import { expect, test } from 'bun:test';
import { checkContent } from './check-content.ts';

const limits = { maxFileBytes: 1_000 };

test.each(['file:///etc/passwd', 'ftp://host/cat.png', 'javascript:alert(1)', 'gopher://host/1'])(
  'Y-02 %s is refused: only http and https are addresses of files',
  (image) => {
    const check = () => checkContent([{ type: 'image', image, mediaType: 'image/png' }], limits);
    expect(check).toThrow(/content\[0\]\.image is a URL that begins neither with http: nor with https:/);
  },
);

test('Y-02 the address of a picture stays as it is', () => {
  const part = { type: 'image', image: 'HTTPS://example.com/cat.png', mediaType: 'image/png' } as const;
  expect(checkContent([part], limits)).toEqual([part]);
});

test.each([
  { type: 'text', text: 'Hi' },
  { type: 'image', image: 'https://example.com/cat.png' },
  { type: 'file', data: 'https://example.com/a.txt', mediaType: 'text/plain' },
])('Y-02 a stranger cannot replace parts of the request to the provider: $type', (part) => {
  const sent = [{ ...part, providerOptions: { openaiCompatible: { type: 'image_url' } } }];
  expect(() => checkContent(sent, limits)).toThrow(/content\[0\] has the unknown field "providerOptions"/);
  expect(checkContent(sent, limits, 'agent') as unknown).toEqual(sent);
});

test('Y-02 a media type is type/subtype', () => {
  const check = (part: object) => () => checkContent([{ type: 'file', data: 'aGVsbG8=', ...part }], limits);
  for (const mediaType of ['text/plain', 'image/svg+xml', 'text/plain; charset="utf-8"', 'image/*']) {
    expect(check({ mediaType })()).toMatchObject([{ mediaType }]);
  }
  for (const mediaType of [
    'text',
    'text/',
    'a b/c',
    'text/plain\r\nX: 1',
    'text/plain;\n',
    `text/${'p'.repeat(255)}`,
  ]) {
    expect(check({ mediaType })).toThrow('content[0].mediaType is not a media type');
  }
  expect(check({ data: 'data:,hello' })).not.toThrow();
  expect(check({ data: 'data:my words,hello' })).toThrow('content[0].data is a data URL with a wrong media type');
});
