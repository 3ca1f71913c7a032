import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { checkCounters } from './check-counters.ts';

test('Y-04 a damaged file of counters is a warning, and so is one that cannot be read', async () => {
  expect(await checkCounters(async () => undefined)).toEqual([]);
  const damaged = await checkCounters(async () => 'counters.jsonl is damaged');
  expect(damaged).toMatchObject([{ name: 'budgets', status: 'warning', detail: 'counters.jsonl is damaged' }]);
  const refused = await checkCounters(() => Promise.reject(new GoondanError('E_STORE_READ', 'A pipe.')));
  expect(refused).toMatchObject([{ status: 'warning', detail: 'E_STORE_READ: A pipe.' }]);
});
