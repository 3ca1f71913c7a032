import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { checkFiles } from './check-files.ts';

test('Y-02 files that are missing or damaged are listed, with their conversations and what to do', async () => {
  const lost = Array.from({ length: 21 }, (_, index) => ({
    conversation: `painter~${index}`,
    digest: 'abc',
    problem: index === 0 ? ('damaged' as const) : ('missing' as const),
    place: 'gdn_blob abc',
  }));
  const { status, detail, suggestion } = await checkFiles({ findLost: async () => lost });
  const lines = detail.split('\n');
  expect([status, lines.length, lines[0], lines[1], lines.at(-1)]).toEqual([
    'warning',
    21,
    'gdn_blob abc is damaged: its bytes do not have the SHA-256 abc; the conversation painter~0 names it',
    'gdn_blob abc is missing; the conversation painter~1 names it',
    'and 1 more',
  ]);
  expect(suggestion).toStartWith('Send the same file again');
  expect(await checkFiles({ findLost: async () => [] })).toMatchObject({ name: 'files', status: 'ok' });
});

test('a store that cannot be read is a warning', async () => {
  const findLost = () => Promise.reject(new GoondanError('E_STORE_READ', 'No permission.'));
  expect(await checkFiles({ findLost })).toMatchObject({ status: 'warning', detail: 'E_STORE_READ: No permission.' });
});
