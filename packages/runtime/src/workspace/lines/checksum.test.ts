import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checksum, checksumByTable } from './checksum.ts';

test('Node counts the same checksums as Bun, from the start and continued', () => {
  const [bytes, before] = [fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 0xff_ff_ff_ff })];
  fc.assert(fc.property(bytes, before, (given, sum) => checksumByTable(given, sum) === checksum(given, sum)));
  expect(checksumByTable(new TextEncoder().encode('123456789'))).toBe(0xcb_f4_39_26);
});
