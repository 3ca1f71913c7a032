import { expect, test } from 'bun:test';
import { detectMediaType } from './detect-media-type.ts';

test('Y-02 an image has the type of its bytes, and a file of unknown type that of its name', () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  expect(detectMediaType(png, { mediaType: 'image/jpeg', filename: 'a.txt' })).toBe('image/png');
  expect(detectMediaType(new Uint8Array([0]), { mediaType: 'application/octet-stream', filename: 'a.M4A' })).toBe(
    'audio/mp4',
  );
});
