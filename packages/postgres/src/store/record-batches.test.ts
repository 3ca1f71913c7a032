import { expect, test } from 'bun:test';
import { codeOf } from '../testing/code-of.ts';
import { RecordBatches } from './record-batches.ts';

test('records above the limit are refused while earlier ones are being written, and accepted after that', async () => {
  const gate = Promise.withResolvers<void>();
  const written: string[] = [];
  const batches = new RecordBatches<string>({
    async write(items) {
      await gate.promise;
      written.push(...items);
    },
    full: 1,
    most: 10,
  });
  const first = batches.add(['a'], 8);
  expect(await Promise.race([codeOf(batches.add(['b'], 3)), Bun.sleep(0)])).toBe('E_STORE_AWAY');
  const second = batches.add(['c'], 2);
  gate.resolve();
  await Promise.all([first, second]);
  await batches.add(['d'], 3);
  expect(written).toEqual(['a', 'c', 'd']);
});
